// Pod affinity, anti-affinity and topology spread, required and preferred: equal terms become one, and each pod gets
// the lists of terms that it has and that it matches.
//
// Anti-affinity is symmetric, as in Kubernetes: an owner keeps matching pods out of its domain, and they keep it out of
// theirs. Cost: O(pods x their terms + distinct label groups x terms that ask for one of their labels, or for no
// value).
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "model/build/stages.h"
#include "model/snapshot/filters.h"

namespace muster {
namespace {

bool exists(PodStatus status) { return status != PodStatus::kSucceeded && status != PodStatus::kFailed; }

// The domains of nodes by label, each key once; and of those among them that a spread constraint counts.
class KeyDomains {
 public:
  explicit KeyDomains(const ProblemDraft& draft) : draft_(draft) {}

  const AntiAffinity& of(std::string_view key) {
    const auto known = by_key_.find(key);
    if (known != by_key_.end()) return known->second;
    return by_key_[key] = domains_of(key, [](NodeIndex) { return true; });
  }

  // `eligible`: by node class. `number` distinguishes the domains of the result.
  const AntiAffinity& of(std::string_view key, const std::vector<bool>& eligible, std::uint64_t& number) {
    const auto [at, is_new] = by_eligible_.try_emplace({key, eligible}, by_eligible_.size(), AntiAffinity{});
    if (is_new) {
      at->second.second =
          domains_of(key, [&](NodeIndex node) { return eligible[draft_.problem.nodes[node].node_class.value()]; });
    }
    number = at->second.first;
    return at->second.second;
  }

 private:
  template <class Counts>
  AntiAffinity domains_of(std::string_view key, const Counts& counts) const {
    Indexed<NodeIndex, DomainIndex> domains(draft_.problem.nodes.size());
    NameTable values;
    for (const NodeIndex node : domains.indices()) {
      if (!counts(node)) continue;
      const std::optional<std::string_view> value = label_of(draft_.snapshot.nodes[node.value()].labels, key);
      if (value) domains[node] = DomainIndex(values.number(*value));
    }
    return {DomainMap(std::move(domains)), values.size()};
  }

  const ProblemDraft& draft_;
  std::map<std::string_view, AntiAffinity> by_key_;
  std::map<std::pair<std::string_view, std::vector<bool>>, std::pair<std::size_t, AntiAffinity>> by_eligible_;
};

class TermFinder {
 public:
  explicit TermFinder(ProblemDraft& draft)
      : draft_(draft),
        domains_(draft),
        of_gang_(draft.problem.gangs.size()),
        eligible_(draft.snapshot.pod_specs.size()) {}

  PodTerms find() {
    const Indexed<PodIndex, Pod>& pods = draft_.problem.pods;
    std::vector<std::size_t> owned_begin{0};
    std::vector<PodTermRole> owned;
    for (const PodIndex pod : pods.indices()) {
      if (exists(pods[pod].status)) append_owned(pod, owned);
      owned_begin.push_back(owned.size());
    }
    PodTerms result;
    result.begin.push_back(0);
    for (const PodIndex pod : pods.indices()) {
      const auto first = static_cast<std::ptrdiff_t>(result.all.size());
      result.all.insert(result.all.end(), owned.begin() + static_cast<std::ptrdiff_t>(owned_begin[pod.value()]),
                        owned.begin() + static_cast<std::ptrdiff_t>(owned_begin[pod.value() + 1]));
      if (exists(pods[pod].status)) append_matched(pod, result.all);
      std::sort(result.all.begin() + first, result.all.end());
      result.all.erase(std::unique(result.all.begin() + first, result.all.end()), result.all.end());
      result.begin.push_back(static_cast<std::uint32_t>(result.all.size()));
    }
    return result;
  }

 private:
  using Kind = PodTermRole::Kind;
  // A selector of pods of one gang.
  struct GangSelector {
    PodTermRole role;
    PodSelector selector;  // without parts: all of them
  };

  const SnapshotPod& source(PodIndex pod) const { return draft_.snapshot.pods[pod.value()]; }

  void append_owned(PodIndex pod, std::vector<PodTermRole>& owned) {
    const PodSpec& spec = draft_.snapshot.pod_specs[source(pod).spec];
    for (const PodTerm& term : spec.anti_affinity) {
      const AntiAffinityIndex index = anti_affinity(term, pod);
      if (!index.is_none()) owned.push_back({Kind::kAntiAffinityOwned, index.value()});
    }
    if (!spec.affinity.empty()) owned.push_back({Kind::kAffinityOwned, affinity(spec, pod).value()});
    for (const SpreadConstraint& constraint : spec.topology_spread) {
      if (constraint.when_unsatisfiable == Unsatisfiable::kDoNotSchedule) owned.push_back(spread(constraint, pod));
    }
    append_preferred_terms(spec, pod, owned);
  }

  static constexpr std::uint64_t kLargestNumber = ~std::uint64_t{0};  // beyond those of domains, which begin a spread's
  void append_preferred_terms(const PodSpec& spec, PodIndex pod, std::vector<PodTermRole>& owned) {
    const auto first = static_cast<std::ptrdiff_t>(owned.size());
    const auto append = [&](PreferredTerm preferred_term, PodSelector selector, GangIndex gang, Selects selects) {
      const std::uint32_t number = number_of_preferred_term(std::span(owned).subspan(static_cast<std::size_t>(first)));
      owned.push_back({Kind::kPreferredOwned, number});
      if (number < draft_.problem.inter_pod.preferred_terms.size()) return;
      draft_.problem.inter_pod.preferred_terms.push_back(std::move(preferred_term));
      if (selects == Selects::kSome) select({Kind::kPreferredMatched, number}, std::move(selector), gang);
    };
    const auto append_terms = [&](const std::vector<PreferredPodTerm>& terms, PreferredTerm::Kind kind) {
      for (const auto& [weight, term] : terms) {
        signature_.assign({kLargestNumber - static_cast<std::uint64_t>(kind), static_cast<std::uint64_t>(weight)});
        writer_.add(term.topology_key, signature_);
        PodSelector selector;
        GangIndex gang;
        const Selects selects = write_term(term, pod, selector, gang) ? Selects::kSome : Selects::kNone;
        append({kind, domains_.of(term.topology_key), weight, 1}, std::move(selector), gang, selects);
      }
    };
    append_terms(spec.preferred_affinity, PreferredTerm::Kind::kNear);
    append_terms(spec.preferred_anti_affinity, PreferredTerm::Kind::kApart);
    for (const SpreadConstraint& constraint : spec.topology_spread) {
      if (constraint.when_unsatisfiable != Unsatisfiable::kScheduleAnyway) continue;
      SpreadSelector spread = write_spread(constraint, pod);
      signature_.push_back(static_cast<std::uint64_t>(PreferredTerm::Kind::kEven));
      append({PreferredTerm::Kind::kEven, *spread.domains, 1, constraint.max_skew}, std::move(spread.selector),
             GangIndex::none(), spread.selects);
    }
  }

  // Of the signature; a preferred term that a pod has twice counts twice.
  std::uint32_t number_of_preferred_term(std::span<const PodTermRole> of_pod) {
    signature_.push_back(0);
    while (true) {
      const std::uint32_t number = preferred_terms_.intern(signature_).first;
      if (std::ranges::find(of_pod, PodTermRole{Kind::kPreferredOwned, number}) == of_pod.end()) return number;
      ++signature_.back();
    }
  }

  // --- The content of a term as numbers, and the pods that it selects

  // False if it selects no pod at all.
  bool write_term(const PodTerm& term, PodIndex pod, PodSelector& selector, GangIndex& gang) {
    if (term.match_gang) {
      gang = draft_.problem.pods[pod].gang;
      signature_.push_back(1);
      signature_.push_back(gang.value());
      return true;
    }
    signature_.push_back(term.selector ? 0 : 2);
    if (!term.selector) return false;
    PodSelector::Part part{*term.selector, namespaces_of(draft_.snapshot, term, source(pod).namespace_name)};
    writer_.add(part.namespaces, signature_);
    writer_.add(part.selector, signature_);
    selector.parts.push_back(std::move(part));
    return true;
  }

  // Has what the selector matches counted as that.
  void select(PodTermRole role, PodSelector selector, GangIndex gang) {
    if (!gang.is_none()) {
      of_gang_[gang].push_back({role, std::move(selector)});
    } else {
      roles_.push_back(role);
      selection_.add(static_cast<std::uint32_t>(roles_.size() - 1), std::move(selector));
    }
  }

  // None if it keeps no two pods apart: it selects none, or the gang has but one.
  AntiAffinityIndex anti_affinity(const PodTerm& term, PodIndex pod) {
    if (term.match_gang && draft_.problem.gangs[draft_.problem.pods[pod].gang].pods.size() < 2) return {};
    signature_.assign({static_cast<std::uint64_t>(Kind::kAntiAffinityOwned)});
    writer_.add(term.topology_key, signature_);
    PodSelector selector;
    GangIndex gang;
    if (!write_term(term, pod, selector, gang)) return {};
    const auto [number, is_new] = anti_affinities_.intern(signature_);
    if (is_new) {
      draft_.problem.inter_pod.anti_affinities.push_back(domains_.of(term.topology_key));
      select({Kind::kAntiAffinityMatched, number}, std::move(selector), gang);
    }
    return AntiAffinityIndex(number);
  }

  AffinityIndex affinity(const PodSpec& spec, PodIndex pod) {
    signature_.clear();
    PodSelector selector;
    GangIndex gang;
    bool selects = true;
    for (const PodTerm& term : spec.affinity) {
      writer_.add(term.topology_key, signature_);
      selects = write_term(term, pod, selector, gang) && selects;
    }
    const auto [number, is_new] = affinities_.intern(signature_);
    if (is_new) {
      Affinity result;
      for (const PodTerm& term : spec.affinity) result.terms.push_back(domains_.of(term.topology_key));
      draft_.problem.inter_pod.affinities.push_back(std::move(result));
      if (selects) select({Kind::kAffinityMatched, number}, std::move(selector), gang);
    }
    return AffinityIndex(number);
  }

  // As in kube-scheduler, an empty selector counts no pod but the incoming one.
  enum class Selects : std::uint8_t { kNone, kItself, kSome };
  struct SpreadSelector {
    const AntiAffinity* domains;
    PodSelector selector;
    Selects selects;
  };

  SpreadSelector write_spread(const SpreadConstraint& constraint, PodIndex pod) {
    std::optional<LabelSelector> selector = constraint.selector;
    if (selector) add_match_labels(constraint, source(pod), *selector);
    std::uint64_t domains_number = 0;
    const AntiAffinity& domains =
        domains_.of(constraint.topology_key, eligible(source(pod).spec, constraint), domains_number);
    signature_.assign({domains_number, static_cast<std::uint64_t>(constraint.max_skew),
                       static_cast<std::uint64_t>(constraint.min_domains), selector ? std::uint64_t{1} : 0});
    writer_.add(source(pod).namespace_name, signature_);
    if (selector) writer_.add(*selector, signature_);
    if (!selector) return {&domains, {}, Selects::kNone};
    const Selects selects = selector->requirements.empty() ? Selects::kItself : Selects::kSome;
    return {&domains, {{{*std::move(selector), {false, {source(pod).namespace_name}}}}}, selects};
  }

  PodTermRole spread(const SpreadConstraint& constraint, PodIndex pod) {
    SpreadSelector spread = write_spread(constraint, pod);
    const auto [number, is_new] = spreads_.intern(signature_);
    if (is_new) {
      draft_.problem.inter_pod.spreads.push_back(
          {spread.domains->domain_of, spread.domains->domain_count, constraint.max_skew, constraint.min_domains});
      if (spread.selects == Selects::kSome)
        select({Kind::kSpreadMatched, number}, std::move(spread.selector), GangIndex::none());
    }
    return {spread.selects == Selects::kItself ? Kind::kSpreadOwnedSelf : Kind::kSpreadOwned, number};
  }

  static void add_match_labels(const SpreadConstraint& constraint, const SnapshotPod& pod, LabelSelector& selector) {
    for (const std::string_view key : constraint.match_label_keys) {
      const std::optional<std::string_view> value = label_of(pod.labels, key);
      if (value) selector.requirements.push_back({key, SelectorOperator::kIn, {*value}});
    }
  }

  // By node class: it has the labels of all constraints of the kind, and the policies let it count.
  const std::vector<bool>& eligible(PodSpecIndex index, const SpreadConstraint& constraint) {
    const PodSpec& spec = draft_.snapshot.pod_specs[index];
    const std::size_t policies = (constraint.honors_affinity ? 1U : 0U) + (constraint.honors_taints ? 2U : 0U);
    const bool is_soft = constraint.when_unsatisfiable == Unsatisfiable::kScheduleAnyway;
    std::vector<bool>& result = eligible_[index][policies + (is_soft ? 4U : 0U)];
    if (!result.empty()) return result;
    for (const NodeClass& node_class : draft_.problem.node_classes) {
      const SnapshotNode& node = draft_.snapshot.nodes[node_class.nodes.front().value()];
      const bool has_keys = std::ranges::all_of(spec.topology_spread, [&](const SpreadConstraint& other) {
        return other.when_unsatisfiable != constraint.when_unsatisfiable || label_of(node.labels, other.topology_key);
      });
      const bool is_taken_in =
          !constraint.honors_affinity || (node_selector_holds(spec, node) && required_affinity_holds(spec, node));
      result.push_back(has_keys && is_taken_in && (!constraint.honors_taints || tolerates_hard_taints(spec, node)));
    }
    return result;
  }

  void append_matched(PodIndex pod, std::vector<PodTermRole>& matched) {
    const SnapshotPod& own = source(pod);
    for (const GangSelector& entry : of_gang_[draft_.problem.pods[pod].gang]) {
      if (entry.selector.matches(own)) matched.push_back(entry.role);
    }
    if (selection_.empty()) return;
    for (const std::uint32_t number : selection_.matching(own)) matched.push_back(roles_[number]);
  }

  ProblemDraft& draft_;
  KeyDomains domains_;
  SelectorWriter writer_;
  SequenceTable anti_affinities_, affinities_, spreads_, preferred_terms_;
  PodSelection selection_;
  std::vector<PodTermRole> roles_;  // by number of the selection
  Indexed<GangIndex, std::vector<GangSelector>> of_gang_;
  Indexed<PodSpecIndex, std::array<std::vector<bool>, 8>> eligible_;  // by policies and kind
  std::vector<std::uint64_t> signature_;
};

}  // namespace

PodTerms build_pod_terms(ProblemDraft& draft) {
  const bool has_terms = std::ranges::any_of(draft.snapshot.pod_specs, [](const PodSpec& spec) {
    return !spec.anti_affinity.empty() || !spec.affinity.empty() || !spec.topology_spread.empty() ||
           !spec.preferred_anti_affinity.empty() || !spec.preferred_affinity.empty();
  });
  return has_terms ? TermFinder(draft).find() : PodTerms{};
}

}  // namespace muster
