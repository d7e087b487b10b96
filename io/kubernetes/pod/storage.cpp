#include "io/kubernetes/pod/storage.h"

#include <algorithm>
#include <array>

namespace muster::kubernetes {

namespace {

constexpr std::string_view kBetaClass = "volume.beta.kubernetes.io/storage-class";
constexpr std::string_view kBindCompleted = "pv.kubernetes.io/bind-completed";
constexpr std::string_view kSelectedNode = "volume.kubernetes.io/selected-node";
constexpr std::string_view kNoProvisioner = "kubernetes.io/no-provisioner";

constexpr std::array<std::pair<std::string_view, AccessModes>, 4> kModes = {{{"ReadWriteOnce", kReadWriteOnce},
                                                                             {"ReadWriteOncePod", kReadWriteOncePod},
                                                                             {"ReadOnlyMany", kReadOnlyMany},
                                                                             {"ReadWriteMany", kReadWriteMany}}};

struct ZoneLabel {
  std::string_view key;
  std::string_view now;  // what nodes have in its place today; empty: it is that
};
constexpr std::array<ZoneLabel, 4> kZoneLabels = {
    {{"failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"},
     {"failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"},
     {"topology.kubernetes.io/region", ""},
     {"topology.kubernetes.io/zone", ""}}};
constexpr std::array<std::string_view, 4> kZoneKeys = {kZoneLabels[0].key, kZoneLabels[1].key, kZoneLabels[2].key,
                                                       kZoneLabels[3].key};

bool read_modes(KubernetesReading& in, json::JsonValue list, AccessModes& out) {
  bool has_any = false;
  if (!in.has_elements(list, has_any)) return false;
  if (!has_any) return true;
  for (const json::JsonValue element : list.elements()) {
    std::string_view mode;
    if (!in.text(element, mode)) return false;
    const auto known = std::ranges::find(kModes, mode, &std::pair<std::string_view, AccessModes>::first);
    if (known != kModes.end()) out = static_cast<AccessModes>(out | known->second);
  }
  return true;
}

bool read_storage(KubernetesReading& in, json::JsonValue amounts, std::int64_t& out) {
  json::JsonValue storage;
  if (!in.take(amounts, "storage", storage)) return false;
  return !storage || in.read_amount(storage, {QuantityUnit::kOne, Rounding::kUp}, out);
}

bool read_volume_mode(KubernetesReading& in, json::JsonValue value, bool& is_block) {
  std::string_view mode;
  if (!in.text(value, mode)) return false;
  is_block = mode == "Block";
  return true;
}

// The values of a label such as `a__b`, which stand for any of them; none if one is empty: then it means nothing.
std::vector<std::string_view> zones_in(std::string_view text) {
  constexpr std::string_view kSeparator = "__";
  std::vector<std::string_view> zones;
  while (true) {
    const std::size_t at = text.find(kSeparator);
    zones.push_back(text.substr(0, at));
    if (zones.back().empty()) return {};
    if (at == std::string_view::npos) return zones;
    text.remove_prefix(at + kSeparator.size());
  }
}

// A node without any label of a zone or region passes, as in kube-scheduler's VolumeZone. The old name of a label is
// tried first, then the new one.
bool read_zones(KubernetesReading& in, json::JsonValue labels, std::optional<NodeTerms>& out) {
  std::array<json::JsonValue, 4> found;
  if (!in.take(labels, kZoneKeys, found)) return false;
  std::optional<NodeTerms> zones;
  for (std::size_t i = 0; i < found.size(); ++i) {
    std::string_view text;
    if (!in.text(found[i], text)) return false;
    const std::vector<std::string_view> values = zones_in(text);
    if (values.empty()) continue;
    NodeTerms one{label_term(kZoneLabels[i].key, values)};
    if (!kZoneLabels[i].now.empty()) {
      one.push_back(label_term(kZoneLabels[i].now, values));
      one.back().push_back({kZoneLabels[i].key, "DoesNotExist", {}, false});
      std::ranges::sort(one.back());
    }
    zones = zones ? both(*zones, one) : one;
  }
  if (!zones) return true;
  NodeTerm without;
  for (const std::string_view key : kZoneKeys) without.push_back({key, "DoesNotExist", {}, false});
  std::ranges::sort(without);
  zones->push_back(std::move(without));
  out = out ? both(*out, *zones) : *zones;
  return true;
}

// allowedTopologies: as terms of a node affinity that only know `In`.
bool read_topologies(KubernetesReading& in, json::JsonValue list, std::optional<NodeTerms>& out) {
  static constexpr std::array<std::string_view, 2> kKeys = {"key", "values"};
  bool has_any = false;
  if (!in.has_elements(list, has_any)) return false;
  if (!has_any) return true;
  NodeTerms terms;
  for (const json::JsonValue element : list.elements()) {
    json::JsonValue expressions;
    bool has_expressions = false;
    if (!in.expect(element, json::JsonKind::kObject) || !in.take(element, "matchLabelExpressions", expressions) ||
        !in.has_elements(expressions, has_expressions)) {
      return false;
    }
    if (!has_expressions) continue;
    NodeTerms met{{}};
    for (const json::JsonValue expression : expressions.elements()) {
      std::array<json::JsonValue, 2> found;
      std::string_view key;
      std::vector<std::string_view> values;
      bool has_values = false;
      if (!in.expect(expression, json::JsonKind::kObject) || !in.take(expression, kKeys, found) ||
          !in.text(found[0], key) || !in.has_elements(found[1], has_values)) {
        return false;
      }
      if (has_values) {
        for (const json::JsonValue value : found[1].elements()) {
          if (!in.text(value, values.emplace_back())) return false;
        }
      }
      met = both(met, {label_term(key, std::move(values))});
    }
    terms.insert(terms.end(), met.begin(), met.end());
  }
  out = std::move(terms);
  return true;
}

bool read_class_name(KubernetesReading& in, json::JsonValue annotations, json::JsonValue value, std::string_view& out) {
  json::JsonValue beta;
  return in.text(value, out) && in.take(annotations, kBetaClass, beta) && in.text(beta, out);
}

}  // namespace

bool KubernetesStorage::add_claim(KubernetesReading& in, const KubernetesObject& object) {
  static constexpr std::array<std::string_view, 3> kMetadata = {"annotations", "deletionTimestamp", "ownerReferences"};
  static constexpr std::array<std::string_view, 6> kSpec = {"accessModes",      "resources",  "selector",
                                                            "storageClassName", "volumeMode", "volumeName"};
  static constexpr std::array<std::string_view, 2> kAnnotations = {kBindCompleted, kSelectedNode};
  std::array<json::JsonValue, 3> metadata;
  std::array<json::JsonValue, 6> spec;
  std::array<json::JsonValue, 2> annotations;
  json::JsonValue requests, phase;
  StorageClaim claim;
  if (!in.take(object.metadata, kMetadata, metadata) || !in.take(object.spec, kSpec, spec) ||
      !in.take(metadata[0], kAnnotations, annotations) || !read_modes(in, spec[0], claim.modes) ||
      !in.take(spec[1], "requests", requests) || !read_storage(in, requests, claim.bytes) ||
      !read_class_name(in, metadata[0], spec[3], claim.storage_class) ||
      !read_volume_mode(in, spec[4], claim.is_block) || !in.text(spec[5], claim.volume) ||
      !in.text(annotations[1], claim.selected_node) || !in.take(object.status, "phase", phase) ||
      !in.text(phase, claim.phase) || !read_controller(in, metadata[2], claim.owner_kind, claim.owner_name)) {
    return false;
  }
  claim.is_deleted = static_cast<bool>(metadata[1]);
  claim.has_selector = static_cast<bool>(spec[2]);
  claim.is_bound = !claim.volume.empty() && (annotations[0] || claim.phase == "Bound");
  claims_.emplace(std::string(object.namespace_name).append("/").append(object.name), claim);
  return true;
}

bool KubernetesStorage::add_volume(KubernetesReading& in, const KubernetesObject& object) {
  static constexpr std::array<std::string_view, 2> kMetadata = {"annotations", "labels"};
  static constexpr std::array<std::string_view, 7> kSpec = {
      "accessModes", "capacity", "claimRef", "nodeAffinity", "storageClassName", "volumeMode", "csi"};
  static constexpr std::array<std::string_view, 2> kClaim = {"name", "namespace"}, kCsi = {"driver", "volumeHandle"};
  std::array<json::JsonValue, 2> metadata, claim, csi;
  std::array<json::JsonValue, 7> spec;
  json::JsonValue required, terms, phase;
  std::string_view claim_name, claim_namespace;
  StorageVolume volume;
  volume.name = object.name;
  if (!in.take(object.metadata, kMetadata, metadata) || !in.take(object.spec, kSpec, spec) ||
      !read_modes(in, spec[0], volume.modes) || !read_storage(in, spec[1], volume.bytes) ||
      !in.take(spec[2], kClaim, claim) || !in.text(claim[0], claim_name) || !in.text(claim[1], claim_namespace) ||
      !in.take(spec[3], "required", required) || !in.take(required, "nodeSelectorTerms", terms) ||
      !read_class_name(in, metadata[0], spec[4], volume.storage_class) ||
      !read_volume_mode(in, spec[5], volume.is_block) || !in.take(object.status, "phase", phase) ||
      !in.text(phase, volume.phase) || !in.take(spec[6], kCsi, csi) || !in.text(csi[0], volume.driver) ||
      !in.text(csi[1], volume.handle)) {
    return false;
  }
  if (required && !read_node_terms(in, terms, volume.node_terms.emplace())) return false;
  if (!read_zones(in, metadata[1], volume.node_terms)) return false;
  if (!claim_name.empty()) volume.claimed_by = std::string(claim_namespace).append("/").append(claim_name);
  volume_positions_.emplace(object.name, volumes_.size());
  volumes_.push_back(std::move(volume));
  return true;
}

bool KubernetesStorage::add_class(KubernetesReading& in, const KubernetesObject& object) {
  static constexpr std::array<std::string_view, 3> kKeys = {"allowedTopologies", "provisioner", "volumeBindingMode"};
  std::array<json::JsonValue, 3> found;
  std::string_view provisioner, mode;
  StorageClassFacts facts;
  if (!in.take(object.value, kKeys, found) || !read_topologies(in, found[0], facts.allowed) ||
      !in.text(found[1], provisioner) || !in.text(found[2], mode)) {
    return false;
  }
  facts.waits_for_consumer = mode == "WaitForFirstConsumer";
  facts.provisioner = provisioner;
  facts.provisions = !provisioner.empty() && provisioner != kNoProvisioner;
  classes_.emplace(object.name, std::move(facts));
  return true;
}

const StorageClaim* KubernetesStorage::claim(const std::string& namespace_and_name) const {
  const auto found = claims_.find(namespace_and_name);
  return found == claims_.end() ? nullptr : &found->second;
}

const StorageVolume* KubernetesStorage::volume(std::string_view name) const {
  const auto found = volume_positions_.find(name);
  return found == volume_positions_.end() ? nullptr : &volumes_[found->second];
}

const StorageClassFacts* KubernetesStorage::storage_class(std::string_view name) const {
  const auto found = classes_.find(name);
  return found == classes_.end() ? nullptr : &found->second;
}

bool could_bind(const StorageVolume& volume, const StorageClaim& claim, std::string_view claim_name) {
  const bool offers_modes = (volume.modes & claim.modes) == claim.modes;
  const bool is_free =
      volume.claimed_by.empty() ? volume.phase.empty() || volume.phase == "Available" : volume.claimed_by == claim_name;
  return is_free && offers_modes && !claim.has_selector && volume.storage_class == claim.storage_class &&
         volume.is_block == claim.is_block && volume.bytes >= claim.bytes;
}

}  // namespace muster::kubernetes
