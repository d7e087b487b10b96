// The clusters of bench_scale: fixed shapes that are large in different ways.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/support/instances.h"
#include "datasets/generator/generator.h"
#include "datasets/generator/instance.h"

namespace muster::bench {

inline generator::PodShape gpu_shape(std::int32_t devices) {
  generator::PodShape shape;
  shape.cpu_milli = 8'000 * devices;
  shape.memory_mib = 32'768 * devices;
  shape.gpu = {GpuRequestKind::kWhole, devices, 0};
  return shape;
}

inline generator::Instance cluster(int nodes) {
  generator::Instance instance;
  instance.id = "scale";
  instance.time = 1'767'225'600;
  for (int i = 0; i < nodes; ++i) {
    generator::InstanceNode node;
    node.name = fmt::format("node-{}", i);
    node.cpu_milli = 96'000;
    node.memory_mib = 786'432;
    node.gpu_count = 8;
    instance.nodes.push_back(node);
  }
  return instance;
}

inline void add_gang(generator::Instance& instance, const std::string& name, std::int32_t shape, int pods) {
  const auto gang = static_cast<std::int32_t>(instance.gangs.size());
  instance.gangs.push_back(
      {.name = name, .terms = {}, .min_member = -1, .subgroups = {}, .required_level = {}, .preferred_level = {}});
  for (int i = 0; i < pods; ++i) {
    generator::InstancePod pod;
    pod.name = fmt::format("{}-{}", name, i);
    pod.shape = shape;
    pod.gang = gang;
    instance.pods.push_back(pod);
  }
}

// 3,000 gangs of 3, of 1, 2 and 4 GPUs a pod in turn, on 5,000 idle nodes.
inline std::string gangs_of_three(std::uint64_t) {
  generator::Instance instance = cluster(5'000);
  for (const int devices : {1, 2, 4}) instance.shapes.push_back(gpu_shape(devices));
  for (int i = 0; i < 3'000; ++i) add_gang(instance, fmt::format("team/job-{}", i), i % 3, 3);
  return generator::write_instance(instance);
}

// 35 running pods on each of 4,000 nodes, and one gang that waits. Long names, as clusters have them.
inline std::string mostly_running(std::uint64_t) {
  constexpr int kNodes = 4'000, kPodsOfNode = 35;
  generator::Instance instance = cluster(kNodes);
  generator::PodShape share;
  share.cpu_milli = 500;
  share.memory_mib = 2'048;
  share.gpu = {GpuRequestKind::kFraction, 1, 200'000};
  instance.shapes = {share, gpu_shape(1)};
  const std::string padding(150, 'x');
  for (int i = 0; i < kNodes * kPodsOfNode; ++i) {
    generator::InstancePod pod;
    pod.name = fmt::format("team-{}/service-{}-{}", i % 50, padding, i);
    pod.shape = 0;
    pod.status = PodStatus::kRunning;
    pod.node = i / kPodsOfNode;
    pod.devices = {i % kPodsOfNode % 8};
    pod.started = instance.time - 3'600 - i % 86'400;
    instance.pods.push_back(pod);
  }
  add_gang(instance, "team/next", 1, 6);
  return generator::write_instance(instance);
}

// 10,000 gangs that do not fit on 1,000 nodes: all of them get a reason.
inline std::string left_over(std::uint64_t seed) {
  generator::GeneratorOptions options = synth(1'000, seed);
  options.running.occupied = 0.97;
  options.load = 400;
  return generator::generate_snapshot(options);
}

inline std::string waiting(std::uint64_t seed) {
  generator::GeneratorOptions options = synth(10'000, seed);
  options.load = 2.1;
  return generator::generate_snapshot(options);
}

inline std::string million(std::uint64_t seed) {
  generator::GeneratorOptions options = synth(100'000, seed);
  options.running.occupied = 0.5;
  options.pods.fractions = 0.85;
  options.load = 0.9;
  return generator::generate_snapshot(options);
}

struct ScaleCase {
  std::string name, what;
  std::function<std::string(std::uint64_t)> line;  // of a seed
  std::string least_budget = {};  // if the arguments' would be too short for a complete plan; empty: they decide
};

inline std::vector<ScaleCase> scale_cases() {
  return {{"gangs", "5,000 nodes, 3,000 gangs of 3 wait", gangs_of_three},
          {"synth", "10,000 nodes, load 1.2",
           [](std::uint64_t seed) { return generator::generate_snapshot(synth(10'000, seed)); }},
          {"waiting", "10,000 nodes, 100,000 pods wait in gangs of 1-64", waiting},
          {"running", "4,000 nodes, 140,000 pods run, one gang of 6 waits", mostly_running},
          {"openb", "OpenB x 8, half occupied", [](std::uint64_t seed) { return openb_half(8, seed); }},
          {"reasons", "1,000 nodes, gangs left over", left_over},
          {"million", "100,000 nodes, 1,000,000 pods, half of them run", million, "10s"}};
}

}  // namespace muster::bench
