// Rule Reserved: nothing of a gang is placed that is kept back for another one, or on nodes that are held for one.
#include "model/referee/reserved.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "model/base/saturating.h"
#include "model/base/semantics.h"
#include "model/referee/case.h"
#include "model/referee/fill.h"
#include "model/referee/forecast.h"
#include "model/referee/least.h"

namespace muster::referee {
namespace {

constexpr MicroGpu kLargeGang = kSemantics.head_gpus * 1'000'000;

bool reserves(const Snapshot& snapshot) {
  return snapshot.policy.non_preemptible_within_quota && snapshot.policy.over_time.reserve_after != kNever;
}

bool has_gpu_quota(const Queue& queue) { return queue.quota[kQueueGpu] != kUnlimited; }

// The nearest queue with a quota of GPUs on the way to the root whose rules hold for the gang; none: no rules do.
QueueIndex quota_queue_of(const Problem& problem, const Gang& gang) {
  if (gang.preemptible || gang.queue.is_none()) return QueueIndex::none();
  const std::vector<QueueIndex>& way = problem.queues[gang.queue].ancestors;
  const auto at = std::ranges::find_if(way, [&](QueueIndex queue) { return has_gpu_quota(problem.queues[queue]); });
  return at == way.end() ? QueueIndex::none() : *at;
}

struct WaitingGang {
  GangIndex gang;
  QueueIndex queue;  // with the quota
  std::int32_t priority = 0;
  std::int64_t seniority = 0;
  MicroGpu gpus = 0;
  Nanoseconds end = 0;  // if it starts now
  bool has_waited = false;
  bool is_without_nodes = false;  // it is large, and there are too few nodes for it
  Inclusion turn = Inclusion::kNo;
  GangIndex kept_back_for{};

  bool is_large() const { return gpus >= kLargeGang; }
};

// Gangs that run give back so much at this instant.
struct Return {
  Nanoseconds at = 0;
  MicroGpu gpus = 0;
};

struct QuotaQueue {
  MicroGpu quota = 0, free = 0;
  std::vector<Return> returns;
  std::vector<WaitingGang*> waiting;  // in turn

  bool fits(const WaitingGang& gang) const { return gang.gpus <= free; }
  bool may_have_turn(const WaitingGang& gang) const { return fits(gang) && gang.kept_back_for.is_none(); }
};

// The first of the blocked gangs of a queue that has its nodes.
struct Blocked {
  GangIndex gang;
  Nanoseconds until = 0;
};

class Reservations {
 public:
  Reservations(const Snapshot& snapshot, const Problem& problem)
      : snapshot_(snapshot), problem_(problem), forecast_(snapshot, problem), queues_(problem.queues.size()) {}

  KeptBack decide();

 private:
  void note_gangs();
  void note_running(GangIndex gang, QuotaQueue& queue) const;
  bool waits(GangIndex gang) const;
  std::optional<WaitingGang> waiting(GangIndex gang, QueueIndex queue) const;
  void sort_in_turn();
  void keep_for_quota(QuotaQueue& queue) const;
  void give_turns(const QuotaQueue& queue) const;
  void take_nodes();
  void keep_for_blocked(QueueIndex queue);
  void keep_for_turns(QueueIndex queue);
  bool waits_for_devices_alone(GangIndex gang);
  bool bounds_hold_all_turns(QueueIndex leaf) const;
  void note_usage();
  bool suits_some_node(PodIndex pod);
  static bool is_open(const WaitingGang* gang) { return gang->turn == Inclusion::kOpen; }
  bool is_undecided(const WaitingGang& gang) const;
  KeptBack result() const;

  const Snapshot& snapshot_;
  const Problem& problem_;
  Forecast forecast_;
  Indexed<QueueIndex, QuotaQueue> queues_;
  std::vector<WaitingGang> waiting_;      // in turn
  std::vector<KeptBack::Hold> holds_;     // of the first blocked gangs
  Indexed<QueueIndex, Blocked> blocked_;  // gang none: none is
  bool nodes_are_open_ = false;           // it depends on a choice which gangs are blocked
  std::map<PodSpecIndex, bool> suits_;    // whether there is a node for such pods
  QueueUsage once_started_;               // what runs, and all whose turn it is
};

KeptBack Reservations::decide() {
  note_gangs();
  sort_in_turn();
  for (QuotaQueue& queue : queues_) {
    if (queue.waiting.empty()) continue;
    keep_for_quota(queue);
    give_turns(queue);
  }
  take_nodes();
  note_usage();
  for (const QueueIndex queue : queues_.indices()) {
    if (!blocked_[queue].gang.is_none()) {
      keep_for_blocked(queue);
    } else if (!nodes_are_open_) {
      keep_for_turns(queue);
    }
  }
  return result();
}

void Reservations::note_gangs() {
  for (const QueueIndex queue : queues_.indices())
    queues_[queue].quota = queues_[queue].free = problem_.queues[queue].quota[kQueueGpu];
  for (const GangIndex gang : problem_.gangs.indices()) {
    const QueueIndex queue = quota_queue_of(problem_, problem_.gangs[gang]);
    if (queue.is_none()) continue;
    note_running(gang, queues_[queue]);
    if (const auto entry = waiting(gang, queue)) waiting_.push_back(*entry);
  }
}

void Reservations::note_running(GangIndex gang, QuotaQueue& queue) const {
  MicroGpu usage = 0;
  for (const PodIndex index : problem_.gangs[gang].pods) {
    const Pod& pod = problem_.pods[index];
    if (pod.status == PodStatus::kRunning && !pod.node.is_none())
      usage += queue_usage(problem_.pod_classes[pod.pod_class], problem_.class_of(pod.node))[kQueueGpu];
  }
  if (usage == 0) return;
  queue.free -= usage;
  queue.returns.push_back({forecast_.end(gang), usage});
}

bool Reservations::waits(GangIndex index) const {
  const Gang& gang = problem_.gangs[index];
  const auto has = [&](PodStatus status) {
    return std::ranges::any_of(gang.pods, [&](PodIndex pod) { return problem_.pods[pod].status == status; });
  };
  const auto counts = [this](PodIndex pod) {
    const PodStatus status = problem_.pods[pod].status;
    return status == PodStatus::kPending || status == PodStatus::kSucceeded;
  };
  return gang.queue_is_leaf && has(PodStatus::kPending) && !has(PodStatus::kRunning) &&
         !forecast_.has_timed_out(index) && minimum_met(problem_, gang, counts);
}

// None if it does not wait, or asks for no GPUs.
std::optional<WaitingGang> Reservations::waiting(GangIndex index, QueueIndex queue) const {
  if (!waits(index)) return std::nullopt;
  const Gang& gang = problem_.gangs[index];
  WaitingGang entry{index, queue, gang.priority};
  entry.gpus =
      least_for_minimum(problem_, gang, [this](PodIndex pod) { return problem_.class_of(pod).smallest_gpu_usage; });
  if (entry.gpus == 0) return std::nullopt;
  const Nanoseconds duration = forecast_.duration(index);
  entry.seniority = forecast_.seniority(index, duration);
  entry.end = saturating_add(snapshot_.time, duration);
  const Nanoseconds waited = forecast_.waited(index);  // of which whole seconds count
  entry.has_waited = waited - waited % kNanosecondsPerSecond >= snapshot_.policy.over_time.reserve_after;
  return entry;
}

void Reservations::sort_in_turn() {
  std::ranges::sort(waiting_, [](const WaitingGang& a, const WaitingGang& b) {
    return std::tuple(b.priority, b.seniority, a.gang) < std::tuple(a.priority, a.seniority, b.gang);
  });
  for (WaitingGang& gang : waiting_) queues_[gang.queue].waiting.push_back(&gang);
}

// Rule 1.
void Reservations::keep_for_quota(QuotaQueue& queue) const {
  const auto is_head = [&](const WaitingGang* gang) {
    return gang->is_large() && !queue.fits(*gang) && gang->gpus <= queue.quota && gang->has_waited;
  };
  const auto head = std::ranges::find_if(queue.waiting, is_head);
  if (head == queue.waiting.end()) return;
  std::ranges::sort(queue.returns, {}, &Return::at);
  MicroGpu room = queue.free;
  std::size_t next = 0;
  while (room < (*head)->gpus && next < queue.returns.size()) {
    const Nanoseconds at = queue.returns[next].at;
    while (next < queue.returns.size() && queue.returns[next].at == at) room += queue.returns[next++].gpus;
  }
  if (room < (*head)->gpus) return;
  const Nanoseconds start = queue.returns[next - 1].at;
  MicroGpu left_over = room - (*head)->gpus;
  for (auto at = head + 1; at != queue.waiting.end(); ++at) {
    WaitingGang& gang = **at;
    if (!queue.fits(gang) || gang.end <= start) continue;
    if (gang.gpus > left_over) {
      gang.kept_back_for = (*head)->gang;
    } else {
      left_over -= gang.gpus;
    }
  }
}

// Rule 2, as far as the quota goes.
void Reservations::give_turns(const QuotaQueue& queue) const {
  std::vector<FillItem> items;
  for (const WaitingGang* gang : queue.waiting) {
    if (queue.may_have_turn(*gang)) items.push_back({gang->gpus, gang->seniority, gang->priority});
  }
  const std::vector<Inclusion> turns = fill(items, queue.free);
  std::size_t next = 0;
  for (WaitingGang* gang : queue.waiting) {
    if (queue.may_have_turn(*gang)) gang->turn = turns[next++];
  }
}

void Reservations::take_nodes() {
  blocked_.assign(problem_.queues.size(), Blocked{});
  std::vector<WaitingGang*> large;
  for (WaitingGang& gang : waiting_) {
    if (!gang.is_large() || gang.turn == Inclusion::kNo) continue;
    nodes_are_open_ = gang.turn == Inclusion::kOpen;
    if (nodes_are_open_) break;  // those after it may or may not find nodes taken
    large.push_back(&gang);
  }
  std::vector<GangIndex> gangs;
  for (const WaitingGang* gang : large) gangs.push_back(gang->gang);
  EmptyNodes nodes(snapshot_, problem_, forecast_, gangs);
  const auto most_holds = static_cast<std::size_t>(snapshot_.policy.over_time.holds);
  for (std::size_t i = 0; i < large.size() && !nodes.is_open(); ++i) {
    std::optional<EmptyNodes::Taken> taken = nodes.take();
    large[i]->is_without_nodes = !taken && !nodes.is_open();
    if (!taken || taken->nodes.empty() || taken->empty_at <= snapshot_.time) continue;
    Blocked& first = blocked_[large[i]->queue];
    if (first.gang.is_none() || taken->empty_at < first.until) first = {large[i]->gang, taken->empty_at};
    if (holds_.size() < most_holds) holds_.push_back({large[i]->gang, taken->empty_at, std::move(taken->nodes)});
  }
  nodes_are_open_ |= nodes.is_open();
}

// A gang that is blocked, too, and is not known could only have its nodes earlier, and then keeps back more.
void Reservations::keep_for_blocked(QueueIndex index) {
  const Blocked& first = blocked_[index];
  for (WaitingGang* gang : queues_[index].waiting) {
    if (queues_[index].may_have_turn(*gang) && gang->turn == Inclusion::kNo && gang->end > first.until)
      gang->kept_back_for = first.gang;
  }
}

// Nothing is certain in a queue in which a choice is open.
void Reservations::keep_for_turns(QueueIndex index) {
  QuotaQueue& queue = queues_[index];
  if (std::ranges::any_of(queue.waiting, is_open)) return;
  MicroGpu left = queue.free;  // x
  GangIndex keeper;
  for (std::size_t at = 0, end = 0; at < queue.waiting.size(); at = end) {
    while (end < queue.waiting.size() && queue.waiting[end]->priority == queue.waiting[at]->priority) ++end;
    const std::span<WaitingGang*> equals = std::span(queue.waiting).subspan(at, end - at);
    for (const WaitingGang* gang : equals) {
      if (gang->turn != Inclusion::kYes || gang->is_without_nodes || !waits_for_devices_alone(gang->gang)) continue;
      left -= gang->gpus;
      if (keeper.is_none()) keeper = gang->gang;
    }
    for (WaitingGang* gang : equals) {
      if (keeper.is_none() || gang->turn == Inclusion::kYes || !queue.may_have_turn(*gang)) continue;
      if (gang->gpus <= left) {
        left -= gang->gpus;
      } else {
        gang->kept_back_for = keeper;
      }
    }
  }
}

bool Reservations::waits_for_devices_alone(GangIndex index) {
  const Gang& gang = problem_.gangs[index];
  if (!bounds_hold_all_turns(gang.queue)) return false;
  for (const GroupIndex group : gang.groups) {
    if (!problem_.groups[group].required_level.is_none()) return false;
  }
  return std::ranges::all_of(gang.pods, [this](PodIndex pod) {
    if (problem_.pods[pod].status != PodStatus::kPending) return true;
    const bool has_ports = !snapshot_.pod_specs[snapshot_.pods[pod.value()].spec].host_ports.empty();
    return !has_ports && !problem_.class_of(pod).has_inter_pod_rules() && suits_some_node(pod);
  });
}

bool Reservations::bounds_hold_all_turns(QueueIndex leaf) const {
  const auto exceed = [](const QueueAmounts& sums, const QueueAmounts& bounds) {
    for (std::size_t i = 0; i < kQueueResources; ++i) {
      if (bounds[i] != kUnlimited && sums[i] > bounds[i]) return true;
    }
    return false;
  };
  for (QueueIndex at = leaf; !at.is_none(); at = problem_.queues[at].parent) {
    const Queue& queue = problem_.queues[at];
    if (exceed(once_started_.all[at], queue.limit) || exceed(once_started_.non_preemptible[at], queue.quota))
      return false;
  }
  return std::ranges::all_of(problem_.queues[leaf].other_limits, [this](OtherLimitIndex limit) {
    return once_started_.limited[limit] <= problem_.lists.other_limits[limit].limit;
  });
}

// What runs, and the minimums of all gangs that have their turn, or may have it.
void Reservations::note_usage() {
  once_started_.all.assign(problem_.queues.size(), {});
  once_started_.non_preemptible.assign(problem_.queues.size(), {});
  once_started_.limited.assign(problem_.lists.other_limits.size(), 0);
  for (const QueueIndex queue : problem_.queues.indices())
    once_started_.non_preemptible[queue] = problem_.queues[queue].core_usage;
  const auto add = [this](GangIndex gang, const QueueAmounts& amounts) {
    for (QueueIndex at = problem_.gangs[gang].queue; !at.is_none(); at = problem_.queues[at].parent) {
      for (std::size_t i = 0; i < kQueueResources; ++i) {
        once_started_.all[at][i] = saturating_add(once_started_.all[at][i], amounts[i]);
        if (problem_.gangs[gang].preemptible) continue;
        once_started_.non_preemptible[at][i] = saturating_add(once_started_.non_preemptible[at][i], amounts[i]);
      }
    }
  };
  const auto add_limited = [this](GangIndex gang, const auto& amount_of) {
    if (problem_.gangs[gang].queue.is_none()) return;
    for (const OtherLimitIndex limit : problem_.queues[problem_.gangs[gang].queue].other_limits)
      once_started_.limited[limit] =
          saturating_add(once_started_.limited[limit], amount_of(problem_.lists.other_limits[limit].resource));
  };
  for (const Pod& pod : problem_.pods) {
    if (pod.status != PodStatus::kRunning) continue;
    const PodClass& pod_class = problem_.pod_classes[pod.pod_class];
    add(pod.gang, queue_usage(pod_class, problem_.class_of(pod.node)));
    add_limited(pod.gang, [&](ResourceIndex resource) { return pod_class.request[resource.value()]; });
  }
  for (const WaitingGang& gang : waiting_) {
    if (gang.turn == Inclusion::kNo) continue;
    const auto least = [&](ResourceIndex resource) {
      return least_for_minimum(problem_, problem_.gangs[gang.gang],
                               [&](PodIndex pod) { return problem_.class_of(pod).request[resource.value()]; });
    };
    add(gang.gang, {gang.gpus, least(kCpu), least(kMemory)});
    add_limited(gang.gang, least);
  }
}

// By what nodes report, as if they were empty.
bool Reservations::suits_some_node(PodIndex pod) {
  const PodSpecIndex index = snapshot_.pods[pod.value()].spec;
  const auto [known, is_new] = suits_.try_emplace(index, false);
  if (!is_new) return known->second;
  const PodSpec& spec = snapshot_.pod_specs[index];
  return known->second = std::ranges::any_of(snapshot_.nodes, [&](const SnapshotNode& node) {
           const auto has = [&node](const ResourceAmount& asked) {
             return asked.amount == 0 || std::ranges::any_of(node.resources, [&asked](const ResourceAmount& there) {
                      return there.resource == asked.resource && there.amount >= asked.amount;
                    });
           };
           return node.gpu_count >= spec.gpu.devices && std::ranges::all_of(spec.resources, has) &&
                  filter_objection(spec, node).empty();
         });
}

// Of one that is not kept back for certain.
bool Reservations::is_undecided(const WaitingGang& gang) const {
  if (!queues_[gang.queue].fits(gang) || gang.turn == Inclusion::kYes) return false;
  const Blocked& first = blocked_[gang.queue];
  if (nodes_are_open_) return true;
  if (first.gang.is_none())  // usage counts across queues
    return std::ranges::any_of(waiting_, [](const WaitingGang& other) { return is_open(&other); });
  return gang.turn == Inclusion::kOpen && gang.end > first.until;
}

KeptBack Reservations::result() const {
  KeptBack kept;
  for (const WaitingGang& gang : waiting_) {
    if (!gang.kept_back_for.is_none()) {
      kept.certain.push_back({gang.gang, gang.kept_back_for});
    } else if (is_undecided(gang)) {
      kept.undecided.push_back(gang.gang);
    }
  }
  std::ranges::sort(kept.certain, {}, &KeptBack::Entry::gang);
  std::ranges::sort(kept.undecided);
  kept.holds = holds_;
  kept.more_holds = nodes_are_open_;
  return kept;
}

}  // namespace

KeptBack kept_back(const Snapshot& snapshot, const Problem& problem) {
  if (!reserves(snapshot) || !tells_durations(snapshot)) return {};
  return Reservations(snapshot, problem).decide();
}

namespace {

void check_gangs_kept_back(Case& c, const KeptBack& kept) {
  for (const KeptBack::Entry& entry : kept.certain) {
    if (!std::ranges::binary_search(c.placed_gangs, entry.gang)) continue;
    c.object(Rule::kReserved, c.problem.gangs[entry.gang].name,
             "it is placed, but is kept back for gang " + c.quoted(entry.for_gang));
  }
}

void check_held_nodes(Case& c, const KeptBack& kept) {
  std::map<NodeIndex, const KeptBack::Hold*> hold_of;
  for (const KeptBack::Hold& hold : kept.holds) {
    for (const NodeIndex node : hold.nodes) hold_of[node] = &hold;
  }
  if (hold_of.empty()) return;
  const Forecast forecast(c.snapshot, c.problem);
  for (const Placement& placement : c.plan.placements) {
    const auto at = hold_of.find(placement.node);
    if (at == hold_of.end() || !c.problem.class_of(placement.pod).counts_as_gpu) continue;
    const KeptBack::Hold& hold = *at->second;
    const GangIndex gang = c.problem.pods[placement.pod].gang;
    if (gang == hold.for_gang || saturating_add(c.snapshot.time, forecast.duration(gang)) <= hold.until) continue;
    c.object(Rule::kReserved, c.pod(placement.pod).name,
             "it is placed on node \"" + std::string(c.node(placement.node).name) + "\", which is held for gang " +
                 c.quoted(hold.for_gang));
  }
}

}  // namespace

void check_reserved(Case& c) {
  if (!reserves(c.snapshot) || c.plan.placements.empty()) return;
  const KeptBack kept = kept_back(c.snapshot, c.problem);
  check_gangs_kept_back(c, kept);
  check_held_nodes(c, kept);
}

}  // namespace muster::referee
