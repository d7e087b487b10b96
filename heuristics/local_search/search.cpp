#include "heuristics/local_search/search.h"

#include <algorithm>
#include <functional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "heuristics/local_search/part.h"
#include "heuristics/local_search/scope.h"
#include "heuristics/local_search/seniority_exchange.h"
#include "heuristics/local_search/value.h"
#include "heuristics/preemption/eviction_rules.h"
#include "heuristics/state/fit.h"
#include "heuristics/state/gang_placement.h"
#include "heuristics/state/groups.h"
#include "heuristics/state/leading_levels.h"
#include "heuristics/state/plan_of.h"
#include "model/base/parallel.h"
#include "model/objective/evaluation.h"

namespace muster {

namespace {

constexpr std::size_t kParts = 8;          // maximum, concurrently in a round, however many threads there are
constexpr std::size_t kNodesOfAPart = 64;  // at most
constexpr std::int64_t kTrials = 200;      // of a part in a round
constexpr std::size_t kVainTurns = 20;

// Random numbers must be the same everywhere, so that standard distributions are out.
template <class Item>
void shuffle(std::vector<Item>& items, std::mt19937_64& random) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random() % i]);
}

class Search {
 public:
  Search(const Problem& problem, const FairShares& shares, const Plan& plan, const SearchOptions& options)
      : problem_(problem),
        options_(options),
        before_(problem, ClusterState::Releasing::kFreed),
        bounds_(queue_bounds(problem, before_)),
        rules_(problem, shares, before_),
        state_(carry_out(plan)),
        scope_(problem, shares, state_, plan),
        seniority_(scope_),
        leading_(problem, shares),
        values_(leading_.of(state_)),
        usage_(state_.usage()),
        victims_queues_(queues_of_victims()),
        random_(options.seed),
        taken_in_(problem.nodes.size(), 0) {}

  Plan run() {
    std::int64_t trials = 0;
    seniority_.run(state_);
    for (std::size_t vain = 0; trials < options_.most_trials && vain < most_vain_rounds() && !should_stop(); ++vain) {
      const std::vector<SearchPart> parts = next_parts(options_.most_trials - trials);
      if (parts.empty()) break;
      std::vector<std::vector<Step>> steps(parts.size());
      parallel_for(parts.size(), options_.threads, [&](std::size_t number) {
        steps[number] = improve_part(scope_, state_, parts[number], options_.stop);
      });
      for (const SearchPart& part : parts) trials += part.trials;
      const bool any = take_over(steps);
      counts_usable_ = !any;  // once no level can be bettered any more, or so it seems
      if (any) {
        vain = 0;
        seniority_.run(state_);
      }
      scope_.weigh(state_);
    }
    return filled_plan();
  }

 private:
  // Including pods for which the search has made room without intending it: those that have rules about other pods.
  Plan filled_plan() {
    const auto before = state_.checkpoint();
    if (problem_.has_company_rules()) fill_up();
    if (state_.checkpoint() != before) {
      OrderedPlan filled = ordered_plan_of(problem_, state_, evictions_);
      if (filled.unbound.empty()) return std::move(filled.plan);
      state_.rollback(before);
    }
    return plan_of(problem_, state_, evictions_);
  }

  void fill_up() {
    std::vector<GangIndex> gangs;
    for (const GangIndex gang : problem_.gangs.indices()) {
      if (std::ranges::any_of(problem_.gangs[gang].pods, [&](PodIndex pod) {
            return fit::is_pending(problem_.pods[pod]) && !state_.is_present(pod) &&
                   problem_.class_of(pod).has_company_rules();
          })) {
        gangs.push_back(gang);
      }
    }
    const auto priority = [&](GangIndex gang) { return problem_.gangs[gang].priority; };
    std::ranges::stable_sort(gangs, std::ranges::greater{}, priority);
    NodeChooser chooser(state_, bounds_, usual_rule(problem_));
    GangPlacer placer(state_, bounds_, chooser);
    MinResources min_resources;
    for (const GangIndex gang : gangs) {
      while (!should_stop() && placer.may_place(gang) && min_resources.hold(state_, gang)) {
        const auto before = state_.checkpoint();
        const bool placed = is_satisfied(state_, gang) ? placer.place_one_more(gang) : placer.place_minimum(gang);
        if (placed && state_.checkpoint() != before && is_better({})) continue;
        state_.rollback(before);
        break;
      }
    }
  }

  bool should_stop() const { return options_.stop && options_.stop(); }

  std::set<QueueIndex> queues_of_victims() const {
    std::set<QueueIndex> queues;
    for (const PlannedEviction& eviction : evictions_) {
      const QueueIndex leaf = problem_.gangs[problem_.pods[eviction.pod].gang].queue;
      if (!leaf.is_none())
        queues.insert(problem_.queues[leaf].ancestors.begin(), problem_.queues[leaf].ancestors.end());
    }
    return queues;
  }

  // Until every node has had several turns for nothing.
  std::size_t most_vain_rounds() const {
    return kVainTurns * (1 + scope_.open_nodes().size() / (kParts * kNodesOfAPart));
  }

  ClusterState carry_out(const Plan& plan) {
    ClusterState state = before_;
    for (const Eviction& eviction : plan.evictions) {
      state.take(eviction.pod);
      evictions_.push_back({eviction.pod, eviction.reason, eviction.for_gang});
    }
    for (const Placement& placement : plan.placements) state.put(placement.pod, placement.node, placement.devices);
    return state;
  }

  // --- The parts of a round: around nodes in a random order, so that gangs lie within one part if possible; waiting
  // pods are distributed over the parts.

  std::vector<SearchPart> next_parts(std::int64_t trials_left) {
    const std::size_t open = scope_.open_nodes().size();
    std::vector<SearchPart> parts(std::min(kParts, (open + kNodesOfAPart - 1) / kNodesOfAPart));
    ++round_;
    for (SearchPart& part : parts) gather(part);
    std::erase_if(parts, [](const SearchPart& part) { return part.nodes.empty(); });
    if (parts.empty()) return parts;
    deal(parts);
    for (std::size_t number = 0; number < parts.size(); ++number) {
      parts[number].number = static_cast<std::uint32_t>(number);
      parts[number].of = static_cast<std::uint32_t>(parts.size());
      parts[number].seed = random_();
      parts[number].trials = std::min(kTrials, 1 + (trials_left - 1) / std::ssize(parts));
      parts[number].counts_usable = counts_usable_;
    }
    return parts;
  }

  // In a random order, nodes with idle devices alternating with others; scattered idle capacity on a large cluster is
  // then in few parts, and is searched again before all full nodes have been searched once.
  std::vector<NodeIndex> next_turns() {
    std::vector<NodeIndex> nodes = scope_.open_nodes();
    shuffle(nodes, random_);
    const auto full = std::ranges::stable_partition(
        nodes, [&](NodeIndex node) { return idle_thousandths(problem_, node, state_.free_devices(node)) > 0; });
    const std::size_t idle = nodes.size() - full.size();
    std::vector<NodeIndex> turns;
    for (std::size_t i = 0; i < std::max(idle, full.size()); ++i) {
      if (idle > 0 && turns.size() >= std::max(2 * idle, kParts * kNodesOfAPart)) break;
      if (i < idle) turns.push_back(nodes[i]);
      if (i < full.size()) turns.push_back(full[i]);
    }
    std::ranges::reverse(turns);  // they are taken from the back
    return turns;
  }

  void gather(SearchPart& part) {
    std::size_t next = 0;  // of its nodes, whose gangs are examined
    while (part.nodes.size() < kNodesOfAPart) {
      if (next < part.nodes.size()) {
        gather_gangs(part, part.nodes[next++]);
        continue;
      }
      const bool begins_again = order_.empty();
      if (begins_again) {
        if (!part.nodes.empty() || scope_.open_nodes().empty()) return;
        order_ = next_turns();
      }
      const NodeIndex node = order_.back();
      order_.pop_back();
      if (taken_in_[node] != round_) take(node, part);
      if (begins_again && order_.empty()) return;
    }
  }

  void gather_gangs(SearchPart& part, NodeIndex node) {
    for (const PodIndex pod : state_.pods_on(node)) {
      const Gang& gang = problem_.gangs[problem_.pods[pod].gang];
      if (gang.pods.size() == 1 || part.nodes.size() + gang.pods.size() > kNodesOfAPart) continue;
      const auto may_come = [&](PodIndex other) {
        if (!state_.is_present(other)) return true;
        const NodeIndex there = state_.node_of(other);
        return scope_.may_move(other) && scope_.is_open(there) &&
               (taken_in_[there] != round_ || std::ranges::find(part.nodes, there) != part.nodes.end());
      };
      if (!std::ranges::all_of(gang.pods, may_come)) continue;
      for (const PodIndex other : gang.pods) {
        if (state_.is_present(other) && taken_in_[state_.node_of(other)] != round_) take(state_.node_of(other), part);
      }
    }
  }

  void take(NodeIndex node, SearchPart& part) {
    taken_in_[node] = round_;
    part.nodes.push_back(node);
  }

  void deal(std::vector<SearchPart>& parts) {
    std::vector<PodIndex> singles;
    std::vector<GangIndex> bundles;
    for (const GangIndex index : problem_.gangs.indices()) {
      if (!scope_.may_add(index)) continue;
      const Gang& gang = problem_.gangs[index];
      if (scope_.spare(state_, index) < -1) {
        if (could_complete(gang)) bundles.push_back(index);
        continue;
      }
      for (const PodIndex pod : gang.pods) {
        if (!waits(pod)) continue;
        if (gang.pods.size() == 1) {
          singles.push_back(pod);
        } else {
          parts[index.value() % parts.size()].singles.push_back(pod);
        }
      }
    }
    shuffle(singles, random_);
    shuffle(bundles, random_);
    for (std::size_t i = 0; i < singles.size(); ++i) parts[i % parts.size()].singles.push_back(singles[i]);
    for (std::size_t i = 0; i < bundles.size(); ++i) parts[i % parts.size()].bundles.push_back(bundles[i]);
  }

  bool waits(PodIndex pod) const {
    return fit::is_pending(problem_.pods[pod]) && !state_.is_present(pod) && scope_.may_move(pod);
  }
  // No pod of the gang is present, and all pods that its minimum needs wait.
  bool could_complete(const Gang& gang) const {
    return state_.members(gang.root) == 0 && std::ranges::count_if(gang.pods, [&](PodIndex pod) {
                                               return waits(pod);
                                             }) >= problem_.groups[gang.root].minimum;
  }

  // --- What they found

  // All of it in one step if that is an improvement; else step by step. Returns whether anything was kept.
  bool take_over(const std::vector<std::vector<Step>>& found) {
    const auto before = state_.checkpoint();
    const std::int64_t wishes = state_.wishes().value();
    Gain gain;
    bool holds = true;
    for (const std::vector<Step>& steps : found) {
      for (const Step& step : steps) {
        holds = holds && carry_out(step);
        gain += step.gain;
      }
    }
    if (state_.checkpoint() == before) return false;
    gain.preference += state_.wishes().value() - wishes - gain.wishes;
    if (holds && is_better(gain)) return true;
    state_.rollback(before);
    bool any = false;
    for (const std::vector<Step>& steps : found) {
      for (const Step& step : steps) {
        if (should_stop()) return any;
        const auto here = state_.checkpoint();
        const std::int64_t wishes_here = state_.wishes().value();
        const bool is_done = carry_out(step);
        Gain own = step.gain;
        own.preference += state_.wishes().value() - wishes_here - own.wishes;
        if (is_done && is_better(own)) {
          any = true;
        } else {
          state_.rollback(here);
        }
      }
    }
    return any;
  }

  // Whether the levels of the current state are better than before; the later ones by the gain.
  bool is_better(const Gain& gain) {
    if (!evictions_.empty() && (!rules_.hold(state_, evictions_) || !keeps_victims_out())) return false;
    std::vector<Work> values = leading_.of(state_);
    if (values < values_) return false;
    if (values == values_) {
      Gain later = gain;
      later.worth = 0;
      return later > Gain{};
    }
    values_ = std::move(values);
    return true;
  }

  // No queue with evicted pods uses less than before: else the victim might have stayed.
  bool keeps_victims_out() const {
    return std::ranges::all_of(victims_queues_, [&](QueueIndex queue) {
      return std::ranges::equal(usage_[queue], state_.usage()[queue], std::ranges::less_equal{});
    });
  }

  bool carry_out(const Step& step) {
    for (const Change& change : step.changes) {
      if (change.from.node.is_none()) continue;
      if (!state_.is_present(change.pod) || !(state_.place_of(change.pod) == change.from)) return false;
      state_.take(change.pod);
    }
    for (const Change& change : step.changes) {
      if (change.to.node.is_none()) continue;
      if (state_.is_present(change.pod) || !fits(change.pod, change.to)) return false;
      state_.put(change.pod, change.to.node, change.to.devices);
    }
    return std::ranges::all_of(step.changes, [&](const Change& change) {
      const GangIndex gang = problem_.pods[change.pod].gang;
      return is_satisfied(state_, gang) || !is_anything_present(state_, gang);
    });
  }

  bool fits(PodIndex pod, const Place& place) const {
    return can_place(state_, bounds_, pod, place.node) &&
           fit::devices_at(room_of(state_, place.node), problem_, problem_.class_of(pod), place.node, place.devices);
  }

  const Problem& problem_;
  const SearchOptions& options_;
  std::vector<PlannedEviction> evictions_;
  ClusterState before_;
  QueueBounds bounds_;
  EvictionRules rules_;
  ClusterState state_;
  SearchScope scope_;
  SeniorityExchange seniority_;
  LeadingLevels leading_;
  std::vector<Work> values_;                 // of the leading levels
  Indexed<QueueIndex, QueueAmounts> usage_;  // as the plan has it
  std::set<QueueIndex> victims_queues_;      // and all above them
  std::mt19937_64 random_;
  std::vector<NodeIndex> order_;  // nodes that have not had their turn
  std::uint32_t round_ = 0;
  bool counts_usable_ = true;
  Indexed<NodeIndex, std::uint32_t> taken_in_;  // the last round in which it was in a part
};

}  // namespace

Candidate search(const Problem& problem, const FairShares& shares, const Candidate& incumbent,
                 const SearchOptions& options) {
  Plan plan = Search(problem, shares, incumbent.plan, options).run();
  Levels levels = evaluate(problem, shares, plan);
  if (compare(levels, incumbent.levels, level_ids(problem)) < 0) return incumbent;
  return {std::move(plan), std::move(levels)};
}

}  // namespace muster
