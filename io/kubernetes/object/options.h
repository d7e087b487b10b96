// How Kubernetes objects are imported.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/kubernetes/object/object.h"
#include "model/snapshot/snapshot.h"

namespace muster::kubernetes {

struct KubernetesOptions {
  bool expand = false;                         // pods that templates have not made yet are there, too
  std::vector<std::string> expand_only = {};   // of the objects with these titles (manifest.h); empty: of all
  std::optional<Nanoseconds> time = {};        // now; none: the latest instant in the objects,
  std::optional<Nanoseconds> not_before = {};  // or this, if it is later
  // `policy` of the snapshot, an object in JSON, without spaces around it and without expectedDurations; empty: none
  std::string policy = {};
  std::string grace_period = {};   // for KAI's groups that do not set theirs; empty: none
  std::string kai_scheduler = {};  // empty: KAI's default, as is the label that names the queue of its pods
  std::string kai_queue_label = {};
  // The scheduling gate of the pods that are to be planned: they count as if they had it not, and all other pods that
  // wait are left to their schedulers. Empty: none
  std::string planned_gate = {};
  // Pods that come before the object of their group are held until it comes, where other pods of the group may still be
  // missing: in a cluster that is watched, kinds are seen one after another. Else such pods may count as single ones.
  bool awaits_groups = false;
  std::string duration_annotation = {};  // that tells how long a pod runs; empty: kDurationAnnotation
  // An inconsistent object is an error; else it is left out, or its pods are held, and a warning names it.
  bool strict = true;
  bool remark_on_templates = true;        // each kind that creates pods, if it is not expanded
  std::vector<std::string> remarks = {};  // on how the objects were read; the line has them first
};

// Sets what `options` say about single objects.
void configure(const KubernetesOptions& options, KubernetesReading& reading);

// Whether both say the same about single objects.
bool reads_alike(const KubernetesOptions& one, const KubernetesOptions& other);

}  // namespace muster::kubernetes
