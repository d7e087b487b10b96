// Gangs in the words of Koordinator and YuniKorn: what their labels and annotations say, and the texts in them.
//
// Sources: Koordinator apis/extension/coscheduling.go and pkg/scheduler/plugins/coscheduling; YuniKorn
// pkg/common/constants and pkg/cache/gang_utils.go of yunikorn-k8shim (July and August 2026).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/snapshot/snapshot.h"

namespace muster::kubernetes {

// Of a pod or a PodGroup; empty: not set.
struct DialectLabels {
  std::string_view gang_groups;        // Koordinator: the gangs that start together, a JSON list of names
  std::string_view match_policy;       // Koordinator: which pods count towards the minimum
  std::string_view task_groups;        // YuniKorn: the minimums of an application, a JSON list
  std::string_view task_group;         // YuniKorn: that of the pod
  std::string_view policy_parameters;  // YuniKorn: style and timeout
  bool is_koordinator = false;         // a PodGroup has annotations of Koordinator, or a pod its scheduler
  bool is_placeholder = false;         // YuniKorn: the pod keeps room for another one of its task group
  std::optional<bool> allows_preemption;
};

struct TaskGroup {
  std::string name;
  std::int32_t min_member = 0;
};

// YuniKorn's list of task groups. None: YuniKorn rejects the text.
std::optional<std::vector<TaskGroup>> read_task_groups(std::string_view text);

// Koordinator's list of gangs, each `namespace/name`; a name alone is in `namespace_name`. Sorted, each once. None: no
// list of names.
std::optional<std::vector<std::string>> read_gang_list(std::string_view text, std::string_view namespace_name);

// YuniKorn's `key=value` pairs with a space between them; unknown ones are passed over, as YuniKorn does.
struct PolicyParameters {
  bool is_hard = false;  // absent: soft, so that after the timeout each pod starts by itself
  Nanoseconds timeout = 0;
};
PolicyParameters read_policy_parameters(std::string_view text);

}  // namespace muster::kubernetes
