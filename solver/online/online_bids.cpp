#include "solver/online/online_bids.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <tuple>

#include "model/base/tuning.h"
#include "solver/cbc/cbc.h"

namespace muster::online {

namespace {

// Classes that are equal in the program.
struct Group {
  policies::OnlineClass mean;  // of a CPU-only group: of one core
  double count = 0, weight = 0;
  std::vector<bool> fits;  // by type
};

struct Model {
  std::vector<Group> groups;
  std::vector<std::size_t> group_of;  // by class; none for what no type can host
  std::vector<std::int32_t> levels;   // distinct, ascending
};
constexpr std::size_t kNoGroup = ~std::size_t{0};

bool can_host(const policies::OnlineType& type, std::size_t t, const policies::OnlineClass& pod) {
  return pod.accepts_type(t) && pod.devices <= type.devices && pod.cpu <= type.cpu && pod.memory <= type.memory;
}

int magnitude_of(double cpu) {
  return static_cast<int>(std::floor(std::log(std::max(cpu, 1e-3)) / std::log(kTuning.online.step)));
}

Model grouped(const std::vector<policies::OnlineType>& types, const OnlineForecast& forecast) {
  Model model;
  std::map<std::tuple<std::int32_t, std::int32_t, std::uint64_t, int>, std::size_t> index;
  for (std::size_t j = 0; j < forecast.classes.size(); ++j) {
    const policies::OnlineClass& pod = forecast.classes[j];
    const double count = forecast.counts[j];
    std::vector<bool> fits(types.size());
    bool any = false;
    for (std::size_t t = 0; t < types.size(); ++t) any = (fits[t] = can_host(types[t], t, pod)) || any;
    model.group_of.push_back(kNoGroup);
    if (!any || count <= 0) continue;
    const bool has_devices = pod.devices > 0;
    const int magnitude = has_devices ? magnitude_of(pod.cpu) : 0;
    const auto key = std::tuple(pod.devices, pod.level, has_devices ? pod.accepts : 0, magnitude);
    const auto [at, is_new] = index.emplace(key, model.groups.size());
    if (is_new) {
      model.groups.push_back({pod, 0, 0, std::vector<bool>(types.size())});
      model.groups.back().mean.cpu = model.groups.back().mean.memory = 0;
    }
    model.group_of.back() = at->second;
    Group& group = model.groups[at->second];
    group.count += has_devices ? count : count * pod.cpu;
    group.mean.cpu += count * pod.cpu;
    group.mean.memory += count * pod.memory;
    for (std::size_t t = 0; t < types.size(); ++t) group.fits[t] = group.fits[t] || fits[t];
    if (has_devices) model.levels.push_back(pod.level);
  }
  for (Group& group : model.groups) {
    group.mean.cpu /= group.count;
    group.mean.memory /= group.count;
  }
  std::ranges::sort(model.levels);
  model.levels.erase(std::ranges::unique(model.levels).begin(), model.levels.end());
  return model;
}

// Row numbers of the program.
struct Rows {
  std::vector<std::int32_t> demand;                // by group
  std::vector<std::int32_t> cpu, memory;           // by type
  std::vector<std::vector<std::int32_t>> level;    // by type and position in Model::levels
  std::vector<std::vector<std::int32_t>> devices;  // by type and free level; -1: none
};

lp::Milp program(const std::vector<policies::OnlineType>& types, const OnlineForecast& forecast, const Model& model,
                 Rows& rows) {
  lp::Milp milp;
  double work = 0;  // of the pods seen
  for (const Group& group : model.groups) work += group.mean.devices > 0 ? group.count * group.mean.work() : 0;
  for (std::size_t i = 0; i < model.groups.size(); ++i) rows.demand.push_back(milp.add_row(0, lp::kInfinity));
  for (std::size_t t = 0; t < types.size(); ++t) {
    const OnlineSupply& supply = forecast.supply[t];
    rows.cpu.push_back(milp.add_row(-lp::kInfinity, supply.cpu));
    rows.memory.push_back(milp.add_row(-lp::kInfinity, supply.memory));
    auto& level = rows.level.emplace_back();
    for (std::size_t i = 0; i < model.levels.size(); ++i) level.push_back(milp.add_row(-lp::kInfinity, 0));
    auto& devices = rows.devices.emplace_back(policies::kDeviceLevels + 1, -1);
    for (std::size_t h = 1; h <= policies::kDeviceLevels; ++h) {
      if (supply.devices[h] > 0 && !model.levels.empty() && static_cast<std::int32_t>(h) >= model.levels.front())
        devices[h] = milp.add_row(-lp::kInfinity, supply.devices[h]);
    }
  }
  const auto segments = static_cast<int>(std::ceil(coming_demand(forecast.arrived) / kTuning.online.segment));
  for (std::size_t i = 0; i < model.groups.size(); ++i) {
    const Group& group = model.groups[i];
    const double reward = group.mean.devices > 0 ? group.mean.work() : kTuning.online.core_worth * group.mean.cpu;
    for (int s = 0; s < segments; ++s) {
      const double middle = forecast.arrived + (s + 0.5) * kTuning.online.segment;
      const double most = group.count / std::max(work, 1e-9) * kTuning.online.segment * forecast.devices;
      milp.add_column({reward * weight_of(middle), 0, most, false}, {{rows.demand[i], -1}});
    }
    const auto position =
        static_cast<std::size_t>(std::ranges::lower_bound(model.levels, group.mean.level) - model.levels.begin());
    for (std::size_t t = 0; t < types.size(); ++t) {
      if (!group.fits[t]) continue;
      std::vector<lp::Entry> entries{
          {rows.demand[i], 1}, {rows.cpu[t], group.mean.cpu}, {rows.memory[t], group.mean.memory}};
      if (group.mean.devices > 0) entries.push_back({rows.level[t][position], static_cast<double>(group.mean.devices)});
      milp.add_column({0, 0, lp::kInfinity, false}, entries);
    }
  }
  return milp;
}

// The best cutting of a device of each level at the prices of the sizes.
struct Cuts {
  std::array<double, policies::kDeviceLevels + 1> worth{};
  std::array<std::size_t, policies::kDeviceLevels + 1> taken{};  // position of a size + 1; 0: as one level less
};

Cuts best_cuts(const std::vector<std::int32_t>& sizes, const std::vector<std::int32_t>& rows,
               const std::vector<double>& price) {
  Cuts cuts;
  for (std::size_t level = 1; level <= policies::kDeviceLevels; ++level) {
    cuts.worth[level] = cuts.worth[level - 1];
    for (std::size_t i = 0; i < sizes.size() && static_cast<std::size_t>(sizes[i]) <= level; ++i) {
      const double worth =
          cuts.worth[level - static_cast<std::size_t>(sizes[i])] + price[static_cast<std::size_t>(rows[i])];
      if (worth <= cuts.worth[level] + 1e-12) continue;
      cuts.worth[level] = worth;
      cuts.taken[level] = i + 1;
    }
  }
  return cuts;
}

OnlinePattern pattern_of(const Cuts& cuts, const std::vector<std::int32_t>& sizes, std::size_t level) {
  std::map<std::int32_t, std::int32_t> copies;
  while (level > 0) {
    const std::size_t taken = cuts.taken[level];
    if (taken > 0) ++copies[sizes[taken - 1]];
    level -= taken > 0 ? static_cast<std::size_t>(sizes[taken - 1]) : 1;
  }
  return {copies.begin(), copies.end()};
}

void add_pattern(lp::Milp& milp, const Model& model, const Rows& rows, std::size_t type, std::size_t level,
                 const OnlinePattern& pattern) {
  std::vector<lp::Entry> entries{{rows.devices[type][level], 1}};
  for (const auto& [size, copies] : pattern) {
    const auto at = static_cast<std::size_t>(std::ranges::lower_bound(model.levels, size) - model.levels.begin());
    entries.push_back({rows.level[type][at], -static_cast<double>(copies)});
  }
  milp.add_column({0, 0, lp::kInfinity, false}, entries);
}

}  // namespace

OnlineBidder::OnlineBidder(std::vector<policies::OnlineType> types)
    : types_(std::move(types)), patterns_(types_.size()) {}

std::vector<double> OnlineBidder::bids(const OnlineForecast& forecast) {
  const Model model = grouped(types_, forecast);
  Rows rows;
  lp::Milp milp = program(types_, forecast, model, rows);
  for (std::size_t t = 0; t < types_.size(); ++t) {
    for (std::size_t level = 1; level <= policies::kDeviceLevels; ++level) {
      if (rows.devices[t][level] < 0) continue;
      std::vector<OnlinePattern>& known = patterns_[t][level];
      for (const std::int32_t size : model.levels) {
        const OnlinePattern pattern{{size, static_cast<std::int32_t>(level) / size}};
        if (pattern[0].second > 0 && std::ranges::find(known, pattern) == known.end()) known.push_back(pattern);
      }
      for (const OnlinePattern& pattern : known) add_pattern(milp, model, rows, t, level, pattern);
    }
  }
  cbc::GrowingLp lp(milp);
  cbc::MilpRequest request;
  request.deadline = std::chrono::steady_clock::time_point::max();
  request.relax = true;
  std::vector<double> price(static_cast<std::size_t>(milp.rows()), 0);
  for (;;) {  // until no pattern would be worth more than its device
    const cbc::MilpAnswer answer = lp.solve(request);
    if (answer.status != cbc::SolveStatus::kOptimal) break;
    price = answer.row_price;
    lp::Milp more;
    for (std::int32_t row = 0; row < milp.rows(); ++row) more.add_row(-lp::kInfinity, lp::kInfinity);
    for (std::size_t t = 0; t < types_.size(); ++t) {
      const Cuts cuts = best_cuts(model.levels, rows.level[t], price);
      for (std::size_t level = 1; level <= policies::kDeviceLevels; ++level) {
        const std::int32_t row = rows.devices[t][level];
        if (row < 0 || cuts.worth[level] <= price[static_cast<std::size_t>(row)] + kTuning.online.least_gain) continue;
        const OnlinePattern pattern = pattern_of(cuts, model.levels, level);
        if (std::ranges::find(patterns_[t][level], pattern) != patterns_[t][level].end()) continue;
        add_pattern(more, model, rows, t, level, pattern);
        patterns_[t][level].push_back(pattern);
      }
    }
    if (more.columns() == 0) break;
    lp.extend(more);
  }
  std::vector<double> result;
  for (std::size_t j = 0; j < forecast.classes.size(); ++j) {
    const std::size_t group = model.group_of[j];
    const double bid = group == kNoGroup ? 0 : std::max(0.0, -price[static_cast<std::size_t>(rows.demand[group])]);
    result.push_back(forecast.classes[j].devices == 0 ? bid * forecast.classes[j].cpu : bid);
  }
  return result;
}

}  // namespace muster::online
