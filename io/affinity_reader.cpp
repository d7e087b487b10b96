// Taints, tolerations, node affinity and pod anti-affinity in the words of Kubernetes (core/v1).
#include <array>
#include <charconv>
#include <utility>

#include "io/pod_spec_reader.h"

namespace muster {

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
bool pass_over(SnapshotInput& input, JsonValue value, Target&) {
  return input.check_duplicates(value);
}

constexpr std::array<Field<SnapshotInput, Taint>, 4> kTaintFields = {
    {{"key", [](SnapshotInput& in, JsonValue v, Taint& t) { return in.read_name(v, t.key); }, true},
     {"value", [](SnapshotInput& in, JsonValue v, Taint& t) { return in.read(v, t.value); }},
     {"effect", [](SnapshotInput& in, JsonValue v, Taint& t) { return read_choice(in, v, kEffects, t.effect); }, true},
     {"timeAdded", pass_over<Taint>}}};

bool read_toleration_effect(SnapshotInput& in, JsonValue v, Toleration& t) {
  if (v.is(JsonKind::kString) && v.string().empty()) return true;  // as in Kubernetes: any effect
  return read_choice(in, v, kEffects, t.effect.emplace());
}

constexpr std::array<Field<SnapshotInput, Toleration>, 5> kTolerationFields = {
    {{"key", [](SnapshotInput& in, JsonValue v, Toleration& t) { return in.read(v, t.key); }},
     {"operator",
      [](SnapshotInput& in, JsonValue v, Toleration& t) { return read_choice(in, v, kTolerationOperators, t.exists); }},
     {"value", [](SnapshotInput& in, JsonValue v, Toleration& t) { return in.read(v, t.value); }},
     {"effect", read_toleration_effect},
     {"tolerationSeconds", [](SnapshotInput& in, JsonValue v, Toleration&) {
        Quantity ignored;
        return in.read_number(v, ignored);
      }}}};

bool read_requirement_key(SnapshotInput& in, JsonValue v, SelectorRequirement& r) { return in.read_name(v, r.key); }

bool read_requirement_operator(SnapshotInput& in, JsonValue v, SelectorRequirement& r) {
  return read_choice(in, v, kOperators, r.op);
}

bool read_requirement_values(SnapshotInput& in, JsonValue v, SelectorRequirement& r) {
  if (!in.expect(v, JsonKind::kArray)) return false;
  for (const JsonValue element : v.elements()) {
    if (!in.read(element, r.values.emplace_back())) return false;
  }
  return true;
}

constexpr std::array<Field<SnapshotInput, SelectorRequirement>, 3> kRequirementFields = {
    {{"key", read_requirement_key, true},
     {"operator", read_requirement_operator, true},
     {"values", read_requirement_values}}};

bool is_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && end == text.data() + text.size();
}

bool check_requirement(SnapshotInput& in, JsonValue culprit, const SelectorRequirement& requirement) {
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

bool read_requirements(SnapshotInput& in, JsonValue list, std::vector<SelectorRequirement>& out) {
  const std::size_t first = out.size();
  if (!read_list(in, list, kRequirementFields, out)) return false;
  std::size_t at = first;
  for (const JsonValue element : list.elements()) {
    if (!check_requirement(in, element, out[at++])) return false;
  }
  return true;
}

bool read_match_expressions(SnapshotInput& in, JsonValue list, NodeSelectorTerm& term) {
  return read_requirements(in, list, term.match_expressions);
}

bool read_match_fields(SnapshotInput& in, JsonValue list, NodeSelectorTerm& term) {
  if (!read_requirements(in, list, term.match_fields)) return false;
  std::size_t at = 0;
  for (const JsonValue element : list.elements()) {
    const SelectorRequirement& field = term.match_fields[at++];
    if (field.key != "metadata.name") return in.fail_value(element, "the only field to match is metadata.name");
    if (field.op != SelectorOperator::kIn && field.op != SelectorOperator::kNotIn) {
      return in.fail_value(element, "a field is matched by In or NotIn");
    }
  }
  return true;
}

constexpr std::array<Field<SnapshotInput, NodeSelectorTerm>, 2> kNodeTermFields = {
    {{"matchExpressions", read_match_expressions}, {"matchFields", read_match_fields}}};

constexpr std::array<Field<SnapshotInput, NodeAffinity>, 1> kNodeSelectorFields = {
    {{"nodeSelectorTerms",
      [](SnapshotInput& in, JsonValue v, NodeAffinity& affinity) {
        return read_list(in, v, kNodeTermFields, affinity.required.emplace());
      },
      true}}};

bool read_preferred_weight(SnapshotInput& in, JsonValue v, PreferredNodeTerm& preferred) {
  std::int64_t weight = 0;
  if (!in.read_integer(v, 1, 100, weight)) return false;
  preferred.weight = static_cast<std::int32_t>(weight);
  return true;
}

constexpr std::array<Field<SnapshotInput, PreferredNodeTerm>, 2> kPreferredFields = {
    {{"weight", read_preferred_weight, true},
     {"preference",
      [](SnapshotInput& in, JsonValue v, PreferredNodeTerm& preferred) {
        return read_fields(in, v, kNodeTermFields, preferred.term);
      },
      true}}};

constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";

constexpr std::array<Field<SnapshotInput, NodeAffinity>, 2> kNodeAffinityFields = {
    {{kRequired, [](SnapshotInput& in, JsonValue v,
                    NodeAffinity& affinity) { return read_fields(in, v, kNodeSelectorFields, affinity); }},
     {kPreferred, [](SnapshotInput& in, JsonValue v, NodeAffinity& affinity) {
        return read_list(in, v, kPreferredFields, affinity.preferred);
      }}}};

bool read_match_labels(SnapshotInput& in, JsonValue v, LabelSelector& selector) {
  Labels labels;
  if (!in.read_labels(v, labels)) return false;
  for (const auto& [key, value] : labels) selector.requirements.push_back({key, SelectorOperator::kIn, {value}});
  return true;
}

bool read_label_expressions(SnapshotInput& in, JsonValue list, LabelSelector& selector) {
  std::vector<SelectorRequirement> requirements;
  if (!read_requirements(in, list, requirements)) return false;
  std::size_t at = 0;
  for (const JsonValue element : list.elements()) {
    SelectorRequirement& requirement = requirements[at++];
    if (requirement.op == SelectorOperator::kGt || requirement.op == SelectorOperator::kLt) {
      return in.fail_value(element, "a label selector knows In, NotIn, Exists and DoesNotExist");
    }
    selector.requirements.push_back(std::move(requirement));
  }
  return true;
}

constexpr std::array<Field<SnapshotInput, LabelSelector>, 2> kLabelSelectorFields = {
    {{"matchLabels", read_match_labels}, {"matchExpressions", read_label_expressions}}};

bool read_match_gang(SnapshotInput& in, JsonValue v, PodAntiAffinityTerm& term) {
  if (!in.read(v, term.match_gang)) return false;
  return term.match_gang || in.fail_value(v, "matchGang must be true; leave the key out instead");
}

bool read_namespace_selector(SnapshotInput& in, JsonValue v, PodAntiAffinityTerm& term) {
  if (!in.expect(v, JsonKind::kObject)) return false;
  if (v.size() != 0) {
    return in.fail_value(
        v, "namespaces have no labels here: only the empty namespaceSelector, for all of them, has a meaning");
  }
  term.all_namespaces = true;
  return true;
}

constexpr std::array<Field<SnapshotInput, PodAntiAffinityTerm>, 5> kAntiAffinityTermFields = {
    {{"topologyKey",
      [](SnapshotInput& in, JsonValue v, PodAntiAffinityTerm& t) { return in.read_name(v, t.topology_key); }, true},
     {"matchGang", read_match_gang},
     {"labelSelector",
      [](SnapshotInput& in, JsonValue v, PodAntiAffinityTerm& t) {
        return read_fields(in, v, kLabelSelectorFields, t.selector.emplace());
      }},
     {"namespaces",
      [](SnapshotInput& in, JsonValue v, PodAntiAffinityTerm& t) { return in.read_names(v, t.namespaces); }},
     {"namespaceSelector", read_namespace_selector}}};

bool read_anti_affinity_term(SnapshotInput& in, JsonValue object, PodAntiAffinityTerm& term) {
  if (!read_fields(in, object, kAntiAffinityTermFields, term)) return false;
  const bool selects = term.selector || !term.namespaces.empty() || term.all_namespaces;
  if (term.match_gang && selects) {
    return in.fail_value(object, "matchGang stands alone: without labelSelector, namespaces and namespaceSelector");
  }
  return true;
}

bool read_anti_affinity_terms(SnapshotInput& in, JsonValue list, std::vector<PodAntiAffinityTerm>& out) {
  if (!in.expect(list, JsonKind::kArray)) return false;
  for (const JsonValue element : list.elements()) {
    if (!read_anti_affinity_term(in, element, out.emplace_back())) return false;
  }
  return true;
}

bool refuse_preferred_anti_affinity(SnapshotInput& in, JsonValue v, std::vector<PodAntiAffinityTerm>&) {
  if (in.lenient) return in.check_duplicates(v);
  return in.fail(v, "UnknownKey", "preferred anti-affinity has no meaning here: required terms only");
}

constexpr std::array<Field<SnapshotInput, std::vector<PodAntiAffinityTerm>>, 2> kAntiAffinityFields = {
    {{kRequired, read_anti_affinity_terms}, {kPreferred, refuse_preferred_anti_affinity}}};

}  // namespace

bool read_taints(SnapshotInput& input, JsonValue list, std::vector<Taint>& out) {
  return read_list(input, list, kTaintFields, out);
}

bool read_tolerations(SnapshotInput& input, JsonValue list, std::vector<Toleration>& out) {
  if (!read_list(input, list, kTolerationFields, out)) return false;
  std::size_t at = 0;
  for (const JsonValue element : list.elements()) {
    const Toleration& toleration = out[at++];
    if (toleration.exists && !toleration.value.empty()) return input.fail_value(element, "Exists takes no value");
    if (!toleration.exists && toleration.key.empty())
      return input.fail_value(element, "without a key the operator must be Exists");
  }
  return true;
}

bool read_label_selector(SnapshotInput& input, JsonValue object, LabelSelector& out) {
  return read_fields(input, object, kLabelSelectorFields, out);
}

bool read_node_affinity(SnapshotInput& input, JsonValue object, NodeAffinity& out) {
  return read_fields(input, object, kNodeAffinityFields, out);
}

// One term, a list of terms, or the Kubernetes object with its required terms.
bool read_pod_anti_affinity(SnapshotInput& input, JsonValue value, std::vector<PodAntiAffinityTerm>& out) {
  if (value.is(JsonKind::kArray)) return read_anti_affinity_terms(input, value, out);
  if (!input.expect(value, JsonKind::kObject)) return false;
  bool kubernetes = false;
  for (const JsonMember member : value.members()) kubernetes |= member.key == kRequired || member.key == kPreferred;
  if (kubernetes || value.size() == 0) return read_fields(input, value, kAntiAffinityFields, out);
  return read_anti_affinity_term(input, value, out.emplace_back());
}

void add_affinity_objects(std::vector<KnownObject>& out) {
  out.push_back(known_object("taint", kTaintFields));
  out.push_back(known_object("toleration", kTolerationFields));
  out.push_back(known_object("selectorRequirement", kRequirementFields));
  out.push_back(known_object("nodeSelectorTerm", kNodeTermFields));
  out.push_back(known_object("nodeSelector", kNodeSelectorFields));
  out.push_back(known_object("preferredNodeTerm", kPreferredFields));
  out.push_back(known_object("nodeAffinity", kNodeAffinityFields));
  out.push_back(known_object("labelSelector", kLabelSelectorFields));
  out.push_back(known_object("podAntiAffinityTerm", kAntiAffinityTermFields));
  out.push_back(known_object("podAntiAffinity", kAntiAffinityFields));
  std::erase(out.back().keys, kPreferred);  // known only to be refused
}

}  // namespace muster
