// Kubernetes objects -> one line of `muster/v1`, as docs/kubernetes.md describes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/json/json_document.h"
#include "io/kubernetes/import/kept_object.h"
#include "model/base/error.h"
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

struct ImportedSnapshot {
  std::string line;  // without a line feed
  // What was passed over, ignored or held back, a sentence each, with a count and the first object.
  std::vector<std::string> remarks;
  // Objects that are left out of the line; odd ones in the line have the key `unclear` there.
  std::vector<Warning> warnings;
};

// Requires a document that parsed, and holds_kubernetes_objects. Errors: those of SnapshotReader, DuplicateName,
// UnknownNode, UnknownQueue; the message begins with the kind and the name of the object, the path is that of the
// document. Cost: one pass over the document.
Result<ImportedSnapshot> import_kubernetes(json::JsonDocument& document, const KubernetesOptions& options);

// The same for a text of documents, one after another. Errors: those of JsonDocument, UnsupportedFormat, too. Cost: as
// above, and memory in proportion to the relevant part of the text.
Result<ImportedSnapshot> import_kubernetes_text(std::string text, const KubernetesOptions& options,
                                                json::JsonLimits limits);

// The same for objects that are kept. Requires options.time. Paths of errors begin at the object.
Result<ImportedSnapshot> import_kept(const KeptObjects& objects, const KubernetesOptions& options);

// An error of a line that has been imported, with the name of the object that its path leads to.
InputError name_imported(InputError error, std::string_view line);

}  // namespace muster::kubernetes
