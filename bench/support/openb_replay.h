// One order of arrival of OpenB, placed pod by pod: the replay, its independent check, and its curve.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "datasets/generator/random.h"
#include "datasets/traces/openb.h"
#include "solver/online/online_placer.h"

namespace muster::bench {

inline constexpr std::int32_t kLastPercent = 130;

// The order of another experiment as the published one makes its own: the list shuffled, then further rows drawn from
// it until they ask for 130 % of the GPUs; a list that asks for more is cut there.
inline std::vector<std::uint32_t> sampled_order(const traces::OpenbInput& input, std::uint64_t seed) {
  generator::Random random(seed);
  traces::OpenbInput sampled{input.nodes, input.pods, {}};
  for (std::uint32_t row = 0; row < input.pods.size(); ++row) sampled.order.push_back(row);
  for (std::size_t i = sampled.order.size(); i > 1; --i)
    std::swap(sampled.order[i - 1], sampled.order[random.below(i)]);
  while (!traces::openb_arrival(sampled, kLastPercent).reached)
    for (int i = 0; i < 500; ++i) sampled.order.push_back(static_cast<std::uint32_t>(random.below(input.pods.size())));
  sampled.order.resize(traces::openb_arrival(sampled, kLastPercent).events - 1);
  return sampled.order;
}

// The place of each pod of the order; none: dropped.
using Replay = std::vector<std::optional<online::OnlinePlace>>;

// Thousandths of each device that a pod of the shape asks for.
inline std::int32_t share_of(const generator::PodShape& shape) {
  if (shape.gpu.kind == GpuRequestKind::kNone) return 0;
  return shape.gpu.kind == GpuRequestKind::kFraction ? static_cast<std::int32_t>(shape.gpu.share / 1000) : 1000;
}
inline std::int64_t work_of(const generator::PodShape& shape) {
  return std::int64_t{shape.gpu.devices} * share_of(shape);
}

// The rules of the published experiment, checked by separate code: throws if one is broken. Cpu, memory, model and
// every device hold; no pod moves; a dropped pod would have fitted nowhere: not on its arrival or, for `batch` pods
// that are known together, not after all of them are placed.
inline void check_replay(const traces::OpenbInput& input, const Replay& replay, std::size_t batch = 1) {
  struct Free {
    std::int64_t cpu, memory;
    std::vector<std::int32_t> devices;
  };
  std::vector<Free> free;
  for (const generator::InstanceNode& node : input.nodes)
    free.push_back(
        {node.cpu_milli, node.memory_mib, std::vector<std::int32_t>(static_cast<std::size_t>(node.gpu_count), 1000)});
  const auto accepts = [&](const generator::PodShape& shape, std::size_t node) {
    if (shape.gpu.devices == 0 || shape.gpu_models.empty()) return true;
    for (const std::string& model : shape.gpu_models)
      if (model == input.nodes[node].gpu_model) return true;
    return false;
  };
  const auto fits = [&](const generator::PodShape& shape, std::size_t node) {
    std::int32_t found = 0;
    for (const std::int32_t level : free[node].devices) found += level >= share_of(shape) ? 1 : 0;
    return accepts(shape, node) && shape.cpu_milli <= free[node].cpu && shape.memory_mib <= free[node].memory &&
           found >= shape.gpu.devices;
  };
  const auto take = [&](std::size_t i) {
    const generator::PodShape& shape = input.pods[input.order[i]].shape;
    const std::size_t node = replay[i]->node;
    free[node].cpu -= shape.cpu_milli;
    free[node].memory -= shape.memory_mib;
    bool holds = accepts(shape, node) && free[node].cpu >= 0 && free[node].memory >= 0 &&
                 replay[i]->devices.size() == static_cast<std::size_t>(shape.gpu.devices);
    for (const std::int32_t device : replay[i]->devices) {
      std::int32_t& level = free[node].devices.at(static_cast<std::size_t>(device));
      level -= share_of(shape);
      holds = holds && level >= 0;
    }
    if (!holds) throw std::runtime_error(fmt::format("pod {} does not fit node {}", i, node));
  };
  for (std::size_t first = 0; first < replay.size(); first += batch) {
    const std::size_t end = std::min(first + batch, replay.size());
    for (std::size_t i = first; i < end; ++i)
      if (replay[i]) take(i);
    for (std::size_t i = first; i < end; ++i) {
      for (std::size_t node = 0; !replay[i] && node < free.size(); ++node)
        if (fits(input.pods[input.order[i]].shape, node))
          throw std::runtime_error(fmt::format("pod {} was dropped, and fits node {}", i, node));
    }
  }
}

// What is unallocated, in percent of the GPUs, by arrived percent: the mean over the pods whose arrival is rounded to
// it; and the number of pods of eight GPUs that were dropped until all GPUs had been asked for once.
struct Outcome {
  std::array<double, kLastPercent + 1> unallocated{};
  std::int32_t lost_eights = 0;
};
inline Outcome outcome_of(const traces::OpenbInput& input, const Replay& replay) {
  Outcome outcome;
  std::array<int, kLastPercent + 1> events{};
  std::int64_t arrived = 0, placed = 0;
  const auto cluster = static_cast<double>(traces::openb_cluster_thousandths(input));
  for (std::size_t i = 0; i < replay.size(); ++i) {
    const generator::PodShape& shape = input.pods[input.order[i]].shape;
    arrived += work_of(shape);
    if (replay[i]) placed += work_of(shape);
    const double percent = 100 * static_cast<double>(arrived) / cluster;
    if (!replay[i] && shape.gpu.devices == 8 && percent <= 100) ++outcome.lost_eights;
    const auto bucket = static_cast<std::size_t>(std::lround(percent));
    if (bucket > kLastPercent) continue;
    outcome.unallocated[bucket] += 100 - 100 * static_cast<double>(placed) / cluster;
    ++events[bucket];
  }
  for (std::size_t i = 0; i <= kLastPercent; ++i) outcome.unallocated[i] /= std::max(1, events[i]);
  return outcome;
}

// The input as the online placer takes it.
struct OnlineInput {
  std::vector<policies::OnlineType> types;
  std::vector<std::size_t> type_of_node;
  std::vector<policies::OnlineClass> pods;  // in order of arrival
};
inline OnlineInput online_input(const traces::OpenbInput& input) {
  OnlineInput result;
  std::vector<std::string> models;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int32_t, std::string>, std::size_t> index;
  for (const generator::InstanceNode& node : input.nodes) {
    const auto [at, is_new] =
        index.emplace(std::tuple(node.cpu_milli, node.memory_mib, node.gpu_count, node.gpu_model), models.size());
    if (is_new) {
      result.types.push_back(
          {static_cast<double>(node.cpu_milli) / 1000, static_cast<double>(node.memory_mib) / 1024, node.gpu_count});
      models.push_back(node.gpu_model);
    }
    result.type_of_node.push_back(at->second);
  }
  for (const std::uint32_t row : input.order) {
    const generator::PodShape& shape = input.pods[row].shape;
    policies::OnlineClass& pod = result.pods.emplace_back();
    pod.cpu = static_cast<double>(shape.cpu_milli) / 1000;
    pod.memory = static_cast<double>(shape.memory_mib) / 1024;
    pod.devices = shape.gpu.devices;
    pod.level = (share_of(shape) + 9) / 10;
    for (std::size_t t = 0; t < models.size(); ++t) {
      bool accepts = shape.gpu.devices == 0 || shape.gpu_models.empty();
      for (const std::string& model : shape.gpu_models) accepts = accepts || model == models[t];
      pod.accepts |= accepts ? std::uint64_t{1} << t : 0;
    }
  }
  return result;
}

}  // namespace muster::bench
