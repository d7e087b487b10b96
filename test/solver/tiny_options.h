// Options of the generator for tiny clusters, different in every option from seed to seed.
#pragma once

#include <cstdint>
#include <random>

#include "datasets/generator/generator.h"
#include "test/solver/random_milp.h"

namespace muster::test {

inline generator::GeneratorOptions tiny_options(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto sometimes = [&](double share) { return pick(random, 0, 1) == 0 ? 0.0 : share; };
  generator::GeneratorOptions options;
  options.seed = seed;
  options.cluster.nodes = pick(random, 2, 3);
  options.cluster.gpus_per_node = pick(random, 1, 3);
  options.cluster.cores_per_node = pick(random, 8, 32);
  options.cluster.memory_gib_per_node = pick(random, 32, 128);
  if (pick(random, 0, 1) == 0) {
    options.cluster.gpu_memory_gib = 40;
    options.pods.memory_requests = 0.2;
  }
  options.cluster.zones = 2;
  options.cluster.racks_per_zone = 1;
  options.cluster.tainted = sometimes(0.2);
  options.cluster.selecting = sometimes(0.2);
  options.queues.count = pick(random, 1, 5);
  options.queues.quota = pick(random, 2, 6) / 4.0;
  options.queues.limit = sometimes(2);
  options.priorities = pick(random, 1, 3);
  options.pods.fractions = sometimes(0.4);
  options.pods.cpu_only = sometimes(0.2);
  options.gangs.largest = pick(random, 1, 4);
  options.gangs.elastic = sometimes(0.5);
  options.gangs.subgroups = sometimes(0.5);
  options.gangs.topology_required = sometimes(0.3);
  options.gangs.topology_preferred = sometimes(0.3);
  options.gangs.one_a_node = sometimes(0.2);
  options.running.occupied = sometimes(0.4);
  options.running.releasing = sometimes(0.2);
  return options;
}

}  // namespace muster::test
