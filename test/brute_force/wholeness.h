// The levels `wholeNodes` to `cpuOnGpuNodes`, node by node, in the brute force's own way.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/problem/problem.h"
#include "test/brute_force/instances/pod_kinds.h"
#include "test/brute_force/node_contents.h"

namespace muster::brute_force {

// In the order of the levels.
using WholenessSums = std::array<std::int64_t, 6>;

class Wholeness {
 public:
  // Both must outlive it.
  Wholeness(const Problem& problem, const std::vector<PodKind>& kinds);

  // What a state has to remember in addition to its counts: a flag for each domain that is broken, and for each domain
  // and model that a gang is in. By flag: the last node that may set it or ask for it.
  const std::vector<std::uint32_t>& last_nodes() const { return last_nodes_; }
  // Flags, from `flags` on, as what runs sets them.
  void start(std::int64_t* flags) const;
  // What the node adds with this content; sets flags.
  WholenessSums add(const NodeContent& content, NodeIndex node, std::int64_t* flags) const;
  // What is to be added to the sum over all nodes for these numbers of placed pods of each kind.
  WholenessSums rest(Counts counts) const;

 private:
  struct GangFlags {
    GangIndex gang;
    std::size_t first_domain = 0, first_model = 0;
    std::vector<std::uint8_t> runs_on;                // by node
    std::int64_t nodes = 0, domains = 0, models = 0;  // on which it runs
  };
  void count_nodes();
  void add_gang(GangIndex gang);
  bool is_broken_before(NodeIndex node) const { return broken_before_[node.value()] != 0; }
  static bool set(std::int64_t& flag) { return std::exchange(flag, 1) == 0; }

  const Problem& problem_;
  const std::vector<PodKind>& kinds_;
  std::vector<std::uint8_t> counts_, has_gpus_, broken_before_;  // by node
  std::vector<std::uint8_t> may_avoid_;                          // by kind
  std::vector<GangFlags> gangs_;
  std::vector<std::int64_t> gang_of_kind_;  // position in gangs_, -1: of one pod
  std::size_t models_ = 0;
  std::int64_t domains_to_break_ = 0;
  std::vector<std::uint32_t> last_nodes_;
};

}  // namespace muster::brute_force
