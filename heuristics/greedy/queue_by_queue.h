// The order in which leaf queues have their turn: the one that is furthest below its share next.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "heuristics/greedy/gang_sequence.h"
#include "heuristics/greedy/known_failures.h"
#include "heuristics/greedy/pass_admission.h"

namespace muster::greedy {

// Queues equally full: by their priority, then by index. Cost: O(queues) for each gang.
class QueueByQueue {
 public:
  // Of the entries, which stay in order within their queue, those that may find room. All must outlive it.
  QueueByQueue(const Problem& problem, const PassAdmission& admission, const KnownFailures& failures,
               std::span<GangEntry> entries);

  bool is_empty() const { return lines_.empty(); }
  // Chooses the queue that is next, and returns its first gang. Requires that it is not empty.
  GangEntry& next();
  // The gang that comes so many after next() in its queue; null: none does.
  const GangEntry* ahead(std::size_t distance) const;
  // The gang of next() has been tried, and counted if it was placed.
  void pop();

 private:
  struct Line {
    QueueIndex queue;
    double fullness = 0;
    std::vector<GangEntry*> waiting;  // the next one last
  };
  bool comes_before(const Line& a, const Line& b) const;

  const Problem& problem_;
  const PassAdmission& admission_;
  std::vector<Line> lines_;
  std::size_t chosen_ = 0;
};

}  // namespace muster::greedy
