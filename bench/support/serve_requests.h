// Requests to solve, for servers under load: snapshots that need the integer program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/support/http_client.h"
#include "datasets/generator/generator.h"
#include "datasets/generator/presets.h"

namespace muster::bench {

inline std::string load_snapshot(std::uint64_t seed) {
  generator::GeneratorOptions options = *generator::generator_preset("contended");
  options.cluster.nodes = 30;
  options.seed = seed;
  return generator::generate_snapshot(options);
}

inline std::vector<std::string> requests_of_snapshots() {
  constexpr std::uint64_t kDistinct = 8;
  std::vector<std::string> requests;
  for (std::uint64_t seed = 1; seed <= kDistinct; ++seed) requests.push_back(post("/v1/solve", load_snapshot(seed)));
  return requests;
}

// The same, with this many snapshots in each.
inline std::vector<std::string> requests_of_lines(int lines) {
  std::string body;
  for (int i = 0; i < lines; ++i) body += load_snapshot(static_cast<std::uint64_t>(i + 1)) + "\n";
  return {post("/v1/solve", body, "application/x-ndjson")};
}

}  // namespace muster::bench
