// How many pods in each domain own a term of required pod anti-affinity, or match it.
#pragma once

#include <cstdint>
#include <vector>

#include "model/problem/problem.h"

namespace muster {

// Keeps a cell for each pair of a term and a domain in which a pod has been counted, so that thousands of terms cost
// what their pods cost and not terms x domains. Copied as one block.
class AntiAffinityCounts {
 public:
  std::int32_t owners(AntiAffinityIndex term, DomainIndex domain) const { return cell(term, domain).owners; }
  std::int32_t matched(AntiAffinityIndex term, DomainIndex domain) const { return cell(term, domain).matched; }

  // A pod of the class comes to the node (`by` 1) or leaves it (-1). Cost: O(terms that it owns or matches).
  void count(const Problem& problem, const PodClass& pod_class, NodeIndex node, std::int32_t by);

 private:
  struct Cell {
    std::uint64_t key = kNone;  // term and domain
    std::int32_t owners = 0, matched = 0;
  };
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  // An open hash table with linear probing (Knuth, The Art of Computer Programming 3, 6.4, algorithm L).
  std::size_t slot(std::uint64_t key) const;  // where the key is or would be; requires an empty slot
  Cell cell(AntiAffinityIndex term, DomainIndex domain) const;
  Cell& made_cell(std::uint64_t key);
  void grow();

  std::vector<Cell> cells_;  // 0 or a power of two
  std::size_t used_ = 0;     // at most half of them
};

}  // namespace muster
