// When nodes fail and come back: for each node alternating spans, exponentially distributed, from a seed.
#pragma once

#include <cstdint>

#include "datasets/generator/random.h"
#include "model/snapshot/snapshot.h"

namespace muster::simulation {

// A span drawn from the exponential distribution of that mean, at least 1 ns. In integers alone, so that it is the same
// on every platform: von Neumann's method, which only compares uniform numbers (von Neumann, "Various techniques used
// in connection with random digits", 1951). Requires 0 < mean <= 2^57 ns (4.5 years). Cost: about 6 draws.
Nanoseconds exponential_span(generator::Random& random, Nanoseconds mean);

struct NodeFailureOptions {
  Nanoseconds mean_between = 0;  // time from the beginning, or a repair, to a failure; 0: no node ever fails
  Nanoseconds mean_to_repair = 0;
  std::uint64_t seed = 1;
};

// The spans of one node: up, down, up, ... Each node has its own stream, so that other nodes do not shift it.
class NodeFailures {
 public:
  NodeFailures(const NodeFailureOptions& options, std::size_t node)
      : options_(options), random_(options.seed, kFirstStream + node) {}

  Nanoseconds until_failure() { return exponential_span(random_, options_.mean_between); }
  Nanoseconds until_repair() { return exponential_span(random_, options_.mean_to_repair); }

 private:
  static constexpr std::uint64_t kFirstStream = 1'000'000;  // beyond those of other uses of a seed
  NodeFailureOptions options_;
  generator::Random random_;
};

}  // namespace muster::simulation
