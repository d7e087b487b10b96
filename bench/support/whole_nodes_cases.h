// Clusters in which small jobs break whole nodes, and the plain scheduler that they are compared with.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace muster::bench {

// One node of 8 GPUs, and a job of one pod.
struct WholeNodeCluster {
  std::vector<int> in_use;  // by node: GPUs
  std::vector<int> jobs;    // GPUs of each, in the order of their coming
  std::string line;         // as a snapshot

  static constexpr int kGpus = 8;

  // 60 nodes; 30 to 50 pods of 1 to 4 GPUs wait. One node in three is partly in use.
  explicit WholeNodeCluster(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](int count) { return static_cast<int>(random() % static_cast<std::uint64_t>(count)); };
    constexpr int kNodes = 60;
    std::string nodes, pods;
    for (int n = 0; n < kNodes; ++n) {
      const std::string name = "n" + std::to_string(n);
      nodes += std::string(n == 0 ? "" : ",") + R"({"name":")" + name +
               R"(","resources":{"cpu":"96","memory":"1Ti"},"gpus":{"count":8}})";
      const int used = below(3) == 0 ? 1 + below(kGpus - 1) : 0;
      in_use.push_back(used);
      if (used == 0) continue;
      pods += std::string(pods.empty() ? "" : ",") + R"({"name":"r)" + std::to_string(n) +
              R"(","resources":{"cpu":"4","memory":"16Gi"},"gpu":{"count":)" + std::to_string(used) + R"(},"node":")" +
              name + "\"}";
    }
    const int count = 30 + below(21);
    for (int p = 0; p < count; ++p) {
      jobs.push_back(1 + below(4));
      const std::string gpus = std::to_string(jobs.back());
      pods += std::string(pods.empty() ? "" : ",") + R"({"name":"p)" + std::to_string(p) + R"(","resources":{"cpu":")" +
              std::to_string(8 * jobs.back()) + R"(","memory":"64Gi"},"gpu":{"count":)" + gpus + "}}";
    }
    line = R"({"format":"muster/v1","id":"whole-nodes-)" + std::to_string(seed) +
           R"(","policy":{"wholeNodes":true},"nodes":[)" + nodes + R"(],"pods":[)" + pods + "]}";
  }

  // Whole nodes that are left if each job is placed on the fullest node that it fits on, one after another.
  int whole_after_best_fit() const {
    std::vector<int> used = in_use;
    for (const int job : jobs) {
      std::size_t best = used.size();
      for (std::size_t n = 0; n < used.size(); ++n) {
        if (used[n] + job <= kGpus && (best == used.size() || used[n] > used[best])) best = n;
      }
      if (best < used.size()) used[best] += job;
    }
    int whole = 0;
    for (const int gpus : used) whole += gpus == 0 ? 1 : 0;
    return whole;
  }
};

}  // namespace muster::bench
