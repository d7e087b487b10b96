// How long a pod is expected to run, and when a finished one ended.
#pragma once

#include <optional>
#include <string_view>

#include "io/kubernetes/pod/parts.h"
#include "model/snapshot/snapshot.h"

namespace muster::kubernetes {

// What a pod and the objects that create or admit it tell. Each is more than 0.
struct ExpectedRunTime {
  std::optional<Nanoseconds> annotated, deadline;

  // The annotation, else the shortest deadline; none: unknown.
  std::optional<Nanoseconds> value() const { return annotated ? annotated : deadline; }
  // Adds what another object tells about the same pod: its annotation, if there is none yet, and its deadline, if that
  // is shorter.
  void add(const ExpectedRunTime& other);
};

// The values of one object. One that cannot be read is left out, and a remark names the object; this is no error.
// `annotations`: of the object, may be absent; the key is that of the reading.
std::optional<Nanoseconds> read_annotated_duration(KubernetesReading& reading, const KubernetesObject& object,
                                                   json::JsonValue annotations);
// `seconds`: the value of `key`, which may be absent; `key` is for the remark.
std::optional<Nanoseconds> read_deadline(KubernetesReading& reading, const KubernetesObject& object,
                                         std::string_view key, json::JsonValue seconds);
// `seconds`: the value of Kueue's label, kKueueMaxTimeLabel, which may be absent.
std::optional<Nanoseconds> read_labelled_deadline(KubernetesReading& reading, const KubernetesObject& object,
                                                  json::JsonValue seconds);
// All of a pod: its annotation, spec.activeDeadlineSeconds and the label.
ExpectedRunTime read_expected_run_time(KubernetesReading& reading, const KubernetesObject& object,
                                       const PodParts& parts);

// The latest `state.terminated.finishedAt` of the containers, RFC 3339; empty: none is known. As above, a value that
// cannot be read causes a remark. Only for pods that have finished.
std::string_view read_end(KubernetesReading& reading, const KubernetesObject& object);

}  // namespace muster::kubernetes
