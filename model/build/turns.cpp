#include "model/build/turns.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "model/base/require.h"
#include "model/base/saturating.h"
#include "model/base/semantics.h"
#include "model/build/stages.h"
#include "model/problem/best_fill.h"
#include "model/problem/exceeded.h"
#include "model/problem/gang_tree.h"
#include "model/problem/quota_queue.h"

namespace muster {

NodeEnds::NodeEnds(const Problem& problem)
    : problem_(problem), ends_(problem.nodes.size(), problem.snapshot->time), taken_(problem.nodes.size(), false) {
  for (const Pod& pod : problem.pods) {
    const bool is_there = pod.status == PodStatus::kRunning || pod.status == PodStatus::kReleasing;
    if (!is_there || !problem.pod_classes[pod.pod_class].counts_as_gpu) continue;
    ends_[pod.node] = std::max(ends_[pod.node], problem.gangs[pod.gang].times.expected_end);
  }
}

std::optional<TakenNodes> NodeEnds::take(const Gang& gang) {
  std::vector<PodIndex> pods;
  for (const PodIndex pod : gang.pods) {
    if (problem_.pods[pod].status == PodStatus::kPending) pods.push_back(pod);
  }
  MUSTER_REQUIRE(!pods.empty());
  const PodIndex largest = *std::ranges::max_element(pods, {}, [&](PodIndex pod) { return devices(pod); });
  const auto wanted = static_cast<std::size_t>(
      std::ranges::count_if(pods, [&](PodIndex pod) { return 2 * devices(pod) > devices(largest); }));
  const TakenNodes none_needed{problem_.snapshot->time, {}};
  if (wanted == 0) return none_needed;
  std::vector<NodeIndex> nodes = first_of(queue_for(largest), wanted);
  if (nodes.size() < wanted) return fits_beside_others(largest) ? std::optional(none_needed) : std::nullopt;
  for (const NodeIndex node : nodes) taken_[node] = true;
  const Nanoseconds empty_at = ends_[nodes.back()];
  return TakenNodes{empty_at, std::move(nodes)};
}

NodeEnds::NodeQueue& NodeEnds::queue_for(PodIndex pod) {
  const auto [found, is_new] = queues_.try_emplace(problem_.pods[pod].pod_class);
  NodeQueue& queue = found->second;
  if (!is_new) return queue;
  for (const NodeIndex node : problem_.nodes.indices()) {
    const NodeClassIndex node_class = problem_.nodes[node].node_class;
    const std::int32_t count = reported_devices(node_class);
    const bool suits = count >= devices(pod) && count < 2 * devices(pod);
    if (suits && problem_.class_of(pod).allowed[node_class.value()]) queue.nodes.push_back(node);
  }
  std::ranges::stable_sort(queue.nodes, {}, [&](NodeIndex node) { return ends_[node]; });
  return queue;
}

std::vector<NodeIndex> NodeEnds::first_of(NodeQueue& queue, std::size_t wanted) const {
  while (queue.next < queue.nodes.size() && taken_[queue.nodes[queue.next]]) ++queue.next;
  std::vector<NodeIndex> first;
  for (std::size_t i = queue.next; i < queue.nodes.size() && first.size() < wanted; ++i) {
    if (!taken_[queue.nodes[i]]) first.push_back(queue.nodes[i]);
  }
  return first;
}

// Pods that hold more devices are gone once the node is empty.
std::int32_t NodeEnds::reported_devices(NodeClassIndex node_class) const {
  return as_reported(problem_, problem_.node_classes[node_class]).device_count;
}

bool NodeEnds::fits_beside_others(PodIndex pod) const {
  return std::ranges::any_of(problem_.node_classes.indices(), [&](NodeClassIndex node_class) {
    return problem_.class_of(pod).allowed[node_class.value()] && reported_devices(node_class) >= 2 * devices(pod);
  });
}

TurnBounds::TurnBounds(const Problem& problem)
    : problem_(problem), sums_(problem.queues.size()), limited_(problem.lists.other_limits.size(), 0) {
  for (const QueueIndex queue : problem.queues.indices())
    sums_[queue].non_preemptible = problem.queues[queue].core_usage;
  for (const Pod& pod : problem.pods) {
    const Gang& gang = problem.gangs[pod.gang];
    if (pod.status != PodStatus::kRunning || gang.queue.is_none()) continue;
    const PodClass& pod_class = problem.pod_classes[pod.pod_class];
    add(gang.queue, queue_usage(pod_class, problem.class_of(pod.node)), gang.preemptible);
    add_limited(gang.queue, [&](ResourceIndex resource) { return pod_class.request[resource.value()]; });
  }
}

void TurnBounds::add(const Gang& gang) {
  MUSTER_REQUIRE(!gang.queue.is_none());
  const auto least = [&](const auto& of_class) {
    return least_sum(problem_, gang, [&](PodIndex pod) { return of_class(problem_.class_of(pod)); });
  };
  const auto least_of = [&](ResourceIndex resource) {
    return least([resource](const PodClass& pod_class) { return pod_class.request[resource.value()]; });
  };
  QueueAmounts amounts{};
  amounts[kQueueGpu] = least([](const PodClass& pod_class) { return pod_class.smallest_gpu_usage; });
  amounts[kQueueCpu] = least_of(kCpu);
  amounts[kQueueMemory] = least_of(kMemory);
  add(gang.queue, amounts, false);
  add_limited(gang.queue, least_of);
}

template <class AmountOf>
void TurnBounds::add_limited(QueueIndex queue, const AmountOf& amount_of) {
  for (const OtherLimitIndex limit : problem_.queues[queue].other_limits)
    limited_[limit] = saturating_add(limited_[limit], amount_of(problem_.lists.other_limits[limit].resource));
}

void TurnBounds::add(QueueIndex queue, const QueueAmounts& amounts, bool preemptible) {
  for (const QueueIndex at : problem_.queues[queue].ancestors) {
    for (std::size_t i = 0; i < kQueueResources; ++i) {
      Amount& all = sums_[at].all[i];
      all = saturating_add(all, amounts[i]);
      Amount& strict = sums_[at].non_preemptible[i];
      if (!preemptible) strict = saturating_add(strict, amounts[i]);
    }
  }
}

bool TurnBounds::hold(QueueIndex queue) const {
  const auto is_within = [](Amount sum, Amount bound) { return bound == kUnlimited || sum <= bound; };
  const auto is_kept = [&](OtherLimitIndex limit) {
    return limited_[limit] <= problem_.lists.other_limits[limit].limit;
  };
  if (!std::ranges::all_of(problem_.queues[queue].other_limits, is_kept)) return false;
  return std::ranges::all_of(problem_.queues[queue].ancestors, [&](QueueIndex at) {
    const Queue& bounds = problem_.queues[at];
    return std::ranges::equal(sums_[at].all, bounds.limit, is_within) &&
           std::ranges::equal(sums_[at].non_preemptible, bounds.quota, is_within);
  });
}

// The waiting gangs that have their turn within the quotas, and those that are kept back for another one
// (docs/semantics.md, "Over time").
//
// A gang that is not preemptible is counted in the nearest queue above it that has a quota of GPUs. Of each such queue
// the gangs are chosen that fill what is left of the quota; large ones among them may still have to wait for nodes.
// Source: EASY backfilling (Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995), with one head for each queue.

namespace {

constexpr MicroGpu kOneGpu = 1'000'000;

struct Turn {
  GangIndex gang;
  std::int32_t priority = 0;
  std::int64_t seniority = 0;
  MicroGpu gpus = 0;  // of its minimum
  bool is_large() const { return gpus >= kSemantics.head_gpus * kOneGpu; }
  friend bool operator<(const Turn& a, const Turn& b) {
    if (a.priority != b.priority) return a.priority > b.priority;
    return a.seniority != b.seniority ? a.seniority > b.seniority : a.gang < b.gang;
  }
};

// When so many GPUs of a quota come back.
struct Release {
  Nanoseconds time = 0;
  MicroGpu gpus = 0;
  friend auto operator<=>(const Release&, const Release&) = default;
};

// What is not preemptible and counted in one queue.
struct QuotaGangs {
  std::vector<Turn> waiting;
  std::vector<Release> releases;
  MicroGpu used = 0;
  std::optional<Turn> blocked;  // has its turn, but no nodes yet
};

class Turns {
 public:
  explicit Turns(Problem& problem) : problem_(problem), now_(problem.snapshot->time), groups_(problem.queues.size()) {}

  std::vector<NodeHold> run() {
    for (const GangIndex gang : problem_.gangs.indices()) collect(gang);
    for (const QueueIndex queue : problem_.queues.indices()) choose(queue);
    if (reserve_after() == kNever) return {};
    find_nodes();
    TurnBounds bounds(problem_);
    for (const QuotaGangs& group : groups_) {
      for (const Turn& turn : group.waiting)
        if (times_of(turn).has_turn) bounds.add(problem_.gangs[turn.gang]);
    }
    for (const QueueIndex queue : problem_.queues.indices()) keep_back(queue, bounds);
    return std::move(holds_);
  }

 private:
  Nanoseconds reserve_after() const { return problem_.snapshot->policy.over_time.reserve_after; }
  MicroGpu quota_of(QueueIndex queue) const { return problem_.queues[queue].quota[kQueueGpu]; }
  MicroGpu room_of(QueueIndex queue) const { return quota_of(queue) - groups_[queue].used; }
  GangTimes& times_of(const Turn& turn) { return problem_.gangs[turn.gang].times; }
  bool ends_by(const Turn& turn, Nanoseconds time) {
    return saturating_add(now_, times_of(turn).expected_duration) <= time;
  }

  void collect(GangIndex index) {
    const Gang& gang = problem_.gangs[index];
    const QueueIndex queue = quota_queue(problem_, gang);
    if (queue.is_none()) return;
    QuotaGangs& group = groups_[queue];
    MicroGpu running = 0;
    bool runs = false;
    for (const PodIndex pod : gang.pods) {
      const Pod& p = problem_.pods[pod];
      if (p.status != PodStatus::kRunning) continue;
      runs = true;
      running = saturating_add(running, queue_usage(problem_.class_of(pod), problem_.class_of(p.node))[kQueueGpu]);
    }
    group.used = saturating_add(group.used, running);
    if (running > 0) group.releases.push_back({gang.times.expected_end, running});
    if (runs || !gang.queue_is_leaf || gang.times.timed_out || !has_its_pods(gang)) return;
    const MicroGpu gpus =
        least_sum(problem_, gang, [&](PodIndex pod) { return problem_.class_of(pod).smallest_gpu_usage; });
    if (gpus > 0) group.waiting.push_back({index, gang.priority, gang.times.seniority, gpus});
  }

  bool has_its_pods(const Gang& gang) const {
    const auto is_pending = [&](PodIndex pod) { return problem_.pods[pod].status == PodStatus::kPending; };
    return std::ranges::any_of(gang.pods, is_pending) && meets_minimum(problem_, gang, [&](PodIndex pod) {
             return is_pending(pod) || problem_.pods[pod].status == PodStatus::kSucceeded;
           });
  }

  // Those have their turn that fill the quota, the more senior rather than others, next to what is reserved.
  void choose(QueueIndex queue) {
    QuotaGangs& group = groups_[queue];
    std::ranges::sort(group.waiting, std::less<>{});
    std::ranges::sort(group.releases);
    if (reserve_after() != kNever) reserve(queue);
    MicroGpu room = room_of(queue);
    for (auto first = group.waiting.begin(); first != group.waiting.end();) {
      const auto end =
          std::find_if(first, group.waiting.end(), [&](const Turn& turn) { return turn.priority != first->priority; });
      room -= choose_among({first, end}, room);
      first = end;
    }
  }

  // Of gangs of one priority. Returns what they take.
  MicroGpu choose_among(std::span<const Turn> turns, MicroGpu room) {
    std::vector<FillItem> items;
    std::vector<const Turn*> of_item;
    for (const Turn& turn : turns) {
      if (!times_of(turn).may_start() || turn.gpus > room) continue;
      items.push_back({turn.gpus, turn.seniority});
      of_item.push_back(&turn);
    }
    MicroGpu taken = 0;
    for (const std::size_t item : best_fill(items, room)) {
      times_of(*of_item[item]).has_turn = true;
      taken += of_item[item]->gpus;
    }
    return taken;
  }

  // For the first large gang that what is left of the quota is too small for: of those after it, the ones that would
  // hold it up are kept back.
  void reserve(QueueIndex queue) {
    const QuotaGangs& group = groups_[queue];
    const MicroGpu room = room_of(queue);
    const Turn* head = nullptr;
    MicroGpu spare = 0;
    for (const Turn& turn : group.waiting) {
      if (turn.gpus > room) {
        if (head != nullptr || !may_be_head(turn, queue)) continue;
        const std::optional<Release> start = start_of(turn, queue);
        if (!start) continue;
        head = &turn;
        times_of(turn).expected_start = start->time;
        spare = start->gpus;
      } else if (head != nullptr && !ends_by(turn, times_of(*head).expected_start)) {
        if (turn.gpus > spare) {
          times_of(turn).kept_back_for = head->gang;
        } else {
          spare -= turn.gpus;
        }
      }
    }
  }

  bool may_be_head(const Turn& turn, QueueIndex queue) {
    const std::int64_t waited = times_of(turn).waited_seconds;
    return turn.is_large() && turn.gpus <= quota_of(queue) &&
           saturating_multiply(waited, kNanosecondsPerSecond) >= reserve_after();
  }

  // When the quota is expected to have room for it, and the GPUs that are left over then.
  std::optional<Release> start_of(const Turn& turn, QueueIndex queue) const {
    MicroGpu room = room_of(queue);
    std::optional<Nanoseconds> start;
    for (const Release& release : groups_[queue].releases) {
      if (start && release.time > *start) break;
      room = saturating_add(room, release.gpus);
      if (room >= turn.gpus) start = release.time;
    }
    if (!start) return std::nullopt;
    return Release{*start, room - turn.gpus};
  }

  // In turn, for large gangs that have theirs.
  void find_nodes() {
    struct Claim {
      Turn turn;
      QueueIndex queue;
    };
    std::vector<Claim> claims;
    for (const QueueIndex queue : problem_.queues.indices()) {
      for (const Turn& turn : groups_[queue].waiting) {
        if (turn.is_large() && times_of(turn).has_turn) claims.push_back({turn, queue});
      }
    }
    if (claims.empty()) return;
    std::ranges::sort(claims, std::less<>{}, &Claim::turn);
    NodeEnds nodes(problem_);
    const auto most_holds = static_cast<std::size_t>(problem_.snapshot->policy.over_time.holds);
    for (const Claim& claim : claims) {
      std::optional<TakenNodes> taken = nodes.take(problem_.gangs[claim.turn.gang]);
      if (!taken) without_nodes_.insert(claim.turn.gang);
      if (!taken || taken->empty_at <= now_) continue;
      times_of(claim.turn).expected_start = taken->empty_at;
      std::optional<Turn>& blocked = groups_[claim.queue].blocked;
      if (!blocked || taken->empty_at < times_of(*blocked).expected_start) blocked = claim.turn;
      if (holds_.size() < most_holds) holds_.push_back({claim.turn.gang, taken->empty_at, std::move(taken->nodes)});
    }
  }

  void keep_back(QueueIndex queue, const TurnBounds& bounds) {
    if (groups_[queue].blocked) {
      keep_for_blocked(queue);
    } else {
      keep_for_turns(queue, bounds);
    }
  }

  // It may start, but does not have its turn.
  bool is_out_of_turn(const Turn& turn, QueueIndex queue) {
    const GangTimes& times = times_of(turn);
    return times.may_start() && !times.has_turn && turn.gpus <= room_of(queue);
  }

  // The quota of a gang that waits for nodes goes to no gang that would still hold it then.
  void keep_for_blocked(QueueIndex queue) {
    const QuotaGangs& group = groups_[queue];
    const Nanoseconds start = times_of(*group.blocked).expected_start;
    for (const Turn& turn : group.waiting) {
      if (is_out_of_turn(turn, queue) && !ends_by(turn, start)) times_of(turn).kept_back_for = group.blocked->gang;
    }
  }

  // The quota of gangs that have their turn goes to no other gang of their priority or below.
  void keep_for_turns(QueueIndex queue, const TurnBounds& bounds) {
    const std::vector<Turn>& waiting = groups_[queue].waiting;
    MicroGpu spare = room_of(queue);
    const Turn* keeper = nullptr;
    for (auto first = waiting.begin(); first != waiting.end();) {
      const auto end =
          std::find_if(first, waiting.end(), [&](const Turn& turn) { return turn.priority != first->priority; });
      for (auto turn = first; turn != end; ++turn) {
        if (!times_of(*turn).has_turn || !keeps_quota(*turn, bounds)) continue;
        if (keeper == nullptr) keeper = &*turn;
        times_of(*turn).expected_start = now_;
        spare -= turn->gpus;
      }
      for (; first != end; ++first) {
        if (keeper == nullptr || !is_out_of_turn(*first, queue)) continue;
        if (first->gpus > spare) {
          times_of(*first).kept_back_for = keeper->gang;
        } else {
          spare -= first->gpus;
        }
      }
    }
  }

  // It waits for devices alone, and there are nodes for it.
  bool keeps_quota(const Turn& turn, const TurnBounds& bounds) const {
    const Gang& gang = problem_.gangs[turn.gang];
    const auto requires_level = [&](GroupIndex group) { return !problem_.groups[group].required_level.is_none(); };
    return !without_nodes_.contains(turn.gang) && bounds.hold(gang.queue) &&
           std::ranges::none_of(gang.groups, requires_level) && std::ranges::all_of(gang.pods, [&](PodIndex pod) {
             return problem_.pods[pod].status != PodStatus::kPending || waits_for_devices_alone(pod);
           });
  }

  bool waits_for_devices_alone(PodIndex pod) const {
    const PodClass& pod_class = problem_.class_of(pod);
    const Snapshot& snapshot = *problem_.snapshot;
    if (pod_class.has_inter_pod_rules() || !snapshot.pod_specs[snapshot.pods[pod.value()].spec].host_ports.empty())
      return false;
    return std::ranges::any_of(problem_.node_classes.indices(), [&](NodeClassIndex index) {
      const NodeClass& node_class = as_reported(problem_, problem_.node_classes[index]);
      return pod_class.allowed[index.value()] && node_class.device_count >= pod_class.gpu.devices &&
             std::ranges::equal(pod_class.request, node_class.capacity, std::less_equal<>{});
    });
  }

  Problem& problem_;
  const Nanoseconds now_;
  Indexed<QueueIndex, QuotaGangs> groups_;
  std::set<GangIndex> without_nodes_;  // large ones that never find any
  std::vector<NodeHold> holds_;
};

}  // namespace

std::vector<NodeHold> build_turns(ProblemDraft& draft) { return Turns(draft.problem).run(); }

}  // namespace muster
