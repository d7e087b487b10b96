// Clusters that more than one benchmark uses, as snapshot lines. Equal arguments give equal bytes.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "datasets/generator/generator.h"
#include "datasets/generator/presets.h"
#include "datasets/traces/openb.h"

namespace muster::bench {

inline constexpr int kOpenbNodes = 1'213;

// Generated clusters of equal nodes, as `muster generate --preset synth --place-only` makes them.
inline generator::GeneratorOptions synth(int nodes, std::uint64_t seed) {
  generator::GeneratorOptions options = *generator::generator_preset("synth");
  options.cluster.nodes = nodes;
  options.seed = seed;
  options.place_only = true;
  return options;
}

// The trace `default` of OpenB; see the options.
inline std::string openb(const traces::OpenbOptions& options) {
  const Result<traces::OpenbInput> input =
      traces::load_openb(traces::openb_trace_files(traces::openb_source_directory(), "default"));
  if (!input) throw std::runtime_error(input.error().message);
  return traces::openb_snapshot(*input, options);
}

// OpenB, with this multiple of its nodes, half of the GPUs under running pods.
inline std::string openb_half(int tile, std::uint64_t seed) {
  traces::OpenbOptions options;
  options.seed = seed;
  options.tile = tile;
  options.occupied = 0.5;
  options.load = 1.5;
  return openb(options);
}

}  // namespace muster::bench
