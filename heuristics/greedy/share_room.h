// The room left within shares (or quotas) while a plan is built, as levels `share` and `quota` count it.
#pragma once

#include <array>

#include "model/objective/fair_share.h"
#include "model/problem/problem.h"

namespace muster::greedy {

using WorkPair = std::array<Work, 2>;  // work of pods with GPUs, and of pods without; no gang weight

// Work of one pod, on its side of the pair.
WorkPair work_pair(const PodClass& pod_class);

class ShareRoom {
 public:
  // `caps`: F(q) or Q(q) by queue.
  ShareRoom(const Problem& problem, const Indexed<QueueIndex, WorkPair>& caps);

  // Whether the unit lies within the leaf's cap as a whole, and raises what every queue above it counts.
  bool fits(QueueIndex leaf, const WorkPair& unit) const;
  // Whether some of the unit lies within the caps of the leaf and of every queue above it.
  bool gains(QueueIndex leaf, const WorkPair& unit) const;
  void clear() { used_.assign(used_.size(), WorkPair{}); }
  void add(QueueIndex leaf, const WorkPair& unit);
  // Adds the sum of several units if it lies within the caps of the leaf and of every queue above it: then each of them
  // fits, in any order. False: nothing has changed.
  bool add_whole(QueueIndex leaf, const WorkPair& sum);
  // How full the leaf is: used / cap of the fuller side; for the order among queues only.
  double fullness(QueueIndex leaf) const;

 private:
  const Problem& problem_;
  const Indexed<QueueIndex, WorkPair>& caps_;
  Indexed<QueueIndex, WorkPair> used_;
};

}  // namespace muster::greedy
