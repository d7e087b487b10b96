// The filters of rule "Node" that depend on a node's name, labels, taints and GPU model alone: one function each.
//
// All of them take the snapshot's own words. Semantics as in kube-scheduler: a required node affinity is met by any of
// its terms, `NotIn` and `DoesNotExist` match an absent key, `Gt` and `Lt` compare integers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/snapshot/snapshot.h"

namespace muster {

// The value of a label; none if the key is absent. Cost: O(log labels).
std::optional<std::string_view> label_of(const Labels& labels, std::string_view key);

bool tolerates(const std::vector<Toleration>& tolerations, const Taint& taint);
// Every NoSchedule and NoExecute taint is tolerated.
bool tolerates_hard_taints(const PodSpec& spec, const SnapshotNode& node);
std::int32_t untolerated_soft_taints(const PodSpec& spec, const SnapshotNode& node);

bool matches(const SelectorRequirement& requirement, std::optional<std::string_view> value);
bool matches(const NodeSelectorTerm& term, const SnapshotNode& node);
bool matches(const LabelSelector& selector, const Labels& labels);

bool node_selector_holds(const PodSpec& spec, const SnapshotNode& node);
bool required_affinity_holds(const PodSpec& spec, const SnapshotNode& node);
// The volumes of the pod can be attached.
bool volume_terms_hold(const PodSpec& spec, const SnapshotNode& node);
// A pod that names models may not use a node whose model is unknown.
bool gpu_models_hold(const PodSpec& spec, const SnapshotNode& node);

// All of the above, and the node is not cordoned.
bool passes_filters(const PodSpec& spec, const SnapshotNode& node);

// Sum of the weights of the preferred affinity terms that the node meets.
std::int32_t preferred_weight(const PodSpec& spec, const SnapshotNode& node);

}  // namespace muster
