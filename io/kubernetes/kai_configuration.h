// The configuration of KAI's scheduler in its archive: the part of it that is supported here.
#pragma once

#include <string>
#include <vector>

#include "io/kubernetes/object/object.h"

namespace muster::kubernetes {

struct KaiConfiguration {
  std::string policy;                  // `policy` of muster/v1, an object in JSON; empty: not set
  std::string grace_period;            // stalenessGracePeriod of groups that do not set theirs; empty: not set
  std::string scheduler, queue_label;  // the scheduler's name, and the label of its pods' queue; empty: KAI's defaults
  std::vector<std::string> remarks;
};

// `config` and `params` as SchedulerConfiguration and SchedulerParams of pkg/scheduler/conf; each may be absent.
// Errors: WrongType.
[[nodiscard]] bool read_kai_configuration(KubernetesReading& reading, json::JsonValue config, json::JsonValue params,
                                          KaiConfiguration& out);

}  // namespace muster::kubernetes
