// The gangs that controllers make for the objects whose template makes pods: those of Volcano and of the coscheduling
// plugin. Those of KAI's pod grouper, and of Volcano for pods that no other controller groups, follow from the pods and
// their owners, as for pods that exist: grouping/.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "io/kubernetes/kinds.h"
#include "io/kubernetes/templates/made_objects.h"
#include "io/kubernetes/templates/pod_maker.h"

namespace muster::kubernetes {

enum class GangSystem : std::uint8_t { kNone, kVolcano, kCoscheduling };

// Which gang the pods of one maker form.
struct GangChoice {
  GangSystem system = GangSystem::kNone;
  bool is_per_set = false;            // each set of pods is a gang
  std::int64_t members = 0;           // that it needs at least
  bool counts_all_resources = false;  // it waits for room for all its pods, even if it needs fewer of them
};

// `scheduler`: that of the pods, empty if they name none. `kai_scheduler`: KAI's. `in_groups`: pods of it that exist
// belong to groups of Volcano. What is assumed is a remark. Errors: those of the values.
[[nodiscard]] bool choose_gang(KubernetesReading& reading, const PodMaker& maker, std::string_view scheduler,
                               bool in_groups, GangChoice& out);

// The scheduler of pods that name none; empty: the default one.
std::string_view default_scheduler(const PodMaker& maker);

// The name of the gang that the pods of a set belong to.
std::string gang_name(const PodMaker& maker, const GangChoice& choice, std::int64_t set);

// What the controllers put on the pods of a role that belong to a gang of this name.
void mark_members(const GangChoice& choice, const PodRole& role, const std::string& gang, PodAdditions& additions);

// The object of the gang; empty: it has none, as its pods tell all. `kind`: how the import reads it.
std::string group_text(KubernetesReading& reading, const PodMaker& maker, const GangChoice& choice,
                       const std::string& gang, KubernetesKind& kind);

}  // namespace muster::kubernetes
