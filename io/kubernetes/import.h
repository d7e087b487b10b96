// Kubernetes objects -> Snapshot, as docs/kubernetes.md describes.
#pragma once

#include <string>

#include "io/json/json_document.h"
#include "io/json/json_text.h"
#include "io/kubernetes/import/named_objects.h"
#include "io/kubernetes/object/object.h"
#include "model/base/error_code.h"
#include "model/snapshot/snapshot.h"

namespace muster::kubernetes {

// The anomalies of each snapshot have a remark for what was passed over, ignored or held back, with a count and the
// first object; the keys that were not read; and a warning for each object that was left out or settled, unless the
// options are strict.
//
// Requires a document that parsed, and holds_kubernetes_objects. Errors: those of a snapshot line, DuplicateName,
// UnknownNode, UnknownQueue; the message begins with the kind and the name of the object, the path is that of the
// document. Cost: one pass over the document.
Result<Snapshot> import_kubernetes(json::JsonValue root, const KubernetesOptions& options);

// The same for a text of documents, one after another. Errors: those of JsonDocument, UnsupportedFormat, too. Cost: as
// above, and memory in proportion to the relevant part of the text.
Result<Snapshot> import_kubernetes_text(const json::JsonText& text, const KubernetesOptions& options,
                                        json::JsonLimits limits);

// The same for objects that are kept, with options that read an object as it was kept (reads_alike). Requires
// options.time. Paths of errors begin at the object. Pods share templates, which an import of the text does not have.
Result<Snapshot> import_kept(const KeptObjects& objects, const KubernetesOptions& options);

// The line of an imported snapshot, without a line feed, with its remarks and with the gangs held that are to be.
std::string line_of(Snapshot snapshot);

}  // namespace muster::kubernetes
