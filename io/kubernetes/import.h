// Kubernetes objects -> one line of `muster/v1`, as docs/kubernetes.md describes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/json/json_document.h"
#include "io/json/json_text.h"
#include "io/kubernetes/import/named_objects.h"
#include "io/kubernetes/object/object.h"
#include "model/base/error_code.h"
#include "model/snapshot/snapshot.h"

namespace muster::kubernetes {

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
Result<ImportedSnapshot> import_kubernetes(json::JsonValue root, const KubernetesOptions& options);

// The same for a text of documents, one after another. Errors: those of JsonDocument, UnsupportedFormat, too. Cost: as
// above, and memory in proportion to the relevant part of the text.
Result<ImportedSnapshot> import_kubernetes_text(const json::JsonText& text, const KubernetesOptions& options,
                                                json::JsonLimits limits);

// The same for objects that are kept, with options that read an object as it was kept (reads_alike). Requires
// options.time. Paths of errors begin at the object. Pods share templates, which an import of the text does not have.
Result<ImportedSnapshot> import_kept(const KeptObjects& objects, const KubernetesOptions& options);

// An error of a line that has been imported, with the name of the object that its path leads to.
InputError name_imported(InputError error, std::string_view line);

}  // namespace muster::kubernetes
