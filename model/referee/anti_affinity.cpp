// Rule Node, required anti-affinity: no pod that a term matches may share a domain with a pod that owns the term,
// whichever of the two came first (as in kube-scheduler). A pair is reported only if one of the two is placed; a pod
// that leaves blocks every placement that does not name it in `after`.
#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>

#include "model/referee/case.h"
#include "model/snapshot/pod_spec_hash.h"

namespace muster::referee {
namespace {

// One pod at one place: where it is in the end or, if it leaves, where it was before. A moved pod has two of these.
struct Occupant {
  PodIndex pod;
  NodeIndex node;
  bool leaving = false;
};

// A term as its owners state it: `gang` if it matches the gang, else the owners' namespace if it names none.
struct Term {
  const PodTerm* terms = nullptr;
  GangIndex gang;
  std::string_view namespace_name;
  std::vector<Occupant> owners;
};

struct Domain {
  std::vector<Occupant> owners, matched;
};

struct Occupants {
  std::vector<Occupant> all;       // ascending by pod
  std::vector<std::size_t> begin;  // of pod p: all[begin[p]] up to all[begin[p + 1]]

  std::span<const Occupant> of(PodIndex pod) const {
    return {all.data() + begin[pod.value()], all.data() + begin[pod.value() + 1]};
  }
};

Occupants occupants(const Case& c) {
  Occupants found;
  for (const PodIndex pod : c.problem.pods.indices()) {
    found.begin.push_back(found.all.size());
    if (c.is_there_after(pod)) found.all.push_back({pod, c.node_after(pod), false});
    const NodeIndex before = c.node_before(pod);
    if (c.leaves(pod) && !before.is_none()) found.all.push_back({pod, before, true});
  }
  found.begin.push_back(found.all.size());
  return found;
}

// Equal terms are one, however many pod templates repeat them.
class TermCollection {
 public:
  explicit TermCollection(const Case& c) : c_(c), numbers_of_spec_(c.snapshot.pod_specs.size()) {
    for (const PodSpecIndex spec : c.snapshot.pod_specs.indices()) {
      for (const PodTerm& term : c.snapshot.pod_specs[spec].anti_affinity) {
        numbers_of_spec_[spec].push_back(number_of(term));
      }
    }
  }

  bool empty() const { return distinct_.empty(); }

  std::vector<Term> with_owners(const std::vector<Occupant>& all) {
    std::map<std::tuple<std::size_t, GangIndex, std::string_view>, std::size_t> position;
    std::vector<Term> terms;
    for (const Occupant& occupant : all) {
      const SnapshotPod& pod = c_.pod(occupant.pod);
      for (const std::size_t number : numbers_of_spec_[pod.spec]) {
        const PodTerm& term = *distinct_[number];
        const GangIndex gang = term.match_gang ? c_.problem.pods[occupant.pod].gang : GangIndex::none();
        const bool own_namespace =
            !term.match_gang && !term.all_namespaces && term.namespaces.empty() && !term.namespace_selector;
        const std::string_view space = own_namespace ? pod.namespace_name : std::string_view();
        const auto [at, is_new] = position.try_emplace({number, gang, space}, terms.size());
        if (is_new) terms.push_back({&term, gang, space, {}});
        terms[at->second].owners.push_back(occupant);
      }
    }
    return terms;
  }

 private:
  std::size_t number_of(const PodTerm& term) {
    std::vector<std::size_t>& alike = by_hash_[content_hash(term)];
    for (const std::size_t number : alike) {
      if (*distinct_[number] == term) return number;
    }
    distinct_.push_back(&term);
    return alike.emplace_back(distinct_.size() - 1);
  }

  const Case& c_;
  std::vector<const PodTerm*> distinct_;
  std::unordered_map<std::size_t, std::vector<std::size_t>> by_hash_;
  Indexed<PodSpecIndex, std::vector<std::size_t>> numbers_of_spec_;
};

const std::string_view* label(const Labels& labels, std::string_view key) {
  const auto at = std::ranges::find(labels, key, &Labels::value_type::first);
  return at == labels.end() ? nullptr : &at->second;
}

// The pods that have a label with a value: each key is looked up once for all of them.
class Labelled {
 public:
  Labelled(const Case& c, const std::vector<Occupant>& all) : c_(c), all_(all) {}

  // Positions of all of them, ascending.
  const std::vector<std::size_t>& with(std::string_view key, std::string_view value) {
    const auto [at, is_new] = by_key_.try_emplace(key);
    if (is_new) {
      for (std::size_t i = 0; i < all_.size(); ++i) {
        if (const std::string_view* has = label(c_.pod(all_[i].pod).labels, key)) at->second[*has].push_back(i);
      }
    }
    return at->second[value];
  }

 private:
  const Case& c_;
  const std::vector<Occupant>& all_;
  std::map<std::string_view, std::unordered_map<std::string_view, std::vector<std::size_t>>> by_key_;
};

bool is_chosen_by_label(const Case& c, const PodTerm& term, std::string_view name) {
  if (!term.namespace_selector) return false;
  return std::ranges::any_of(c.snapshot.definitions.namespaces, [&](const SnapshotNamespace& candidate) {
    return candidate.name == name && selects(*term.namespace_selector, candidate.labels);
  });
}

bool matches_pod(const Case& c, const Term& term, PodIndex index) {
  const SnapshotPod& pod = c.pod(index);
  const std::vector<std::string_view>& spaces = term.terms->namespaces;
  const bool own_namespace =
      spaces.empty() && !term.terms->namespace_selector && pod.namespace_name == term.namespace_name;
  const bool in_namespace = term.terms->all_namespaces || own_namespace ||
                            std::ranges::find(spaces, pod.namespace_name) != spaces.end() ||
                            is_chosen_by_label(c, *term.terms, pod.namespace_name);
  return in_namespace && term.terms->selector && selects(*term.terms->selector, pod.labels);
}

// The pods that have one of the values that the selector asks for; all pods if it names no values.
std::vector<std::size_t> candidates_of(const Term& term, const Occupants& there, Labelled& labelled) {
  std::vector<std::size_t> found;
  if (!term.terms->selector) return found;
  const std::vector<SelectorRequirement>& asked = term.terms->selector->requirements;
  const auto named = std::ranges::find(asked, SelectorOperator::kIn, &SelectorRequirement::op);
  if (named == asked.end()) {
    for (std::size_t i = 0; i < there.all.size(); ++i) found.push_back(i);
    return found;
  }
  for (const std::string_view value : named->values) {
    const std::vector<std::size_t>& those = labelled.with(named->key, value);
    found.insert(found.end(), those.begin(), those.end());
  }
  std::ranges::sort(found);
  const auto twice = std::ranges::unique(found);
  found.erase(twice.begin(), twice.end());
  return found;
}

std::vector<Occupant> matched_by(const Case& c, const Term& term, const Occupants& there, Labelled& labelled) {
  std::vector<Occupant> matched;
  if (term.terms->match_gang) {
    for (const PodIndex pod : c.problem.gangs[term.gang].pods) {
      for (const Occupant& occupant : there.of(pod)) matched.push_back(occupant);
    }
  } else {
    for (const std::size_t i : candidates_of(term, there, labelled)) {
      if (matches_pod(c, term, there.all[i].pod)) matched.push_back(there.all[i]);
    }
  }
  return matched;
}

// By the value of the term's label; nodes that lack it are in no domain.
std::unordered_map<std::string_view, Domain> domains_of(const Case& c, const Term& term, const Occupants& there,
                                                        Labelled& labelled) {
  const auto value_at = [&](const Occupant& occupant) {
    return label(c.node(occupant.node).labels, term.terms->topology_key);
  };
  std::unordered_map<std::string_view, Domain> domains;
  for (const Occupant& owner : term.owners) {
    if (const std::string_view* value = value_at(owner)) domains[*value].owners.push_back(owner);
  }
  for (const Occupant& other : matched_by(c, term, there, labelled)) {
    const std::string_view* value = value_at(other);
    const auto at = value ? domains.find(*value) : domains.end();
    if (at != domains.end()) at->second.matched.push_back(other);
  }
  return domains;
}

// `goes` is leaving where `comes` is placed.
void check_departure(Case& c, const Occupant& goes, const Occupant& comes, std::string_view key) {
  const Placement* placement = c.placement[comes.pod];
  if (comes.leaving || placement == nullptr) return;
  if (c.eviction[goes.pod]) c.kept_out[goes.pod.value()] = 1;
  if (std::ranges::binary_search(placement->after, goes.pod)) return;
  c.object(Rule::kNode, c.pod(comes.pod).name,
           "anti-affinity by " + std::string(key) + " forbids it next to " + c.quoted(goes.pod) +
               ", which leaves but is not in its `after`");
}

void check_pair(Case& c, const Occupant& owner, const Occupant& other, std::string_view key) {
  if (owner.pod == other.pod) return;
  if (owner.leaving) return check_departure(c, owner, other, key);
  if (other.leaving) return check_departure(c, other, owner, key);
  if (c.placement[owner.pod] == nullptr && c.placement[other.pod] == nullptr) return;  // both ran there before
  const bool owner_comes = c.placement[owner.pod] != nullptr;
  const PodIndex comes = owner_comes ? owner.pod : other.pod, is_there = owner_comes ? other.pod : owner.pod;
  c.object(Rule::kNode, c.pod(comes).name,
           "anti-affinity by " + std::string(key) + " forbids it next to " + c.quoted(is_there) + " on node \"" +
               std::string(c.node(c.node_after(is_there)).name) + "\"");
}

}  // namespace

bool selects(const LabelSelector& selector, const Labels& labels) {
  return std::ranges::all_of(selector.requirements, [&](const SelectorRequirement& requirement) {
    const std::string_view* value = label(labels, requirement.key);
    const bool listed = value && std::ranges::find(requirement.values, *value) != requirement.values.end();
    switch (requirement.op) {
      case SelectorOperator::kIn:
        return listed;
      case SelectorOperator::kNotIn:
        return !listed;
      case SelectorOperator::kExists:
        return value != nullptr;
      case SelectorOperator::kDoesNotExist:
        return value == nullptr;
      case SelectorOperator::kGt:
      case SelectorOperator::kLt:
        return false;  // not in Kubernetes' pod selectors
    }
    return false;
  });
}

void check_anti_affinity(Case& c) {
  TermCollection collection(c);
  if (collection.empty() || c.plan.placements.empty()) return;
  const Occupants there = occupants(c);
  Labelled labelled(c, there.all);
  for (const Term& term : collection.with_owners(there.all)) {
    for (const auto& [value, domain] : domains_of(c, term, there, labelled)) {
      for (const Occupant& owner : domain.owners) {
        for (const Occupant& other : domain.matched) check_pair(c, owner, other, term.terms->topology_key);
      }
    }
  }
}

}  // namespace muster::referee
