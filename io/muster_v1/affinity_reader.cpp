// Taints, tolerations, node affinity, pod affinity and anti-affinity, and topology spread in the words of Kubernetes
// (core/v1).
#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "io/muster_v1/pod_spec_reader.h"

namespace muster::muster_v1 {

namespace {

constexpr std::array<std::pair<std::string_view, TaintEffect>, 3> kEffects = {
    {{"NoSchedule", TaintEffect::kNoSchedule},
     {"NoExecute", TaintEffect::kNoExecute},
     {"PreferNoSchedule", TaintEffect::kPreferNoSchedule}}};

constexpr std::array<std::pair<std::string_view, SelectorOperator>, 6> kOperators = {
    {{"In", SelectorOperator::kIn},
     {"NotIn", SelectorOperator::kNotIn},
     {"Exists", SelectorOperator::kExists},
     {"DoesNotExist", SelectorOperator::kDoesNotExist},
     {"Gt", SelectorOperator::kGt},
     {"Lt", SelectorOperator::kLt}}};

constexpr std::array<std::pair<std::string_view, bool>, 2> kTolerationOperators = {
    {{"Exists", true}, {"Equal", false}}};

// Accepted for what it is in Kubernetes, without any effect here.
template <class Target>
bool pass_over(SnapshotInput& input, json::JsonValue value, Target&) {
  return input.check_duplicates(value);
}

constexpr std::array<json::Field<SnapshotInput, Taint>, 4> kTaintFields = {
    {{"key", [](SnapshotInput& in, json::JsonValue v, Taint& t) { return in.read_name(v, t.key); }, true},
     {"value", [](SnapshotInput& in, json::JsonValue v, Taint& t) { return in.read(v, t.value); }},
     {"effect",
      [](SnapshotInput& in, json::JsonValue v, Taint& t) { return json::read_choice(in, v, kEffects, t.effect); },
      true},
     {"timeAdded", pass_over<Taint>}}};

bool read_toleration_effect(SnapshotInput& in, json::JsonValue v, Toleration& t) {
  if (v.is(json::JsonKind::kString) && v.string().empty()) return true;  // as in Kubernetes: any effect
  return json::read_choice(in, v, kEffects, t.effect.emplace());
}

constexpr std::array<json::Field<SnapshotInput, Toleration>, 5> kTolerationFields = {
    {{"key", [](SnapshotInput& in, json::JsonValue v, Toleration& t) { return in.read(v, t.key); }},
     {"operator", [](SnapshotInput& in, json::JsonValue v,
                     Toleration& t) { return json::read_choice(in, v, kTolerationOperators, t.exists); }},
     {"value", [](SnapshotInput& in, json::JsonValue v, Toleration& t) { return in.read(v, t.value); }},
     {"effect", read_toleration_effect},
     {"tolerationSeconds", [](SnapshotInput& in, json::JsonValue v, Toleration&) {
        Quantity ignored;
        return in.read_number(v, ignored);
      }}}};

bool read_requirement_key(SnapshotInput& in, json::JsonValue v, SelectorRequirement& r) {
  return in.read_name(v, r.key);
}

bool read_requirement_operator(SnapshotInput& in, json::JsonValue v, SelectorRequirement& r) {
  return json::read_choice(in, v, kOperators, r.op);
}

bool read_requirement_values(SnapshotInput& in, json::JsonValue v, SelectorRequirement& r) {
  if (!in.expect(v, json::JsonKind::kArray)) return false;
  for (const json::JsonValue element : v.elements()) {
    if (!in.read(element, r.values.emplace_back())) return false;
  }
  return true;
}

constexpr std::array<json::Field<SnapshotInput, SelectorRequirement>, 3> kRequirementFields = {
    {{"key", read_requirement_key, true},
     {"operator", read_requirement_operator, true},
     {"values", read_requirement_values}}};

bool is_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && end == text.data() + text.size();
}

bool check_requirement(SnapshotInput& in, json::JsonValue culprit, const SelectorRequirement& requirement) {
  const std::size_t count = requirement.values.size();
  switch (requirement.op) {
    case SelectorOperator::kIn:
    case SelectorOperator::kNotIn:
      return count > 0 || in.fail_value(culprit, "In and NotIn need at least one value");
    case SelectorOperator::kExists:
    case SelectorOperator::kDoesNotExist:
      return count == 0 || in.fail_value(culprit, "Exists and DoesNotExist take no values");
    case SelectorOperator::kGt:
    case SelectorOperator::kLt:
      return (count == 1 && is_integer(requirement.values.front())) ||
             in.fail_value(culprit, "Gt and Lt need one value, a whole number written as a string");
  }
  return true;
}

bool read_requirements(SnapshotInput& in, json::JsonValue list, std::vector<SelectorRequirement>& out) {
  const std::size_t first = out.size();
  if (!json::read_list(in, list, kRequirementFields, out)) return false;
  std::size_t at = first;
  for (const json::JsonValue element : list.elements()) {
    if (!check_requirement(in, element, out[at++])) return false;
  }
  return true;
}

bool read_match_expressions(SnapshotInput& in, json::JsonValue list, NodeSelectorTerm& term) {
  return read_requirements(in, list, term.match_expressions);
}

bool check_field(SnapshotInput& in, json::JsonValue culprit, const SelectorRequirement& field) {
  if (field.key != "metadata.name")
    return in.fail_value(culprit, "unknown field; the only field supported is metadata.name");
  return field.op == SelectorOperator::kIn || field.op == SelectorOperator::kNotIn ||
         in.fail_value(culprit, "a field requirement must use In or NotIn");
}

bool read_match_fields(SnapshotInput& in, json::JsonValue list, NodeSelectorTerm& term) {
  if (!read_requirements(in, list, term.match_fields)) return false;
  std::size_t at = 0;
  for (const json::JsonValue element : list.elements()) {
    if (!check_field(in, element, term.match_fields[at++])) return false;
  }
  return true;
}

constexpr std::array<json::Field<SnapshotInput, NodeSelectorTerm>, 2> kNodeTermFields = {
    {{"matchExpressions", read_match_expressions}, {"matchFields", read_match_fields}}};

constexpr std::array<json::Field<SnapshotInput, NodeAffinity>, 1> kNodeSelectorFields = {
    {{"nodeSelectorTerms",
      [](SnapshotInput& in, json::JsonValue v, NodeAffinity& affinity) {
        return json::read_list(in, v, kNodeTermFields, affinity.required.emplace());
      },
      true}}};

template <class Preferred>
bool read_weight(SnapshotInput& in, json::JsonValue v, Preferred& preferred) {
  std::int64_t weight = 0;
  if (!in.read_integer(v, 1, 100, weight)) return false;
  preferred.weight = static_cast<std::int32_t>(weight);
  return true;
}

constexpr std::array<json::Field<SnapshotInput, PreferredNodeTerm>, 2> kPreferredFields = {
    {{"weight", read_weight<PreferredNodeTerm>, true},
     {"preference",
      [](SnapshotInput& in, json::JsonValue v, PreferredNodeTerm& preferred) {
        return json::read_fields(in, v, kNodeTermFields, preferred.term);
      },
      true}}};

constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";

constexpr std::array<json::Field<SnapshotInput, NodeAffinity>, 2> kNodeAffinityFields = {
    {{kRequired, [](SnapshotInput& in, json::JsonValue v,
                    NodeAffinity& affinity) { return json::read_fields(in, v, kNodeSelectorFields, affinity); }},
     {kPreferred, [](SnapshotInput& in, json::JsonValue v, NodeAffinity& affinity) {
        return json::read_list(in, v, kPreferredFields, affinity.preferred);
      }}}};

// As a PersistentVolume has it.
constexpr std::array<json::Field<SnapshotInput, NodeAffinity>, 1> kVolumeNodeAffinityFields = {
    {{"required",
      [](SnapshotInput& in, json::JsonValue v, NodeAffinity& out) {
        return json::read_fields(in, v, kNodeSelectorFields, out);
      },
      true}}};

bool read_match_labels(SnapshotInput& in, json::JsonValue v, LabelSelector& selector) {
  Labels labels;
  if (!in.read_labels(v, labels)) return false;
  for (const auto& [key, value] : labels) selector.requirements.push_back({key, SelectorOperator::kIn, {value}});
  return true;
}

bool read_label_expressions(SnapshotInput& in, json::JsonValue list, LabelSelector& selector) {
  std::vector<SelectorRequirement> requirements;
  if (!read_requirements(in, list, requirements)) return false;
  std::size_t at = 0;
  for (const json::JsonValue element : list.elements()) {
    SelectorRequirement& requirement = requirements[at++];
    if (requirement.op == SelectorOperator::kGt || requirement.op == SelectorOperator::kLt) {
      return in.fail_value(element, "a label selector must use In, NotIn, Exists or DoesNotExist");
    }
    selector.requirements.push_back(std::move(requirement));
  }
  return true;
}

constexpr std::array<json::Field<SnapshotInput, LabelSelector>, 2> kLabelSelectorFields = {
    {{"matchLabels", read_match_labels}, {"matchExpressions", read_label_expressions}}};

constexpr std::array<json::Field<SnapshotInput, SnapshotNamespace>, 2> kNamespaceFields = {
    {{"name", [](SnapshotInput& in, json::JsonValue v, SnapshotNamespace& n) { return in.read_name(v, n.name); }, true},
     {"labels",
      [](SnapshotInput& in, json::JsonValue v, SnapshotNamespace& n) { return in.read_labels(v, n.labels); }}}};

bool read_match_gang(SnapshotInput& in, json::JsonValue v, PodTerm& term) {
  if (!in.read(v, term.match_gang)) return false;
  return term.match_gang || in.fail_value(v, "matchGang must be true; omit the key instead");
}

bool read_label_selector(SnapshotInput& in, json::JsonValue v, std::optional<LabelSelector>& selector) {
  return json::read_fields(in, v, kLabelSelectorFields, selector.emplace());
}

bool read_namespace_selector(SnapshotInput& in, json::JsonValue v, PodTerm& term) {
  if (!read_label_selector(in, v, term.namespace_selector)) return false;
  if (!term.namespace_selector->requirements.empty()) return true;
  term.all_namespaces = true;
  term.namespace_selector.reset();
  return true;
}

// matchLabelKeys and mismatchLabelKeys of a term: the API server has merged them into the labelSelector of a pod that
// it shows.
constexpr std::array<json::Field<SnapshotInput, PodTerm>, 7> kPodTermFields = {
    {{"topologyKey", [](SnapshotInput& in, json::JsonValue v, PodTerm& t) { return in.read_name(v, t.topology_key); },
      true},
     {"matchGang", read_match_gang},
     {"labelSelector",
      [](SnapshotInput& in, json::JsonValue v, PodTerm& t) { return read_label_selector(in, v, t.selector); }},
     {"namespaces", [](SnapshotInput& in, json::JsonValue v, PodTerm& t) { return in.read_names(v, t.namespaces); }},
     {"namespaceSelector", read_namespace_selector},
     {"matchLabelKeys", pass_over<PodTerm>},
     {"mismatchLabelKeys", pass_over<PodTerm>}}};

}  // namespace

bool read_pod_term(SnapshotInput& in, json::JsonValue object, PodTerm& term) {
  if (!json::read_fields(in, object, kPodTermFields, term)) return false;
  const bool selects = term.selector || !term.namespaces.empty() || term.all_namespaces || term.namespace_selector;
  if (term.match_gang && selects) {
    return in.fail_value(object, "matchGang cannot be combined with labelSelector, namespaces or namespaceSelector");
  }
  return true;
}

namespace {

bool read_pod_terms(SnapshotInput& in, json::JsonValue list, std::vector<PodTerm>& out) {
  if (!in.expect(list, json::JsonKind::kArray)) return false;
  for (const json::JsonValue element : list.elements()) {
    if (!read_pod_term(in, element, out.emplace_back())) return false;
  }
  return true;
}

constexpr std::array<json::Field<SnapshotInput, PreferredPodTerm>, 2> kPreferredPodFields = {
    {{"weight", read_weight<PreferredPodTerm>, true},
     {"podAffinityTerm",
      [](SnapshotInput& in, json::JsonValue v, PreferredPodTerm& preferred) {
        return read_pod_term(in, v, preferred.term);
      },
      true}}};

// The terms of podAffinity, or those of podAntiAffinity.
struct PodTermLists {
  std::vector<PodTerm>& required;
  std::vector<PreferredPodTerm>& preferred;
};

constexpr std::array<json::Field<SnapshotInput, PodTermLists>, 2> kPodAffinityFields = {
    {{kRequired,
      [](SnapshotInput& in, json::JsonValue v, PodTermLists& lists) { return read_pod_terms(in, v, lists.required); }},
     {kPreferred, [](SnapshotInput& in, json::JsonValue v, PodTermLists& lists) {
        return json::read_list(in, v, kPreferredPodFields, lists.preferred);
      }}}};

// One term, a list of terms, or the Kubernetes object with its required and preferred terms.
bool read_pod_term_lists(SnapshotInput& in, json::JsonValue value, PodTermLists lists) {
  if (value.is(json::JsonKind::kArray)) return read_pod_terms(in, value, lists.required);
  if (!in.expect(value, json::JsonKind::kObject)) return false;
  bool is_kubernetes = value.size() == 0;
  for (const json::JsonMember member : value.members())
    is_kubernetes |= member.key == kRequired || member.key == kPreferred;
  if (is_kubernetes) return json::read_fields(in, value, kPodAffinityFields, lists);
  return read_pod_term(in, value, lists.required.emplace_back());
}

constexpr std::array<std::pair<std::string_view, Unsatisfiable>, 2> kUnsatisfiable = {
    {{"DoNotSchedule", Unsatisfiable::kDoNotSchedule}, {"ScheduleAnyway", Unsatisfiable::kScheduleAnyway}}};
constexpr std::array<std::pair<std::string_view, bool>, 2> kInclusion = {{{"Honor", true}, {"Ignore", false}}};

template <std::int32_t SpreadConstraint::*Member>
bool read_positive(SnapshotInput& in, json::JsonValue v, SpreadConstraint& constraint) {
  std::int64_t number = 0;
  if (!in.read_integer(v, 1, std::numeric_limits<std::int32_t>::max(), number)) return false;
  constraint.*Member = static_cast<std::int32_t>(number);
  return true;
}

template <bool SpreadConstraint::*Member>
bool read_inclusion(SnapshotInput& in, json::JsonValue v, SpreadConstraint& constraint) {
  return json::read_choice(in, v, kInclusion, constraint.*Member);
}

constexpr std::array<json::Field<SnapshotInput, SpreadConstraint>, 8> kSpreadFields = {
    {{"maxSkew", read_positive<&SpreadConstraint::max_skew>, true},
     {"topologyKey",
      [](SnapshotInput& in, json::JsonValue v, SpreadConstraint& s) { return in.read_name(v, s.topology_key); }, true},
     {"whenUnsatisfiable",
      [](SnapshotInput& in, json::JsonValue v, SpreadConstraint& s) {
        return json::read_choice(in, v, kUnsatisfiable, s.when_unsatisfiable);
      },
      true},
     {"labelSelector",
      [](SnapshotInput& in, json::JsonValue v, SpreadConstraint& s) { return read_label_selector(in, v, s.selector); }},
     {"minDomains", read_positive<&SpreadConstraint::min_domains>},
     {"matchLabelKeys",
      [](SnapshotInput& in, json::JsonValue v, SpreadConstraint& s) { return in.read_names(v, s.match_label_keys); }},
     {"nodeAffinityPolicy", read_inclusion<&SpreadConstraint::honors_affinity>},
     {"nodeTaintsPolicy", read_inclusion<&SpreadConstraint::honors_taints>}}};

bool check_spread(SnapshotInput& in, json::JsonValue culprit, const SpreadConstraint& constraint) {
  if (constraint.min_domains > 1 && constraint.when_unsatisfiable == Unsatisfiable::kScheduleAnyway)
    return in.fail_value(culprit, "minDomains requires whenUnsatisfiable DoNotSchedule");
  return true;
}

}  // namespace

bool read_taint(SnapshotInput& input, json::JsonValue object, Taint& out) {
  return json::read_fields(input, object, kTaintFields, out);
}

bool read_taints(SnapshotInput& input, json::JsonValue list, std::vector<Taint>& out) {
  return json::read_list(input, list, kTaintFields, out);
}

namespace {

bool check_toleration(SnapshotInput& input, json::JsonValue culprit, const Toleration& toleration) {
  if (toleration.exists && !toleration.value.empty()) return input.fail_value(culprit, "Exists takes no value");
  return toleration.exists || !toleration.key.empty() ||
         input.fail_value(culprit, "without a key the operator must be Exists");
}

}  // namespace

bool read_tolerations(SnapshotInput& input, json::JsonValue list, std::vector<Toleration>& out) {
  if (!json::read_list(input, list, kTolerationFields, out)) return false;
  std::size_t at = 0;
  for (const json::JsonValue element : list.elements()) {
    if (!check_toleration(input, element, out[at++])) return false;
  }
  return true;
}

bool add_toleration(SnapshotInput& input, json::JsonValue culprit, const WrittenToleration& written,
                    std::vector<Toleration>& out) {
  Toleration& made = out.emplace_back();
  made.key = input.keep(written.key);
  made.value = input.keep(written.value);
  made.exists = written.exists;
  if (written.effect && !read_toleration_effect(input, written.effect, made)) return false;
  return check_toleration(input, culprit, made);
}

bool add_requirement(SnapshotInput& input, json::JsonValue culprit, const WrittenRequirement& written,
                     NodeSelectorTerm& out) {
  const auto op = std::ranges::find(kOperators, written.op, &decltype(kOperators)::value_type::first);
  if (written.key.empty()) return input.fail_value(culprit, "a requirement must have a key");
  if (op == kOperators.end())
    return input.fail_value(culprit, "\"" + std::string(written.op) + "\" is no operator of a requirement");
  SelectorRequirement& made = (written.is_field ? out.match_fields : out.match_expressions).emplace_back();
  made.key = input.keep(written.key);
  made.op = op->second;
  for (const std::string_view value : written.values) made.values.push_back(input.keep(value));
  return check_requirement(input, culprit, made) && (!written.is_field || check_field(input, culprit, made));
}

bool read_label_selector(SnapshotInput& input, json::JsonValue object, LabelSelector& out) {
  return json::read_fields(input, object, kLabelSelectorFields, out);
}

bool read_node_affinity(SnapshotInput& input, json::JsonValue object, NodeAffinity& out) {
  return json::read_fields(input, object, kNodeAffinityFields, out);
}

bool read_volume_node_affinity(SnapshotInput& input, json::JsonValue object, PodSpec& out) {
  NodeAffinity terms;
  if (!json::read_fields(input, object, kVolumeNodeAffinityFields, terms)) return false;
  out.volume_terms = std::move(terms.required);
  return true;
}

bool read_pod_anti_affinity(SnapshotInput& input, json::JsonValue value, PodSpec& out) {
  return read_pod_term_lists(input, value, {out.anti_affinity, out.preferred_anti_affinity});
}

bool read_pod_affinity(SnapshotInput& input, json::JsonValue value, PodSpec& out) {
  return read_pod_term_lists(input, value, {out.affinity, out.preferred_affinity});
}

bool read_spread(SnapshotInput& input, json::JsonValue object, SpreadConstraint& out) {
  return json::read_fields(input, object, kSpreadFields, out) && check_spread(input, object, out);
}

bool read_topology_spread(SnapshotInput& input, json::JsonValue list, PodSpec& out) {
  if (!input.expect(list, json::JsonKind::kArray)) return false;
  for (const json::JsonValue element : list.elements()) {
    if (!read_spread(input, element, out.topology_spread.emplace_back())) return false;
  }
  return true;
}

bool read_namespaces(SnapshotInput& input, json::JsonValue list) {
  return json::read_list(input, list, kNamespaceFields, input.snapshot.definitions.namespaces);
}

void add_affinity_objects(std::vector<json::KnownObject>& out) {
  out.push_back(json::known_object("taint", kTaintFields));
  out.push_back(json::known_object("toleration", kTolerationFields));
  out.push_back(json::known_object("selectorRequirement", kRequirementFields));
  out.push_back(json::known_object("nodeSelectorTerm", kNodeTermFields));
  out.push_back(json::known_object("nodeSelector", kNodeSelectorFields));
  out.push_back(json::known_object("preferredNodeTerm", kPreferredFields));
  out.push_back(json::known_object("nodeAffinity", kNodeAffinityFields));
  out.push_back(json::known_object("volumeNodeAffinity", kVolumeNodeAffinityFields));
  out.push_back(json::known_object("labelSelector", kLabelSelectorFields));
  out.push_back(json::known_object("podTerm", kPodTermFields));
  out.push_back(json::known_object("preferredPodTerm", kPreferredPodFields));
  out.push_back(json::known_object("podAffinity", kPodAffinityFields));
  out.push_back(json::known_object("topologySpreadConstraint", kSpreadFields));
  out.push_back(json::known_object("namespace", kNamespaceFields));
}

}  // namespace muster::muster_v1
