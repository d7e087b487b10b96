#include "solver/lp/packing_bound.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <queue>
#include <utility>

#include "model/base/saturating.h"
#include "model/base/tuning.h"

namespace muster::lp {
namespace {

// By resource, then whole devices.
using Amounts = std::vector<Amount>;

void add(Amounts& amounts, const Amounts& more, std::int64_t times) {
  for (std::size_t d = 0; d < amounts.size(); ++d) amounts[d] += times * more[d];
}

void add_saturating(Amounts& amounts, const Amounts& more, std::int64_t times) {
  for (std::size_t d = 0; d < amounts.size(); ++d)
    amounts[d] = saturating_add(amounts[d], saturating_multiply(times, more[d]));
}

bool is_within(const Amounts& amounts, const Amounts& bound) {
  return std::ranges::equal(amounts, bound, std::ranges::less_equal{});
}

Amounts size_of(const PodClass& pod_class) {
  Amounts size = pod_class.request;
  size.push_back(pod_class.gpu.kind == GpuRequestKind::kWhole ? pod_class.gpu.devices : 0);
  return size;
}

}  // namespace

struct PackingBound::Packing {
  // Pods of one class that must be present.
  struct Kind {
    Amounts size;
    std::int64_t pods = 0;
    std::vector<bool> allowed;  // by position in `bins`
  };
  // Nodes of one class with equal free capacity.
  struct Bin {
    NodeClassIndex node_class;
    Amounts free;
    std::int64_t nodes = 0;
  };
  // Pods of one kind with equal work, of the last rank.
  struct Dispensable {
    Work work = 0;
    std::size_t kind = 0;
    std::int64_t pods = 0;
  };
  std::vector<Kind> kinds;
  std::vector<Bin> bins;
  Amounts to_spare;  // once all pods are present
  std::vector<Dispensable> dispensable;
};

// What must be present for all work of a rank, and what stays where it runs in any case. Pods that may move count as
// those that wait; what may leave and is of a later rank is gone.
struct PackingBound::Present {
  struct Pods {
    std::int64_t number = 0;
    std::map<Work, std::int64_t> of_last_rank;
    bool fits_anywhere = false;  // one of them runs where the filters would not let it
  };
  std::map<PodClassIndex, Pods> pods;
  std::map<NodeIndex, Amounts> held;
  // The least work of a pod of the last rank, and whether some of those are held, though they may leave.
  Work least = kLargest;
  bool is_last_rank_held = false;
};

// Searches for packings, all within one limit of steps.
class PackingBound::Search {
 public:
  explicit Search(const Packing& packing) : packing_(packing), to_spare_(packing.to_spare) {
    for (const Packing::Kind& kind : packing.kinds) left_.push_back(kind.pods);
    for (const Packing::Bin& bin : packing.bins) nodes_.push_back(bin.nodes);
  }

  // Whether no packing without these pods (numbers by position in `dispensable`) exists. False if there was no time to
  // tell.
  bool is_impossible_without(const std::vector<std::int64_t>& missing) {
    // Of the sets, too, which may be very many.
    steps_ += static_cast<std::int64_t>(missing.size()) + 1;
    if (has_run_out()) return false;
    take_out(missing, 1);
    const bool is_short = std::ranges::any_of(to_spare_, [](Amount amount) { return amount < 0; });
    const bool is_impossible = is_short || !may_pack();
    take_out(missing, -1);
    return is_impossible;
  }

 private:
  bool has_run_out() const { return steps_ > kTuning.bounds.steps; }

  // What can still go into the node that is being filled, by kind and all after it.
  using Rest = std::vector<Amounts>;

  void take_out(const std::vector<std::int64_t>& missing, std::int64_t sign) {
    for (std::size_t i = 0; i < missing.size(); ++i) {
      const std::size_t kind = packing_.dispensable[i].kind;
      left_[kind] -= sign * missing[i];
      add(to_spare_, packing_.kinds[kind].size, sign * missing[i]);
    }
  }

  // What is left, on the nodes that are empty. The largest pod goes to one of them.
  bool may_pack() {
    const auto first = std::ranges::find_if(left_, [](std::int64_t pods) { return pods > 0; });
    if (first == left_.end()) return true;
    const auto kind = static_cast<std::size_t>(first - left_.begin());
    for (std::size_t bin = 0; bin < nodes_.size(); ++bin) {
      if (nodes_[bin] == 0 || !packing_.kinds[kind].allowed[bin]) continue;
      --nodes_[bin];
      Amounts room = packing_.bins[bin].free;
      const bool may = may_fill(bin, kind, room, rest_for(bin), 1);
      ++nodes_[bin];
      if (may) return true;
    }
    return false;
  }

  Rest rest_for(std::size_t bin) const {
    Rest rest(left_.size() + 1, Amounts(to_spare_.size(), 0));
    for (std::size_t kind = left_.size(); kind-- > 0;) {
      rest[kind] = rest[kind + 1];
      if (packing_.kinds[kind].allowed[bin]) add(rest[kind], packing_.kinds[kind].size, left_[kind]);
    }
    return rest;
  }

  // With pods of this kind, at least so many, and of those after it.
  bool may_fill(std::size_t bin, std::size_t kind, Amounts& room, const Rest& rest, std::int64_t least) {
    ++steps_;
    if (has_run_out()) return true;
    for (std::size_t d = 0; d < room.size(); ++d)
      if (room[d] - rest[kind][d] > to_spare_[d]) return false;
    if (kind == left_.size()) return is_full(bin, room) && may_pack_beside(room);
    const Amounts& size = packing_.kinds[kind].size;
    std::int64_t most = packing_.kinds[kind].allowed[bin] ? left_[kind] : 0;
    for (std::size_t d = 0; d < room.size(); ++d)
      if (size[d] > 0) most = std::min(most, room[d] / size[d]);
    for (std::int64_t pods = most; pods >= least; --pods) {
      left_[kind] -= pods;
      add(room, size, -pods);
      const bool may = may_fill(bin, kind + 1, room, rest, 0);
      add(room, size, pods);
      left_[kind] += pods;
      if (may) return true;
    }
    return false;
  }

  // A node with room for one more pod is also tried with that.
  bool is_full(std::size_t bin, const Amounts& room) const {
    for (std::size_t kind = 0; kind < left_.size(); ++kind)
      if (left_[kind] > 0 && packing_.kinds[kind].allowed[bin] && is_within(packing_.kinds[kind].size, room))
        return false;
    return true;
  }

  bool may_pack_beside(const Amounts& wasted) {
    add(to_spare_, wasted, -1);
    const bool may = may_pack();
    add(to_spare_, wasted, 1);
    return may;
  }

  const Packing& packing_;
  Amounts to_spare_;
  std::vector<std::int64_t> left_, nodes_;  // pods by kind, nodes by bin
  std::int64_t steps_ = 0;
};

// The search is as deep as there are kinds on all nodes together.
bool PackingBound::is_too_deep(std::size_t kinds) const {
  return static_cast<std::int64_t>(problem_.nodes.size() * (kinds + 1)) > kTuning.bounds.packing_depth;
}

PackingBound::PackingBound(const Problem& problem)
    : problem_(problem),
      possibilities_(problem),
      work_(problem.objective.priorities.size(), 0),
      known_(problem.objective.priorities.size()) {
  for (const PodIndex pod : problem.pods.indices()) {
    if (!possibilities_.may_be_present(pod)) continue;
    Work& work = work_[problem.gangs[problem.pods[pod].gang].rank];
    work = saturating_add(work, problem.pods[pod].weighted_work);
  }
  for (std::size_t rank = 1; rank < work_.size(); ++rank) work_[rank] = saturating_add(work_[rank], work_[rank - 1]);
}

Work PackingBound::most_work(std::size_t rank) {
  if (!known_[rank]) known_[rank] = find_most_work(rank);
  return *known_[rank];
}

// Sets of pods that are missing, those with the least work first, until one of them cannot be excluded.
Work PackingBound::find_most_work(std::size_t rank) const {
  if (work_[rank] == kLargest || is_too_deep(0)) return work_[rank];
  const Present present = present_pods(rank);
  if (present.least == kLargest || is_too_deep(present.pods.size())) return work_[rank];
  const std::optional<Packing> made = packing(present);
  if (!made) return work_[rank];
  const Packing& packing = *made;
  struct Missing {
    Work work = 0;
    std::vector<std::int64_t> pods;  // by position in `dispensable`
    std::size_t last = 0;            // position of the last of them
    bool operator>(const Missing& other) const { return work > other.work; }
  };
  std::priority_queue<Missing, std::vector<Missing>, std::greater<>> open;
  open.push({0, std::vector<std::int64_t>(packing.dispensable.size(), 0), 0});
  Search search(packing);
  while (!open.empty()) {
    const Missing missing = open.top();
    open.pop();
    if (!search.is_impossible_without(missing.pods)) return work_[rank] - missing.work;
    if (present.is_last_rank_held) return work_[rank] - present.least;
    for (std::size_t i = missing.last; i < packing.dispensable.size(); ++i) {
      if (missing.pods[i] == packing.dispensable[i].pods) continue;
      Missing more{missing.work + packing.dispensable[i].work, missing.pods, i};
      ++more.pods[i];
      open.push(std::move(more));
    }
  }
  return rank == 0 ? 0 : work_[rank - 1];  // without all of the last rank
}

PackingBound::Present PackingBound::present_pods(std::size_t rank) const {
  Present present;
  for (const PodIndex index : problem_.pods.indices()) {
    if (!possibilities_.may_be_present(index)) continue;
    const Pod& pod = problem_.pods[index];
    const Gang& gang = problem_.gangs[pod.gang];
    const bool counts = gang.rank <= rank && pod.weighted_work > 0, is_last = counts && gang.rank == rank;
    const bool runs = pod.status == PodStatus::kRunning;
    if (is_last) present.least = std::min(present.least, pod.weighted_work);
    if (runs && !possibilities_.may_be_moved(index)) {
      if (!counts && possibilities_.may_leave(gang)) continue;
      const auto [amounts, is_new] = present.held.try_emplace(pod.node, Amounts(problem_.resource_count + 1, 0));
      add(amounts->second, size_of(problem_.class_of(index)), 1);
      present.is_last_rank_held = present.is_last_rank_held || is_last;
    } else if (counts) {
      Present::Pods& pods = present.pods[pod.pod_class];
      ++pods.number;
      if (is_last) ++pods.of_last_rank[pod.weighted_work];
      if (runs && !problem_.class_of(index).allowed[problem_.nodes[pod.node].node_class.value()])
        pods.fits_anywhere = true;
    }
  }
  return present;
}

// None if sums of amounts could overflow.
std::optional<PackingBound::Packing> PackingBound::packing(const Present& present) const {
  const auto is_allowed = [&](const auto& pods, NodeClassIndex node_class) {
    return pods.second.fits_anywhere || problem_.pod_classes[pods.first].allowed[node_class.value()];
  };
  std::map<std::pair<NodeClassIndex, Amounts>, std::int64_t> bins;
  for (const NodeIndex node : problem_.nodes.indices()) {
    const NodeClassIndex node_class = problem_.nodes[node].node_class;
    if (std::ranges::none_of(present.pods, [&](const auto& pods) { return is_allowed(pods, node_class); })) continue;
    Amounts free = problem_.class_of(node).capacity;
    free.push_back(problem_.class_of(node).device_count);
    if (const auto found = present.held.find(node); found != present.held.end()) add(free, found->second, -1);
    ++bins[{node_class, std::move(free)}];
  }
  Packing packing;
  Amounts capacity(problem_.resource_count + 1, 0), demand = capacity;
  for (const auto& [bin, nodes] : bins) {
    packing.bins.push_back({bin.first, bin.second, nodes});
    add_saturating(capacity, bin.second, nodes);
  }
  for (const auto& [index, pods] : present.pods)
    add_saturating(demand, size_of(problem_.pod_classes[index]), pods.number);
  const auto is_huge = [](Amount amount) { return amount > kLargest / 4; };
  if (std::ranges::any_of(capacity, is_huge) || std::ranges::any_of(demand, is_huge)) return std::nullopt;
  packing.to_spare = capacity;
  add(packing.to_spare, demand, -1);

  // The largest part of all that there is of any resource.
  const auto largeness = [&](const auto& pods) {
    const Amounts size = size_of(problem_.pod_classes[pods.first]);
    double largest = 0;
    for (std::size_t d = 0; d < size.size(); ++d)
      largest = std::max(largest, static_cast<double>(size[d]) / static_cast<double>(std::max<Amount>(1, capacity[d])));
    return largest;
  };
  std::vector<std::pair<PodClassIndex, Present::Pods>> largest_first(present.pods.begin(), present.pods.end());
  std::ranges::stable_sort(largest_first, std::ranges::greater{}, largeness);
  for (const auto& pods : largest_first) {
    for (const auto& [work, number] : pods.second.of_last_rank)
      packing.dispensable.push_back({work, packing.kinds.size(), number});
    packing.kinds.push_back({size_of(problem_.pod_classes[pods.first]), pods.second.number, {}});
    for (const Packing::Bin& bin : packing.bins)
      packing.kinds.back().allowed.push_back(is_allowed(pods, bin.node_class));
  }
  return packing;
}

}  // namespace muster::lp
