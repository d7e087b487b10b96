#include "io/kubernetes/pod/constraints.h"

namespace muster::kubernetes {

namespace {

constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";

// Whether terms choose namespaces by labels that the list does not contain.
bool asks_namespace_labels(KubernetesReading& in, json::JsonValue terms, bool& out) {
  for (const json::JsonValue term : terms.elements()) {
    json::JsonValue selector;
    if (!in.expect(term, json::JsonKind::kObject) || !in.take(term, "namespaceSelector", selector)) return false;
    if (selector && !in.expect(selector, json::JsonKind::kObject)) return false;
    out = out || (!in.has_namespaces && selector && selector.size() > 0);
  }
  return true;
}

bool read_preferred_terms(KubernetesReading& in, const KubernetesObject& object, json::JsonValue list,
                          PodTermValues& terms) {
  for (const json::JsonValue preferred : list.elements()) {
    json::JsonValue term, selector;
    if (!in.expect(preferred, json::JsonKind::kObject) || !in.take(preferred, "podAffinityTerm", term)) return false;
    if (!in.take(term, "namespaceSelector", selector)) return false;
    if (!in.has_namespaces && selector && selector.is(json::JsonKind::kObject) && selector.size() > 0) {
      in.remarks.add(std::string("preferred ")
                         .append(terms.name)
                         .append(" over namespaces chosen by label is ignored: add namespaces to `kubectl get`"),
                     object);
    } else {
      terms.preferred.push_back(preferred);
    }
  }
  return true;
}

// podAffinity or podAntiAffinity. Without the labels of namespaces, a term that uses them cannot be evaluated.
bool read_pod_terms(KubernetesReading& in, const KubernetesObject& object, PodTermValues& terms,
                    std::string_view& held) {
  static constexpr std::array<std::string_view, 2> kForms = {kPreferred, kRequired};
  std::array<json::JsonValue, 2> found;
  bool has_preferred = false, has_required = false, asks_labels = false;
  if (!in.take(terms.object, kForms, found) || !in.has_elements(found[0], has_preferred) ||
      !in.has_elements(found[1], has_required)) {
    return false;
  }
  if (has_preferred && !read_preferred_terms(in, object, found[0], terms)) return false;
  if (!has_required) return true;
  if (!asks_namespace_labels(in, found[1], asks_labels)) return false;
  if (!asks_labels) {
    terms.required = found[1];
  } else {
    keep_first_reason(held, terms.held_over_labels);
  }
  return true;
}

bool read_affinity(KubernetesReading& in, const KubernetesObject& object, json::JsonValue affinity, PodConstraints& out,
                   std::string_view& held) {
  static constexpr std::array<std::string_view, 3> kKinds = {"nodeAffinity", "podAffinity", "podAntiAffinity"};
  std::array<json::JsonValue, 3> kinds;
  if (!in.take(affinity, kKinds, kinds)) return false;
  out.node_affinity = kinds[0];
  if (kinds[0] && !in.expect(kinds[0], json::JsonKind::kObject)) return false;
  out.affinity = {"pod affinity",
                  "the pod has pod affinity over namespaces chosen by label, and the input has no Namespace: add "
                  "namespaces to `kubectl get`",
                  kinds[1],
                  {},
                  {}};
  out.anti_affinity = {"pod anti-affinity",
                       "the pod has pod anti-affinity over namespaces chosen by label, and the input has no Namespace: "
                       "add namespaces to `kubectl get`",
                       kinds[2],
                       {},
                       {}};
  return read_pod_terms(in, object, out.affinity, held) && read_pod_terms(in, object, out.anti_affinity, held);
}

bool read_spread(KubernetesReading& in, json::JsonValue list, PodConstraints& out) {
  bool has_any = false;
  if (!in.has_elements(list, has_any)) return false;
  if (!has_any) return true;
  out.topology_spread = list;
  for (const json::JsonValue constraint : list.elements()) {
    if (!in.expect(constraint, json::JsonKind::kObject)) return false;
  }
  return true;
}

}  // namespace

bool read_constraints(KubernetesReading& in, const KubernetesObject& object, const PodParts& parts, PodConstraints& out,
                      std::string_view& held) {
  out.node_selector = parts.spec[PodParts::kNodeSelector];
  if (out.node_selector && !in.expect(out.node_selector, json::JsonKind::kObject)) return false;
  bool has_tolerations = false, has_claims = false;
  if (!in.has_elements(parts.spec[PodParts::kTolerations], has_tolerations)) return false;
  if (has_tolerations) out.tolerations = parts.spec[PodParts::kTolerations];
  if (!read_affinity(in, object, parts.spec[PodParts::kAffinity], out, held) ||
      !read_spread(in, parts.spec[PodParts::kTopologySpread], out))
    return false;
  if (!in.has_elements(parts.spec[PodParts::kResourceClaims], has_claims)) return false;
  if (has_claims) keep_first_reason(held, "the pod has resource claims, which Muster does not plan");
  return true;
}

}  // namespace muster::kubernetes
