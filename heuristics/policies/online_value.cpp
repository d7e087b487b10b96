#include "heuristics/policies/online_value.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace muster::policies {

namespace {

using Row = OnlineValue::Row;

constexpr double kTolerance = 1e-9;

// The larger part of an empty node that one pod of the class takes.
double share_of(const OnlineClass& pod, const OnlineType& type) {
  return std::max(pod.cpu / type.cpu, pod.memory / type.memory);
}

// 0, and prices around the usual one, each by the same factor above the one before.
std::vector<float> price_steps(std::size_t size, double usual, double factor) {
  std::vector<float> steps(size, 0);
  for (std::size_t i = 1; i < size; ++i)
    steps[i] = static_cast<float>(usual * std::pow(factor, static_cast<double>(i) - static_cast<double>(size) / 2));
  return steps;
}

void raise_to(Row row, Row& best) {
  for (std::size_t g = 0; g < kPricePoints; ++g) best[g] = best[g] < row[g] ? row[g] : best[g];
}

}  // namespace

// The usual price is what all pods bid together, for all that they ask for together.
void OnlineValue::set_prices(const std::vector<double>& counts) {
  double worth = 0, cpu_asked = 0, memory_asked = 0;
  for (std::size_t j = 0; j < classes_.size(); ++j) {
    worth += counts[j] * bids_[j];
    cpu_asked += counts[j] * classes_[j].cpu;
    memory_asked += counts[j] * classes_[j].memory;
  }
  const auto usual = [&](double asked) { return asked > 0 ? worth / asked : 0; };
  const double step = kTuning.online.step;
  const std::vector<float> cpu = price_steps(kTuning.online.cpu_prices, usual(cpu_asked), step),
                           memory = price_steps(kTuning.online.memory_prices, usual(memory_asked), step * step);
  for (std::size_t g = 0; g < kPricePoints; ++g) {
    cpu_prices_[g] = cpu[g % cpu.size()];
    memory_prices_[g] = memory[g / cpu.size()];
  }
}

// bid - price of cpu and memory, at each point of the grid.
void OnlineValue::raise_to_net(const OnlineClass& pod, double bid, Row& best) const {
  const auto worth = static_cast<float>(bid), cpu = static_cast<float>(pod.cpu),
             memory = static_cast<float>(pod.memory);
  Row net;
  for (std::size_t g = 0; g < kPricePoints; ++g) net[g] = worth - cpu_prices_[g] * cpu - memory_prices_[g] * memory;
  raise_to(net, best);
}

OnlineValue::OnlineValue(const std::vector<OnlineType>& types, const std::vector<OnlineClass>& classes,
                         const std::vector<double>& bids, const std::vector<double>& counts)
    : types_(types), thresholds_(types.size()), table_of_(types.size()) {
  std::vector<double> weights;  // of classes_
  for (std::size_t j = 0; j < classes.size(); ++j) {
    if (classes[j].devices == 0 || bids[j] <= 0) continue;
    classes_.push_back(classes[j]);
    bids_.push_back(bids[j]);
    weights.push_back(counts[j]);
  }
  set_prices(weights);
  for (std::size_t t = 0; t < types.size(); ++t) {
    most_devices_ = std::max(most_devices_, static_cast<std::size_t>(types[t].devices));
    std::map<double, double> weight;  // by share
    for (std::size_t j = 0; j < classes_.size(); ++j) {
      const double share = share_of(classes_[j], types[t]);
      if (classes_[j].devices <= types[t].devices && classes_[j].accepts_type(t) && share <= 1)
        weight[share] += weights[j];
    }
    std::vector<std::pair<double, double>> by_weight;
    for (const auto& [share, w] : weight) by_weight.emplace_back(-w, share);
    std::ranges::sort(by_weight);
    if (by_weight.size() > kTuning.online.buckets) by_weight.resize(kTuning.online.buckets);
    for (const auto& [w, share] : by_weight) thresholds_[t].push_back(share);
    std::ranges::sort(thresholds_[t]);
    table_of_[t].resize(thresholds_[t].size() + 1);
  }
}

std::size_t OnlineValue::bucket(std::size_t type, double cpu, double memory) const {
  const double left = std::min(cpu / types_[type].cpu, memory / types_[type].memory) + kTolerance;
  const std::vector<double>& thresholds = thresholds_[type];
  return static_cast<std::size_t>(std::ranges::upper_bound(thresholds, left) - thresholds.begin());
}

OnlineValue::Fitting OnlineValue::fitting(std::size_t type, std::size_t bucket) const {
  const std::vector<double>& thresholds = thresholds_[type];
  const double most = bucket == thresholds.size() ? 1 : bucket == 0 ? -1 : thresholds[bucket - 1];
  Fitting result;
  for (const OnlineClass& pod : classes_)
    result.push_back(pod.accepts_type(type) && share_of(pod, types_[type]) <= most + kTolerance);
  return result;
}

OnlineValue::Table OnlineValue::built(const Fitting& fits) const {
  Table table{};
  std::array<Row, kDeviceLevels + 1> by_level{};
  std::array<bool, kDeviceLevels + 1> is_asked{}, is_step{};  // a step: worth more than a level less
  std::vector<Row> by_devices(most_devices_ + 1);
  for (std::size_t j = 0; j < classes_.size(); ++j) {
    const OnlineClass& pod = classes_[j];
    if (!fits[j]) continue;
    if (pod.devices == 1) {
      is_asked[static_cast<std::size_t>(pod.level)] = true;
      raise_to_net(pod, bids_[j], by_level[static_cast<std::size_t>(pod.level)]);
    } else if (static_cast<std::size_t>(pod.devices) <= most_devices_) {
      raise_to_net(pod, bids_[j], by_devices[static_cast<std::size_t>(pod.devices)]);
    }
  }
  std::vector<std::size_t> sizes;
  is_step[0] = true;
  for (std::size_t level = 1; level <= kDeviceLevels; ++level) {
    table.cut[level] = table.cut[level - 1];
    for (const std::size_t size : sizes) {
      if (is_step[level - size]) raise_to(sum_of(table.cut[level - size], by_level[size]), table.cut[level]);
    }
    if (is_asked[level]) {
      const Row before = table.cut[level];
      raise_to(sum_of(table.cut[0], by_level[level]), table.cut[level]);
      if (table.cut[level] != before) sizes.push_back(level);  // else smaller ones are worth as much
    }
    is_step[level] = table.cut[level] != table.cut[level - 1];
  }
  table.whole.resize(by_devices.size());
  for (std::size_t f = 1; f < by_devices.size(); ++f) {
    raise_to(sum_of(table.whole[f - 1], table.cut[kDeviceLevels]), table.whole[f]);
    for (std::size_t n = 2; n <= f; ++n) raise_to(sum_of(table.whole[f - n], by_devices[n]), table.whole[f]);
  }
  return table;
}

const OnlineValue::Table& OnlineValue::table(std::size_t type, std::size_t bucket) {
  const Table*& known = table_of_[type][bucket];
  if (known == nullptr) {
    Fitting fits = fitting(type, bucket);
    const auto found = tables_.find(fits);
    if (found != tables_.end()) {
      known = &found->second;
    } else {
      Table table = built(fits);
      known = &tables_.emplace(std::move(fits), std::move(table)).first->second;
    }
  }
  return *known;
}

Row OnlineValue::terms(const OnlineCapacity& room, const Table& table) const {
  const auto cpu = static_cast<float>(room.cpu), memory = static_cast<float>(room.memory);
  std::size_t whole = 0;
  Row sum;
  for (std::size_t g = 0; g < kPricePoints; ++g) sum[g] = cpu_prices_[g] * cpu + memory_prices_[g] * memory;
  for (const std::uint8_t level : room.levels) {
    if (level == kDeviceLevels) {
      ++whole;
    } else if (level > 0) {
      sum = sum_of(sum, table.cut[level]);
    }
  }
  return whole > 0 ? sum_of(sum, table.whole[whole]) : sum;
}

OnlineValue::Valued OnlineValue::value(const OnlineCapacity& room) {
  const Row sum = terms(room, table(room.type, bucket(room.type, room.cpu, room.memory)));
  const auto least = std::ranges::find(sum, least_of(sum));
  return {*least, static_cast<std::size_t>(least - sum.begin())};
}

}  // namespace muster::policies
