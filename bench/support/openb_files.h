// The files of an OpenB trace, in a directory as carried or as published.
#pragma once

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

#include "datasets/traces/openb.h"

namespace muster::bench {

// The first of two names that exists, compressed or not; none: neither does.
inline std::optional<std::string> found_in(const std::string& directory, const std::string& name,
                                           const std::string& other) {
  for (const std::string& file : {name, other}) {
    const std::string path = (std::filesystem::path(directory) / file).string();
    if (std::filesystem::exists(path) || std::filesystem::exists(path + ".xz")) return path;
  }
  return std::nullopt;
}

// `order` is empty if there is none of that seed. Throws if there is no such trace.
inline traces::OpenbFiles openb_files_in(const std::string& directory, const std::string& trace,
                                         const std::string& seed) {
  const auto nodes = found_in(directory, "nodes.csv", "openb_node_list_gpu_node.csv");
  const auto pods = found_in(directory, "pods_" + trace + ".csv", "openb_pod_list_" + trace + ".csv");
  if (!nodes || !pods) throw std::runtime_error("no nodes, or no pods of " + trace + ", in " + directory);
  const std::string name = trace + "_" + seed + ".idx";
  auto order = found_in(directory, "arrivals_" + name, "arrivals/" + name);
  if (!order && trace.starts_with("gpuspec")) order = found_in(directory, "arrivals_default_" + seed + ".idx", name);
  return {*nodes, *pods, order.value_or("")};
}

}  // namespace muster::bench
