#include "io/kubernetes/object/options.h"

#include <tuple>

namespace muster::kubernetes {

void configure(const KubernetesOptions& options, KubernetesReading& reading) {
  reading.strict = options.strict;
  if (!options.duration_annotation.empty()) reading.duration_annotation = options.duration_annotation;
  if (!options.kai_scheduler.empty()) reading.kai.scheduler = options.kai_scheduler;
  if (!options.kai_queue_label.empty()) reading.kai.queue_label = options.kai_queue_label;
  reading.planned_gate = options.planned_gate;
}

bool reads_alike(const KubernetesOptions& one, const KubernetesOptions& other) {
  const auto of = [](const KubernetesOptions& options) {
    return std::tie(options.strict, options.duration_annotation, options.kai_scheduler, options.kai_queue_label,
                    options.planned_gate);
  };
  return of(one) == of(other);
}

}  // namespace muster::kubernetes
