#include "heuristics/greedy/share_room.h"

#include <algorithm>

namespace muster::greedy {

WorkPair work_pair(const PodClass& pod_class) {
  return pod_class.counts_as_gpu ? WorkPair{pod_class.work, 0} : WorkPair{0, pod_class.work};
}

ShareRoom::ShareRoom(const Problem& problem, const Indexed<QueueIndex, WorkPair>& caps)
    : problem_(problem), caps_(caps), used_(problem.queues.size(), WorkPair{}) {}

bool ShareRoom::fits(QueueIndex leaf, const WorkPair& unit) const {
  for (std::size_t side = 0; side < 2; ++side) {
    if (unit[side] > 0 && used_[leaf][side] + unit[side] > caps_[leaf][side]) return false;
  }
  return gains(leaf, unit);
}

bool ShareRoom::gains(QueueIndex leaf, const WorkPair& unit) const {
  const auto& path = problem_.queues[leaf].ancestors;
  for (std::size_t side = 0; side < 2; ++side) {
    if (unit[side] > 0 && std::ranges::all_of(path, [&](QueueIndex q) { return used_[q][side] < caps_[q][side]; }))
      return true;
  }
  return false;
}

void ShareRoom::add(QueueIndex leaf, const WorkPair& unit) {
  for (const QueueIndex queue : problem_.queues[leaf].ancestors) {
    for (std::size_t side = 0; side < 2; ++side) used_[queue][side] += unit[side];
  }
}

bool ShareRoom::add_whole(QueueIndex leaf, const WorkPair& sum) {
  for (const QueueIndex queue : problem_.queues[leaf].ancestors) {
    for (std::size_t side = 0; side < 2; ++side) {
      if (sum[side] > 0 && sum[side] > caps_[queue][side] - used_[queue][side]) return false;
    }
  }
  add(leaf, sum);
  return true;
}

double ShareRoom::fullness(QueueIndex leaf) const {
  double fullest = 0;
  for (std::size_t side = 0; side < 2; ++side) {
    const double cap = static_cast<double>(std::max<Work>(1, caps_[leaf][side]));
    fullest = std::max(fullest, static_cast<double>(used_[leaf][side]) / cap);
  }
  return fullest;
}

}  // namespace muster::greedy
