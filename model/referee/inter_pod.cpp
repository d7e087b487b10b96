// Rules Affinity and Spread: required pod affinity, and topology spread with DoNotSchedule, as kube-scheduler checks
// them when it binds the placements one after another, in the order of the plan. From the beginning, leaving pods
// anchor no other pod and do not count towards the minimum over the domains of a spread. Until it is gone, a leaving
// pod still blocks a pod that would be the first of its affinity and, unless it is releasing already, counts as one
// more pod in its domain of a spread.
#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>

#include "model/base/words.h"
#include "model/referee/case.h"

namespace muster::referee {
namespace {

const std::string_view* label(const Labels& labels, std::string_view key) {
  const auto at = std::ranges::find(labels, key, &Labels::value_type::first);
  return at == labels.end() ? nullptr : &at->second;
}

bool selects(const LabelSelector& selector, const Labels& labels) {
  for (const SelectorRequirement& requirement : selector.requirements) {
    const std::string_view* value = label(labels, requirement.key);
    const bool is_listed = value && std::ranges::find(requirement.values, *value) != requirement.values.end();
    const bool is_met = requirement.op == SelectorOperator::kIn      ? is_listed
                        : requirement.op == SelectorOperator::kNotIn ? !is_listed
                        : requirement.op == SelectorOperator::kExists
                            ? value != nullptr
                            : requirement.op == SelectorOperator::kDoesNotExist && value == nullptr;
    if (!is_met) return false;
  }
  return true;
}

// The affinity of all placed pods with equal requirements on the same pods.
struct Affinity {
  const std::vector<PodTerm>* terms = nullptr;
  std::string_view own_namespace;
  GangIndex own_gang;
  std::vector<std::unordered_map<std::string_view, std::int64_t>> in_domain;  // by term: pods that match, by value
  std::int64_t anywhere = 0;
};

// One constraint of all placed pods that share it, their namespace and what their labels add to it.
struct Spread {
  const SpreadConstraint* constraint = nullptr;
  std::string_view own_namespace;
  std::optional<LabelSelector> selector;
  const std::vector<bool>* counts = nullptr;                // by node
  std::unordered_map<std::string_view, std::int64_t> pods;  // by value of the key, of nodes that count
  std::map<std::int64_t, std::int64_t> domains;             // number of domains that have a given number of pods
  std::unordered_map<std::string_view, std::vector<PodIndex>> leaving;  // those evicted, by value
};

struct PodRoles {
  std::size_t affinity = 0;  // position + 1; 0: none
  std::vector<std::size_t> spreads, matches_affinity, matches_spread;
};

// Which rules may match a pod: by a label that they use, by gang, or any pod.
class RuleIndex {
 public:
  void add(std::size_t rule, const LabelSelector* selector, GangIndex gang) {
    if (!gang.is_none()) return by_gang_[gang].push_back(rule);
    if (selector) {
      const auto asks_values = [](const SelectorRequirement& asked) { return asked.op == SelectorOperator::kIn; };
      const auto asked = std::ranges::find_if(selector->requirements, asks_values);
      if (asked != selector->requirements.end()) {
        for (const std::string_view value : asked->values) by_label_[{asked->key, value}].push_back(rule);
        return;
      }
    }
    any_.push_back(rule);
  }

  // Ascending. All that match are among them.
  std::vector<std::size_t> candidates(const Labels& labels, GangIndex gang) const {
    std::vector<std::size_t> found = any_;
    const auto append = [&found](const auto& rules, const auto& key) {
      const auto at = rules.find(key);
      if (at != rules.end()) found.insert(found.end(), at->second.begin(), at->second.end());
    };
    append(by_gang_, gang);
    for (const auto& label : labels) append(by_label_, label);
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

 private:
  std::map<std::pair<std::string_view, std::string_view>, std::vector<std::size_t>> by_label_;
  std::map<GangIndex, std::vector<std::size_t>> by_gang_;
  std::vector<std::size_t> any_;
};

class InterPod {
 public:
  explicit InterPod(Case& c) : c_(c) {
    for (const Placement& placement : c.plan.placements) {
      const PodSpec& spec = c.spec(placement.pod);
      if (!spec.affinity.empty()) add_affinity(placement.pod);
      for (const SpreadConstraint& constraint : spec.topology_spread) {
        if (constraint.when_unsatisfiable == Unsatisfiable::kDoNotSchedule) add_spread(placement.pod, constraint);
      }
    }
    for (const PodIndex pod : c.problem.pods.indices()) {
      if (c.leaves(pod) && !c.node_before(pod).is_none()) leaving_.push_back(pod);
    }
    index_rules();
  }

  bool empty() const { return affinities_.empty() && spreads_.empty(); }

  // Binds all placements except those of `back`, which stay where they ran; calls `object` for each one that may not be
  // bound.
  template <class Object>
  void carry_out(std::span<const PodIndex> back, const Object& object) {
    begin();
    for (const PodIndex pod : c_.problem.pods.indices()) {
      const bool is_back = std::ranges::find(back, pod) != back.end();
      if (c_.stays(pod) || is_back) {
        count(pod, c_.node_before(pod));
      } else if (c_.eviction[pod]) {
        note_leaving(pod);
      }
    }
    for (const std::size_t position : binding_order(c_.plan, c_.snapshot)) {
      const Placement& placement = c_.plan.placements[position];
      if (std::ranges::find(back, placement.pod) != back.end()) continue;
      check_affinity(placement, back, object);
      check_spreads(placement, object);
      count(placement.pod, placement.node);
    }
  }

  // Whether any rule applies to the pod.
  bool concerns(PodIndex pod) {
    const PodRoles& roles = roles_of(pod);
    return roles.affinity != 0 || !roles.spreads.empty() || !roles.matches_affinity.empty() ||
           !roles.matches_spread.empty();
  }

 private:
  void add_affinity(PodIndex pod) {
    const SnapshotPod& own = c_.pod(pod);
    const std::vector<PodTerm>& terms = c_.spec(pod).affinity;
    const bool by_gang = std::ranges::any_of(terms, &PodTerm::match_gang);
    const GangIndex gang = by_gang ? c_.problem.pods[pod].gang : GangIndex::none();
    const auto [at, is_new] = affinity_at_.try_emplace({own.spec, own.namespace_name, gang}, affinities_.size());
    if (is_new) affinities_.push_back({&terms, own.namespace_name, gang, {}, 0});
    affinity_of_[pod] = at->second + 1;
  }

  void add_spread(PodIndex pod, const SpreadConstraint& constraint) {
    const SnapshotPod& own = c_.pod(pod);
    std::vector<std::string_view> values;
    std::optional<LabelSelector> selector = constraint.selector;
    for (const std::string_view key : constraint.match_label_keys) {
      const std::string_view* value = label(own.labels, key);
      values.push_back(value ? *value : std::string_view());
      values.push_back(value ? "1" : "0");
      if (value && selector) selector->requirements.push_back({key, SelectorOperator::kIn, {*value}});
    }
    const auto [at, is_new] = spread_at_.try_emplace({&constraint, own.namespace_name, values}, spreads_.size());
    if (is_new) {
      spreads_.push_back({&constraint, own.namespace_name, selector, &nodes_that_count(pod, constraint), {}, {}, {}});
    }
    spreads_of_[pod].push_back(at->second);
  }

  const std::vector<bool>& nodes_that_count(PodIndex pod, const SpreadConstraint& constraint) {
    std::vector<bool>& counts = counting_nodes_[&constraint];
    if (!counts.empty()) return counts;
    PodSpec filters;  // what the policies honour of the pod's own
    if (constraint.honors_affinity) {
      filters.node_selector = c_.spec(pod).node_selector;
      filters.node_affinity = c_.spec(pod).node_affinity;
    }
    filters.tolerations = c_.spec(pod).tolerations;
    for (const SnapshotNode& node : c_.snapshot.nodes) {
      bool has_keys = true;
      for (const SpreadConstraint& other : c_.spec(pod).topology_spread) {
        if (other.when_unsatisfiable == Unsatisfiable::kDoNotSchedule)
          has_keys = has_keys && label(node.labels, other.topology_key) != nullptr;
      }
      counts.push_back(has_keys && is_taken_in(filters, node, constraint));
    }
    return counts;
  }

  static bool is_taken_in(const PodSpec& filters, const SnapshotNode& node, const SpreadConstraint& constraint) {
    const bool is_plain = !node.unschedulable && (constraint.honors_taints || node.taints.empty());
    if (is_plain) return filter_objection(filters, node).empty();
    SnapshotNode counted = node;
    counted.unschedulable = false;
    if (!constraint.honors_taints) counted.taints.clear();
    return filter_objection(filters, counted).empty();
  }

  void index_rules() {
    for (std::size_t i = 0; i < affinities_.size(); ++i) {
      const PodTerm& term = affinities_[i].terms->front();
      affinity_index_.add(i, term.selector ? &*term.selector : nullptr,
                          term.match_gang ? affinities_[i].own_gang : GangIndex::none());
    }
    for (std::size_t i = 0; i < spreads_.size(); ++i)
      spread_index_.add(i, spreads_[i].selector ? &*spreads_[i].selector : nullptr, GangIndex::none());
  }

  void begin() {
    for (Affinity& affinity : affinities_) {
      affinity.in_domain.assign(affinity.terms->size(), {});
      affinity.anywhere = 0;
    }
    for (Spread& spread : spreads_) {
      spread.pods.clear();
      spread.domains.clear();
      spread.leaving.clear();
      for (const NodeIndex node : c_.problem.nodes.indices()) {
        if ((*spread.counts)[node.value()])
          spread.pods[*label(c_.node(node).labels, spread.constraint->topology_key)] = 0;
      }
      spread.domains[0] = std::ssize(spread.pods);
    }
  }

  bool in_namespaces(const PodTerm& term, std::string_view own, std::string_view name) const {
    if (term.all_namespaces) return true;
    if (std::ranges::find(term.namespaces, name) != term.namespaces.end()) return true;
    if (!term.namespace_selector) return term.namespaces.empty() && name == own;
    return std::ranges::any_of(c_.snapshot.definitions.namespaces, [&](const SnapshotNamespace& candidate) {
      return candidate.name == name && selects(*term.namespace_selector, candidate.labels);
    });
  }

  bool matches(const Affinity& affinity, PodIndex pod) const {
    const SnapshotPod& other = c_.pod(pod);
    return std::ranges::all_of(*affinity.terms, [&](const PodTerm& term) {
      if (term.match_gang) return c_.problem.pods[pod].gang == affinity.own_gang;
      return term.selector && in_namespaces(term, affinity.own_namespace, other.namespace_name) &&
             selects(*term.selector, other.labels);
    });
  }

  // An empty selector counts no pod that is there.
  bool matches(const Spread& spread, PodIndex pod) const {
    const SnapshotPod& other = c_.pod(pod);
    return spread.selector && !spread.selector->requirements.empty() && other.namespace_name == spread.own_namespace &&
           selects(*spread.selector, other.labels);
  }

  // Pods with equal spec, gang, namespace and labels have the same roles; most snapshots list them next to each other.
  const PodRoles& roles_of(PodIndex pod) {
    const auto known = roles_.find(pod);
    if (known != roles_.end()) return known->second;
    PodRoles& roles = roles_[pod];
    const auto own = affinity_of_.find(pod);
    if (own != affinity_of_.end()) roles.affinity = own->second;
    const auto owned = spreads_of_.find(pod);
    if (owned != spreads_of_.end()) roles.spreads = owned->second;
    for (const std::size_t i : affinity_index_.candidates(c_.pod(pod).labels, c_.problem.pods[pod].gang)) {
      if (matches(affinities_[i], pod)) roles.matches_affinity.push_back(i);
    }
    for (const std::size_t i : spread_index_.candidates(c_.pod(pod).labels, GangIndex::none())) {
      if (matches(spreads_[i], pod)) roles.matches_spread.push_back(i);
    }
    return roles;
  }

  void count(PodIndex pod, NodeIndex node) {
    const PodRoles& roles = roles_of(pod);
    const Labels& labels = c_.node(node).labels;
    for (const std::size_t i : roles.matches_affinity) {
      Affinity& affinity = affinities_[i];
      bool is_in_any = false;
      for (std::size_t term = 0; term < affinity.terms->size(); ++term) {
        const std::string_view* value = label(labels, (*affinity.terms)[term].topology_key);
        if (value) ++affinity.in_domain[term][*value];
        is_in_any = is_in_any || value;
      }
      affinity.anywhere += is_in_any ? 1 : 0;
    }
    for (const std::size_t i : roles.matches_spread) {
      Spread& spread = spreads_[i];
      if (!(*spread.counts)[node.value()]) continue;
      std::int64_t& pods = spread.pods[*label(labels, spread.constraint->topology_key)];
      if (--spread.domains[pods] == 0) spread.domains.erase(pods);
      ++spread.domains[++pods];
    }
  }

  void note_leaving(PodIndex pod) {
    const NodeIndex node = c_.node_before(pod);
    for (const std::size_t i : roles_of(pod).matches_spread) {
      Spread& spread = spreads_[i];
      if (!(*spread.counts)[node.value()]) continue;
      spread.leaving[*label(c_.node(node).labels, spread.constraint->topology_key)].push_back(pod);
    }
  }

  // Pods of the domain that may still be there when the placement is bound.
  static std::int64_t may_be_there(const Spread& spread, std::string_view value, const Placement& placement) {
    const auto at = spread.leaving.find(value);
    if (at == spread.leaving.end()) return 0;
    return std::ranges::count_if(at->second, [&](PodIndex pod) {
      return pod != placement.pod && !std::ranges::binary_search(placement.after, pod);
    });
  }

  // A pod that leaves, matches and is not named in `after`: it still counts when this one is bound.
  bool is_blocked_by_departure(const Placement& placement, std::size_t number, std::span<const PodIndex> back) const {
    const Affinity& affinity = affinities_[number];
    for (const PodIndex pod : leaving_) {
      const NodeIndex node = c_.node_before(pod);
      if (pod == placement.pod || !matches(affinity, pod)) continue;
      if (std::ranges::find(back, pod) != back.end()) continue;
      const bool is_in_any = std::ranges::any_of(*affinity.terms, [&](const PodTerm& term) {
        return label(c_.node(node).labels, term.topology_key) != nullptr;
      });
      if (is_in_any && !std::ranges::binary_search(placement.after, pod)) return true;
    }
    return false;
  }

  template <class Object>
  void check_affinity(const Placement& placement, std::span<const PodIndex> back, const Object& object) {
    const PodRoles& roles = roles_of(placement.pod);
    if (roles.affinity == 0) return;
    const std::size_t number = roles.affinity - 1;
    const Affinity& affinity = affinities_[number];
    const SnapshotNode& node = c_.node(placement.node);
    std::string_view missing;
    for (std::size_t term = 0; term < affinity.terms->size(); ++term) {
      const std::string_view key = (*affinity.terms)[term].topology_key;
      const std::string_view* value = label(node.labels, key);
      if (!value) {
        return object(
            Rule::kAffinity, placement,
            "node \"" + std::string(node.name) + "\" lacks the label " + std::string(key) + " of its pod affinity");
      }
      const auto at = affinity.in_domain[term].find(*value);
      if (at == affinity.in_domain[term].end() || at->second == 0) missing = key;
    }
    if (missing.empty()) return;
    const bool matches_itself = std::ranges::find(roles.matches_affinity, number) != roles.matches_affinity.end();
    if (affinity.anywhere == 0 && matches_itself && !is_blocked_by_departure(placement, number, back)) return;
    object(Rule::kAffinity, placement,
           "no pod that its affinity requires stays or was bound before it in the " + std::string(missing) +
               " of node \"" + std::string(node.name) + "\"");
  }

  template <class Object>
  void check_spreads(const Placement& placement, const Object& object) {
    const PodRoles& roles = roles_of(placement.pod);
    for (const std::size_t number : roles.spreads) {
      const Spread& spread = spreads_[number];
      const SpreadConstraint& constraint = *spread.constraint;
      const SnapshotNode& node = c_.node(placement.node);
      if (!(*spread.counts)[placement.node.value()]) {
        object(Rule::kSpread, placement,
               "node \"" + std::string(node.name) + "\" does not count for its topology spread by " +
                   std::string(constraint.topology_key));
        continue;
      }
      const bool counts_itself = spread.selector && selects(*spread.selector, c_.pod(placement.pod).labels);
      const bool has_enough = std::ssize(spread.pods) >= constraint.min_domains;
      const std::int64_t least = has_enough ? spread.domains.begin()->first : 0;
      const std::string_view value = *label(node.labels, constraint.topology_key);
      const std::int64_t there =
          spread.pods.at(value) + may_be_there(spread, value, placement) + (counts_itself ? 1 : 0);
      if (there - least <= constraint.max_skew) continue;
      object(Rule::kSpread, placement,
             "with it and pods that have not left yet, " + counted(there, "pod") + (there == 1 ? " is" : " are") +
                 " in the " + std::string(constraint.topology_key) + " of node \"" + std::string(node.name) +
                 "\", and " + std::to_string(least) + " in the emptiest: more than maxSkew " +
                 std::to_string(constraint.max_skew) + " apart");
    }
  }

  Case& c_;
  std::vector<Affinity> affinities_;
  std::vector<Spread> spreads_;
  std::map<const SpreadConstraint*, std::vector<bool>> counting_nodes_;  // by node
  std::map<std::tuple<PodSpecIndex, std::string_view, GangIndex>, std::size_t> affinity_at_;
  std::map<std::tuple<const SpreadConstraint*, std::string_view, std::vector<std::string_view>>, std::size_t>
      spread_at_;
  RuleIndex affinity_index_, spread_index_;
  std::vector<PodIndex> leaving_;
  std::map<PodIndex, std::size_t> affinity_of_;
  std::map<PodIndex, std::vector<std::size_t>> spreads_of_;
  std::map<PodIndex, PodRoles> roles_;
};

bool has_rules(const Case& c) {
  return std::ranges::any_of(c.snapshot.pod_specs, [](const PodSpec& spec) {
    return !spec.affinity.empty() || !spec.topology_spread.empty();
  });
}

}  // namespace

void check_inter_pod(Case& c) {
  if (c.plan.placements.empty() || !has_rules(c)) return;
  InterPod inter_pod(c);
  if (inter_pod.empty()) return;
  inter_pod.carry_out({}, [&](Rule rule, const Placement& placement, std::string message) {
    c.object(rule, c.pod(placement.pod).name, std::move(message));
  });
}

bool keeps_inter_pod(Case& c, std::span<const PodIndex> back) {
  if (c.plan.placements.empty() || !has_rules(c)) return true;
  InterPod inter_pod(c);
  if (inter_pod.empty() || std::ranges::none_of(back, [&](PodIndex pod) { return inter_pod.concerns(pod); }))
    return true;
  bool holds = true;
  inter_pod.carry_out(back, [&](Rule, const Placement&, const std::string&) { holds = false; });
  return holds;
}

}  // namespace muster::referee
