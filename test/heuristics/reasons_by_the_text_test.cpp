// Reasons, makeRoom and blockers of gangs that greedy plans leave pending, against a second implementation of
// docs/semantics.md ("Reasons") with separate arithmetic. Gangs are flat and of equal pods with whole GPUs, so that "it
// fits" is a sum of quotients; gangs with a surplus are not protected.
#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "heuristics/greedy/greedy.h"
#include "heuristics/state/candidate.h"
#include "model/explain/report.h"
#include "model/objective/evaluation.h"
#include "test/support/case.h"

namespace muster {
namespace {

class ClusterDraw {
 public:
  explicit ClusterDraw(std::uint64_t seed) : random_(seed) {}

  test::Cluster draw() {
    std::string actions = R"("actions":["place")";
    for (const char* action : {"consolidate", "reclaim", "preempt"}) actions += chance(70) ? quoted(action, ",") : "";
    drawn_.policy(actions + "]");
    const int nodes = number(1, 4);
    for (int n = 0; n < nodes; ++n) drawn_.node("n" + std::to_string(n), node());
    drawn_.queue("org");
    const std::string c = queue(""), b = queue("org"), a = queue("org");
    drawn_.queue("a", a).queue("b", b).queue("c", c);
    const int gangs = number(3, 9);
    for (int g = 0; g < gangs; ++g) add_gang(g);
    return drawn_;
  }

 private:
  int number(int least, int most) {
    return least + static_cast<int>(random_() % static_cast<std::uint64_t>(most - least + 1));
  }
  bool chance(int percent) { return number(1, 100) <= percent; }
  static std::string quoted(const std::string& text, const char* before = "") { return before + ('"' + text + '"'); }

  std::string node() {
    const int gpus = number(0, 4), cpu = number(2, 8);
    gpus_left_.push_back(gpus);
    cpu_left_.push_back(cpu);
    std::string text = R"("resources":{"cpu":)" + std::to_string(cpu) + R"(,"memory":)" + std::to_string(number(2, 8)) +
                       R"(,"pods":)" + std::to_string(number(4, 9)) + R"(},"gpus":{"count":)" + std::to_string(gpus) +
                       R"(},"labels":{"pool":")" + (chance(50) ? "x" : "y") + R"("})";
    if (chance(15)) text += R"(,"taints":[{"key":"t","effect":"NoSchedule"}])";
    if (chance(10)) text += R"(,"unschedulable":true)";
    return text;
  }

  std::string queue(const std::string& parent) {
    std::string text = parent.empty() ? "" : R"(,"parent":)" + quoted(parent);
    if (chance(80)) {
      text += R"(,"gpu":{"quota":)" + std::to_string(number(0, 4));
      if (chance(25)) text += R"(,"limit":)" + std::to_string(number(2, 6));
      text += "}";
    }
    if (chance(20)) text += R"(,"cpu":{"quota":)" + std::to_string(number(0, 8)) + "}";
    if (chance(25)) text += R"(,"preemptMinRuntime":"100s")";
    if (chance(25)) text += R"(,"reclaimMinRuntime":"100s")";
    return text.empty() ? text : text.substr(1);
  }

  void add_gang(int g) {
    const std::string name = "g" + std::to_string(g);
    const int size = number(1, 4), gpu = number(0, 2), cpu = number(gpu == 0 ? 1 : 0, 3);
    const bool runs = chance(50);
    const int minimum = chance(70) ? size : number(1, size + 1);
    static constexpr std::array kQueues{"a", "b", "c", "a", "b", "c", "a", "b", "org", "nowhere"};
    std::string queue_name = kQueues[static_cast<std::size_t>(number(0, runs ? 7 : 9))];
    std::string text = R"("queue":)" + quoted(queue_name) + R"(,"minMember":)" + std::to_string(minimum) +
                       R"(,"priority":)" + std::to_string(10 * number(0, 3));
    if (chance(20)) text += R"(,"preemptible":false)";
    if (chance(10)) text += R"(,"preemptionPolicy":"Never")";
    if (chance(15)) text += R"(,"created":999000,"timeout":)" + std::to_string(chance(50) ? 500 : 2000);
    drawn_.gang(name, text);
    const std::string selector = chance(25) ? R"(,"nodeSelector":{"pool":"x"})" : "";
    // Whether surplus is protected would depend on where it is.
    const int started = minimum < size ? 0 : chance(50) ? 999950 : 999000;
    for (int p = 0; p < size; ++p) {
      std::string pod = R"("gang":)" + quoted(name) + selector;
      pod += R"(,"resources":{"cpu":)" + std::to_string(cpu) + R"(,"memory":1})";
      if (gpu > 0) pod += R"(,"gpu":{"count":)" + std::to_string(gpu) + "}";
      const std::size_t node = runs && chance(85) ? node_with(gpu, cpu) : gpus_left_.size();
      if (node < gpus_left_.size()) {
        pod += R"(,"node":"n)" + std::to_string(node) + R"(","started":)" + std::to_string(started);
      } else if (chance(10)) {
        pod += R"(,"status":"gated")";
      }
      drawn_.pod(name + "-" + std::to_string(p), pod);
    }
  }

  std::size_t node_with(int gpu, int cpu) {
    for (std::size_t n = 0; n < gpus_left_.size(); ++n) {
      if (gpus_left_[n] < gpu || cpu_left_[n] < cpu || pods_on_[n] >= 2) continue;
      gpus_left_[n] -= gpu;
      cpu_left_[n] -= cpu;
      ++pods_on_[n];
      return n;
    }
    return gpus_left_.size();
  }

  std::mt19937_64 random_;
  std::vector<int> gpus_left_, cpu_left_;
  std::map<std::size_t, int> pods_on_;
  test::Cluster drawn_;
};

// GPUs, cpu, memory, pods.
using Room = std::array<std::int64_t, 4>;
constexpr std::array kInsufficient{"InsufficientGpu", "InsufficientCpu", "InsufficientMemory", "InsufficientPods"};

struct Told {
  std::string reason, make_room;
  std::map<std::string, std::int64_t> blockers;
};

// The second reading.
class Reading {
 public:
  Reading(const Problem& problem, const FairShares& shares, const Plan& plan)
      : problem_(problem), snapshot_(*problem.snapshot), shares_(shares), at_(problem.pods.size()) {
    for (const PodIndex pod : problem.pods.indices()) {
      if (problem.pods[pod].status == PodStatus::kRunning) at_[pod] = problem.pods[pod].node;
    }
    before_ = usage(false);
    for (const Eviction& eviction : plan.evictions) at_[eviction.pod] = NodeIndex::none();
    for (const Placement& placement : plan.placements) at_[placement.pod] = placement.node;
    after_ = usage(false);
    fixed_ = usage(true);
  }

  // Of a gang that is below its minimum after the plan and has pods that are pending or gated.
  Told of(GangIndex index) {
    gang_ = index;
    const Gang& gang = problem_.gangs[index];
    std::int64_t there = 0, waiting = 0, gated = 0, pending = 0, ran = 0;
    for (const PodIndex pod : gang.pods) {
      const PodStatus status = problem_.pods[pod].status;
      const bool is_there = !at_[pod].is_none();
      there += is_there;
      waiting += !is_there && (status == PodStatus::kPending || status == PodStatus::kRunning);
      pending += status == PodStatus::kPending;
      ran += status == PodStatus::kRunning;
      gated += status == PodStatus::kGated;
    }
    minimum_ = problem_.groups[gang.root].minimum;
    needed_ = minimum_ - there;
    ask_ = request(gang.pods.front());
    const GangTerms& terms = snapshot_.gangs[index.value()].terms;
    const bool waits = pending > 0 || (ran == 0 && gated > 0);
    if (waits && terms.timeout && snapshot_.time - terms.created.value_or(snapshot_.time) >= *terms.timeout)
      return {"SchedulingTimeout", "", {}};
    if (waiting == 0 || (there + waiting < minimum_ && there + waiting + gated >= minimum_)) return {"Gated", "", {}};
    if (there + waiting < minimum_) return {"NotEnoughPods", "", {}};
    if (gang.queue.is_none() || !problem_.queues[gang.queue].children.empty()) return {"UnknownQueue", "", {}};
    const std::string reason = reason_by_room();
    const std::map<std::string, std::int64_t> blocked = blockers();
    std::string room = make_room(reason == "OutOfTime");
    if (room == "FairShare" && lacks_pods_alone(blocked) && keeps_shares()) room = "NoShares";
    return {reason, room, blocked};
  }

 private:
  Room request(PodIndex pod) const {
    Room room{0, 0, 0, 1};
    const PodSpec& spec = snapshot_.pod_specs[snapshot_.pods[pod.value()].spec];
    room[0] = spec.gpu.devices;
    for (const ResourceAmount& one : spec.resources) {
      if (one.resource == kCpu) room[1] = one.amount;
      if (one.resource == kMemory) room[2] = one.amount;
    }
    return room;
  }
  Room capacity(std::size_t node) const {
    Room room{snapshot_.nodes[node].gpu_count, 0, 0, 0};
    for (const ResourceAmount& one : snapshot_.nodes[node].resources) {
      if (one.resource == kCpu) room[1] = one.amount;
      if (one.resource == kMemory) room[2] = one.amount;
      if (one.resource == kPods) room[3] = one.amount;
    }
    return room;
  }
  // Of each queue on its way to the root: GPUs in millionths, cpu, memory.
  Indexed<QueueIndex, QueueAmounts> usage(bool fixed_only) const {
    Indexed<QueueIndex, QueueAmounts> sum(problem_.queues.size(), QueueAmounts{});
    for (const PodIndex pod : problem_.pods.indices()) {
      const Gang& gang = problem_.gangs[problem_.pods[pod].gang];
      if (at_[pod].is_none() || (fixed_only && gang.preemptible)) continue;
      const Room asks = request(pod);
      for (QueueIndex queue = gang.queue; !queue.is_none(); queue = problem_.queues[queue].parent) {
        for (std::size_t r = 0; r < 3; ++r) sum[queue][r] += asks[r] * (r == 0 ? 1'000'000 : 1);
      }
    }
    return sum;
  }
  std::vector<Room> free_without(const std::set<PodIndex>& gone) const {
    std::vector<Room> free;
    for (std::size_t n = 0; n < snapshot_.nodes.size(); ++n) free.push_back(capacity(n));
    for (const PodIndex pod : problem_.pods.indices()) {
      if (at_[pod].is_none() || gone.contains(pod)) continue;
      for (std::size_t r = 0; r < 4; ++r) free[at_[pod].value()][r] -= request(pod)[r];
    }
    return free;
  }
  // "" where the node lets the gang's pods in, else the first filter that does not.
  std::string filter(std::size_t n) const {
    const SnapshotNode& node = snapshot_.nodes[n];
    if (node.unschedulable) return "Unschedulable";
    if (!node.taints.empty()) return "UntoleratedTaint";
    const PodSpec& spec = snapshot_.pod_specs[snapshot_.pods[problem_.gangs[gang_].pods.front().value()].spec];
    for (const auto& [key, value] : spec.node_selector) {
      const bool has = std::ranges::any_of(
          node.labels, [&, k = key, v = value](const auto& label) { return label.first == k && label.second == v; });
      if (!has) return "NodeSelector";
    }
    return "";
  }
  std::int64_t fitting(const Room& room) const {
    std::int64_t most = 1'000'000;
    for (std::size_t r = 0; r < 4; ++r) {
      if (ask_[r] > 0) most = std::min(most, std::max<std::int64_t>(room[r], 0) / ask_[r]);
    }
    return most;
  }
  std::int64_t fitting(const std::vector<Room>& rooms, bool filtered) const {
    std::int64_t sum = 0;
    for (std::size_t n = 0; n < rooms.size(); ++n) sum += filtered && !filter(n).empty() ? 0 : fitting(rooms[n]);
    return sum;
  }
  std::int64_t demand(std::size_t r) const { return needed_ * ask_[r] * (r == 0 ? 1'000'000 : 1); }

  // Whether what the gang still needs would take one of its queues beyond the bound.
  template <class Bound>
  bool exceeds(const Indexed<QueueIndex, QueueAmounts>& used, const Bound& bound_of, QueueIndex up_to) const {
    for (QueueIndex queue = problem_.gangs[gang_].queue; !queue.is_none(); queue = problem_.queues[queue].parent) {
      for (std::size_t r = 0; r < 3; ++r) {
        const Amount bound = bound_of(queue)[r];
        if (demand(r) > 0 && bound != kUnlimited && used[queue][r] + demand(r) > bound) return true;
      }
      if (queue == up_to) break;
    }
    return false;
  }
  bool exceeds_limit(const Indexed<QueueIndex, QueueAmounts>& used) const {
    return exceeds(
        used, [&](QueueIndex queue) { return problem_.queues[queue].limit; }, QueueIndex::none());
  }
  bool exceeds_quota() const {
    return !problem_.gangs[gang_].preemptible &&
           exceeds(
               fixed_, [&](QueueIndex queue) { return problem_.queues[queue].quota; }, QueueIndex::none());
  }

  std::string reason_by_room() const {
    const std::string reason = reason_by_nodes();
    if (reason == "OutOfTime" || might_start_without_bounds()) {
      if (exceeds_limit(after_)) return "LimitExceeded";
      if (exceeds_quota()) return "NonPreemptibleOverQuota";
    }
    return reason;
  }

  bool might_start_without_bounds() const {
    const bool may_move =
        snapshot_.policy.actions.consolidate && snapshot_.policy.max_moves.value_or(1) > 0 && some_pod_may_move();
    Room sum{};
    for (const Room& free : free_without({})) {
      for (std::size_t r = 0; r < 4; ++r) sum[r] += std::max<std::int64_t>(free[r], 0);
    }
    bool is_free_in_total = true;
    for (std::size_t r = 0; r < 4; ++r) is_free_in_total = is_free_in_total && sum[r] >= needed_ * ask_[r];
    const bool may_evict = problem_.gangs[gang_].preemption_policy != PreemptionPolicy::kNever;
    return (may_move && is_free_in_total) ||
           (may_evict &&
            fits_after_evicting({.actions = true, .share = true, .priority = true, .protection = true}, false));
  }
  bool some_pod_may_move() const {
    return std::ranges::any_of(problem_.pods.indices(), [&](PodIndex pod) {
      const Pod& p = problem_.pods[pod];
      return p.status == PodStatus::kRunning && !at_[pod].is_none() && problem_.gangs[p.gang].preemptible;
    });
  }

  std::string reason_by_nodes() const {
    std::vector<Room> empty;
    for (std::size_t n = 0; n < snapshot_.nodes.size(); ++n) empty.push_back(capacity(n));
    const std::vector<Room> free = free_without({});
    const bool fits_beside = needed_ < minimum_ && fitting(free, true) >= needed_;
    if (!fits_beside && fitting(empty, false) < minimum_) return "NeverFits";
    if (!fits_beside && fitting(empty, true) < minimum_) return "NodeMismatch";
    Room sum{};
    for (std::size_t n = 0; n < free.size(); ++n) {
      for (std::size_t r = 0; r < 4; ++r) sum[r] += filter(n).empty() ? std::max<std::int64_t>(free[n][r], 0) : 0;
    }
    for (std::size_t r = 0; r < 4; ++r) {
      if (sum[r] < needed_ * ask_[r]) return kInsufficient[r];
    }
    return fitting(free, true) < needed_ ? "Fragmented" : "OutOfTime";
  }

  struct Rules {
    bool actions = false, share = false, priority = false, protection = false;
  };
  bool fits_after_evicting(const Rules& rules, bool with_bounds = true) const {
    std::set<PodIndex> gone;
    Indexed<QueueIndex, QueueAmounts> used = after_;
    for (const PodIndex pod : problem_.pods.indices()) {
      const Pod& p = problem_.pods[pod];
      const Gang& victim = problem_.gangs[p.gang];
      if (p.status != PodStatus::kRunning || at_[pod].is_none() || !victim.preemptible || p.gang == gang_) continue;
      if (!may_go(p, victim, rules)) continue;
      gone.insert(pod);
      for (QueueIndex queue = victim.queue; !queue.is_none(); queue = problem_.queues[queue].parent) {
        for (std::size_t r = 0; r < 3; ++r) used[queue][r] -= request(pod)[r] * (r == 0 ? 1'000'000 : 1);
      }
    }
    const bool is_within = !with_bounds || (!exceeds_limit(used) && !exceeds_quota());
    return !gone.empty() && is_within && fitting(free_without(gone), true) >= needed_;
  }
  bool may_go(const Pod& pod, const Gang& victim, const Rules& rules) const {
    const Gang& claimant = problem_.gangs[gang_];
    const Actions& actions = snapshot_.policy.actions;
    const bool is_core = std::ssize(victim.pods) <= problem_.groups[victim.root].minimum;
    if (victim.queue == claimant.queue) {
      if (rules.actions && !actions.preempt) return false;
      if (rules.priority && victim.priority >= claimant.priority) return false;
      return !rules.protection || !is_core || pod.run_time >= problem_.queues[victim.queue].preempt_min_runtime;
    }
    if (rules.actions && !actions.reclaim) return false;
    // a and b are below org, c is next to it.
    const bool is_far = problem_.queues[victim.queue].parent != problem_.queues[claimant.queue].parent;
    const auto top = [&](QueueIndex queue) {
      const QueueIndex parent = problem_.queues[queue].parent;
      return is_far && !parent.is_none() ? parent : queue;
    };
    const QueueIndex mine = top(claimant.queue), theirs = top(victim.queue);
    if (rules.share && !is_ground(mine, theirs)) return false;
    return !rules.protection || !is_core || pod.run_time >= problem_.queues[theirs].reclaim_min_runtime;
  }
  bool is_ground(QueueIndex mine, QueueIndex theirs) const {
    if (exceeds(
            after_, [&](QueueIndex queue) { return shares_.share[queue]; }, mine))
      return false;
    bool over_share = false, over_quota = false, within_quota = true;
    for (std::size_t r = 0; r < 3; ++r) {
      if (ask_[r] == 0) continue;
      const auto is_over = [](Amount amount, Amount bound) { return bound != kUnlimited && amount > bound; };
      over_share = over_share || is_over(before_[theirs][r], shares_.share[theirs][r]);
      over_quota = over_quota || is_over(before_[theirs][r], problem_.queues[theirs].quota[r]);
      within_quota = within_quota && !is_over(after_[mine][r] + demand(r), problem_.queues[mine].quota[r]);
    }
    return over_share || (over_quota && within_quota);
  }

  std::string make_room(bool fits_already) const {
    const Actions& actions = snapshot_.policy.actions;
    if (!actions.consolidate && !actions.preempt && !actions.reclaim) return "NotAllowed";
    const bool is_enough = !fits_already && fits_after_evicting({});
    if (is_enough && !fits_after_evicting({.actions = true})) return "NotAllowed";
    if (problem_.gangs[gang_].preemption_policy == PreemptionPolicy::kNever) return "Policy";
    if (fits_already) return "OutOfTime";
    if (!is_enough) return "NotEnough";
    if (!fits_after_evicting({.actions = true, .share = true, .priority = true})) {
      const bool without_shares = fits_after_evicting({.actions = true, .priority = true});
      const bool without_priorities = fits_after_evicting({.actions = true, .share = true});
      return without_priorities && !without_shares ? "Priority" : "FairShare";
    }
    if (!fits_after_evicting({.actions = true, .share = true, .priority = true, .protection = true}))
      return "Protected";
    return "OutOfTime";  // nothing is proven
  }

  // Room for pods, which have no shares.
  static bool lacks_pods_alone(const std::map<std::string, std::int64_t>& blocked) {
    return blocked.contains("InsufficientPods") && !blocked.contains("InsufficientGpu") &&
           !blocked.contains("InsufficientCpu") && !blocked.contains("InsufficientMemory");
  }
  bool keeps_shares() const {
    return !exceeds(
        after_, [&](QueueIndex queue) { return shares_.share[queue]; }, QueueIndex::none());
  }

  // As many as fit are placed, if that is not all that is needed.
  std::map<std::string, std::int64_t> blockers() const {
    std::vector<Room> free = free_without({});
    const bool is_full = fitting(free, true) < needed_;
    std::map<std::string, std::int64_t> tally;
    for (std::size_t n = 0; n < free.size(); ++n) {
      std::string code = filter(n);
      const std::int64_t put = code.empty() && is_full ? fitting(free[n]) : 0;
      for (std::size_t r = 0; r < 4 && code.empty(); ++r) {
        if (ask_[r] > 0 && free[n][r] - put * ask_[r] < ask_[r]) code = kInsufficient[r];
      }
      ++tally[code.empty() ? "Available" : code];
    }
    return tally;
  }

  const Problem& problem_;
  const Snapshot& snapshot_;
  const FairShares& shares_;
  Indexed<PodIndex, NodeIndex> at_;
  Indexed<QueueIndex, QueueAmounts> before_, after_, fixed_;
  GangIndex gang_;
  std::int64_t minimum_ = 0, needed_ = 0;
  Room ask_{};
};

std::string text_of(const Told& told) {
  std::string text = told.reason + " / " + told.make_room;
  for (const auto& [code, nodes] : told.blockers) text += " " + code + ":" + std::to_string(nodes);
  return text;
}

TEST(ReasonsByTheText, AreThoseOfASecondReading) {
  std::map<std::string, int> reasons, make_room;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    const test::Case built(ClusterDraw(seed).draw());
    const FairShares& shares = built.shares();
    greedy::GreedyOptions options;
    options.starts = 2;
    const Candidate candidate = seed % 4 == 0 ? Candidate{Plan{}, evaluate(*built, shares, Plan{})}
                                              : greedy::solve_greedy(*built, shares, options);
    Reading reading(*built, shares, candidate.plan);
    for (const explain::GangReport& entry :
         explain::describe(*built, shares, {candidate.plan, candidate.levels, {}, false}).gangs) {
      const bool has_minimum = entry.phase == explain::GangPhase::kRunning ||
                               entry.phase == explain::GangPhase::kScheduled ||
                               entry.phase == explain::GangPhase::kWaiting;
      if (entry.phase == explain::GangPhase::kEvicted || entry.phase == explain::GangPhase::kStale)
        continue;  // reason: eviction
      if (entry.pending == 0 || has_minimum || built->groups[built->gangs[entry.gang].root].minimum == 0) continue;
      Told told{explain::reason_text(entry.reason), std::string(explain::make_room_text(entry.make_room)), {}};
      for (const explain::Blocker& blocker : entry.blockers)
        told.blockers[filter_text(blocker.filter)] += blocker.nodes;
      ASSERT_EQ(text_of(told), text_of(reading.of(entry.gang)))
          << "seed " << seed << ", gang " << built->gangs[entry.gang].name << "\n"
          << built.line();
      ++reasons[told.reason];
      ++make_room[told.make_room];
    }
  }
  EXPECT_GE(reasons.size(), 12U) << "most of the reasons are meant to come up";
  EXPECT_EQ(make_room.size(), 9U) << "and all of makeRoom but Outranked, and none";
}

}  // namespace
}  // namespace muster
