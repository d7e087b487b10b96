#include "test/brute_force/inter_pod.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "model/snapshot/filters.h"

namespace muster::brute_force {
namespace {

bool is_hard(const SpreadConstraint& constraint) {
  return constraint.when_unsatisfiable == Unsatisfiable::kDoNotSchedule;
}

// All orders of one attempt, by the set of pods that are bound already: what passes depends on that alone.
class OrderSearch {
 public:
  using Place = InterPod::Place;
  OrderSearch(const Problem& problem, const std::vector<Place>& placed) : problem_(problem), placed_(placed) {}

  // `passes(place, bound)`: whether it may be bound next, in addition to the positions in `bound`.
  template <class Passes, class Visit>
  bool run(std::uint32_t bound, const Passes& passes, const Visit& visit) {
    if (order_.size() == placed_.size()) {
      is_possible_ = true;
      return visit(order_);
    }
    if (dead_.contains(bound)) return false;
    const bool was_possible = std::exchange(is_possible_, false);
    std::set<std::tuple<PodClassIndex, NodeIndex>> tried;
    for (std::size_t i = 0; i < placed_.size(); ++i) {
      if (((bound >> i) & 1U) != 0) continue;
      if (!tried.insert({problem_.pods[placed_[i].pod].pod_class, placed_[i].node}).second) continue;
      if (!passes(placed_[i], order_)) continue;
      order_.push_back(i);
      const bool is_done = run(bound | (std::uint32_t{1} << i), passes, visit);
      order_.pop_back();
      if (is_done) return true;
    }
    if (!is_possible_) dead_.insert(bound);
    is_possible_ = is_possible_ || was_possible;
    return false;
  }

 private:
  const Problem& problem_;
  const std::vector<Place>& placed_;
  InterPod::Order order_;
  std::set<std::uint32_t> dead_;  // no way to bind the rest
  bool is_possible_ = false;      // below the present step
};

}  // namespace

InterPod::InterPod(const Problem& problem) : problem_(problem), concerned_(problem.pods.size(), false) {
  std::vector<PodIndex> owners;
  for (const PodIndex index : problem.pods.indices()) {
    if (!spec(index).affinity.empty() || std::ranges::any_of(spec(index).topology_spread, is_hard))
      owners.push_back(index);
  }
  has_no_rules_ = owners.empty();
  for (const PodIndex owner : owners) {
    concerned_[owner.value()] = true;
    for (const PodIndex other : problem.pods.indices()) {
      const auto is_matched = [&](const PodTerm& term) { return matches(term, owner, other); };
      const auto is_counted = [&](const SpreadConstraint& constraint) {
        return is_hard(constraint) && counts(constraint, owner, other);
      };
      if (std::ranges::any_of(spec(owner).affinity, is_matched) ||
          std::ranges::any_of(spec(owner).topology_spread, is_counted)) {
        concerned_[other.value()] = true;
      }
    }
  }
}

bool InterPod::any_order(std::vector<Place> present, const std::vector<Place>& placed,
                         const std::function<bool(const Order&)>& visit) const {
  std::vector<std::size_t> positions;
  std::vector<Place> concerned;
  Order others;
  for (std::size_t i = 0; i < placed.size(); ++i) {
    if (!concerns(placed[i].pod)) {
      others.push_back(i);
    } else {
      positions.push_back(i);
      concerned.push_back(placed[i]);
    }
  }
  std::erase_if(present, [this](const Place& place) { return !concerns(place.pod); });
  const auto passes = [&](const Place& next, const Order& bound) {
    std::vector<Place> there = present;
    for (const std::size_t i : bound) there.push_back(concerned[i]);
    return may_be_bound(next, there);
  };
  return OrderSearch(problem_, concerned).run(0, passes, [&](const Order& order) {
    Order all = others;
    for (const std::size_t i : order) all.push_back(positions[i]);
    return visit(all);
  });
}

bool InterPod::in_namespaces(const PodTerm& term, PodIndex owner, PodIndex other) const {
  const std::string_view name = pod(other).namespace_name;
  const bool names_any = !term.namespaces.empty() || term.namespace_selector || term.all_namespaces;
  if (!names_any) return name == pod(owner).namespace_name;
  if (term.all_namespaces || std::ranges::count(term.namespaces, name) > 0) return true;
  return term.namespace_selector &&
         std::ranges::any_of(problem_.snapshot->definitions.namespaces, [&](const SnapshotNamespace& one) {
           return one.name == name && muster::matches(*term.namespace_selector, one.labels);
         });
}

bool InterPod::matches(const PodTerm& term, PodIndex owner, PodIndex other) const {
  if (term.match_gang) return problem_.pods[owner].gang == problem_.pods[other].gang;
  return term.selector && in_namespaces(term, owner, other) && muster::matches(*term.selector, pod(other).labels);
}

// The selector and what `matchLabelKeys` add select the pod. A constraint that selects all pods counts none of them.
bool InterPod::counts(const SpreadConstraint& constraint, PodIndex owner, PodIndex other) const {
  if (!constraint.selector || pod(owner).namespace_name != pod(other).namespace_name) return false;
  for (const std::string_view key : constraint.match_label_keys) {
    const auto value = label_of(pod(owner).labels, key);
    if (value && label_of(pod(other).labels, key) != value) return false;
  }
  return muster::matches(*constraint.selector, pod(other).labels);
}

bool InterPod::may_be_bound(const Place& place, const std::vector<Place>& present) const {
  return meets_affinity(place, present) &&
         std::ranges::all_of(spec(place.pod).topology_spread, [&](const SpreadConstraint& constraint) {
           return !is_hard(constraint) || meets_spread(place, constraint, present);
         });
}

bool InterPod::meets_affinity(const Place& place, const std::vector<Place>& present) const {
  const std::vector<PodTerm>& terms = spec(place.pod).affinity;
  const auto matches_all = [&](PodIndex other) {
    return std::ranges::all_of(terms, [&](const PodTerm& term) { return matches(term, place.pod, other); });
  };
  bool is_near_all = true, is_anybody_there = false;
  for (const PodTerm& term : terms) {
    const auto here = label_of(node(place.node).labels, term.topology_key);
    if (!here) return false;
    bool is_near = false;
    for (const Place& other : present) {
      const auto there = label_of(node(other.node).labels, term.topology_key);
      if (!there || !matches_all(other.pod)) continue;
      is_anybody_there = true;
      is_near = is_near || *there == *here;
    }
    is_near_all = is_near_all && is_near;
  }
  return is_near_all || (!is_anybody_there && matches_all(place.pod));
}

bool InterPod::is_eligible(PodIndex index, const SpreadConstraint& constraint, const SnapshotNode& there) const {
  const PodSpec& own = spec(index);
  const bool has_keys = std::ranges::all_of(own.topology_spread, [&](const SpreadConstraint& other) {
    return !is_hard(other) || label_of(there.labels, other.topology_key);
  });
  const bool has_affinity = node_selector_holds(own, there) && required_affinity_holds(own, there);
  return has_keys && (has_affinity || !constraint.honors_affinity) &&
         (tolerates_hard_taints(own, there) || !constraint.honors_taints);
}

bool InterPod::meets_spread(const Place& place, const SpreadConstraint& constraint,
                            const std::vector<Place>& present) const {
  const auto here = label_of(node(place.node).labels, constraint.topology_key);
  if (!here) return false;
  const bool selects_all = constraint.selector && constraint.selector->requirements.empty() &&
                           std::ranges::none_of(constraint.match_label_keys, [&](std::string_view key) {
                             return label_of(pod(place.pod).labels, key).has_value();
                           });
  std::map<std::string_view, std::int64_t> pods;
  for (const NodeIndex index : problem_.nodes.indices()) {
    if (!is_eligible(place.pod, constraint, node(index))) continue;
    std::int64_t& there = pods[*label_of(node(index).labels, constraint.topology_key)];
    if (selects_all) continue;
    there += std::ranges::count_if(
        present, [&](const Place& other) { return other.node == index && counts(constraint, place.pod, other.pod); });
  }
  std::int64_t least = 0;
  if (!pods.empty() && std::ssize(pods) >= constraint.min_domains)
    least = std::ranges::min_element(pods, {}, [](const auto& domain) { return domain.second; })->second;
  const std::int64_t itself = counts(constraint, place.pod, place.pod) ? 1 : 0;
  return (pods.contains(*here) ? pods[*here] : 0) + itself - least <= constraint.max_skew;
}

}  // namespace muster::brute_force
