// The objects of the cluster that the import reads, each as short as the import allows, and always up to date.
//
// Not synchronized: used on the thread of the io_context alone.
//
// Instants that only tell what time it is (heartbeats, transitions of conditions, starts of containers) are left out:
// set KubernetesOptions::time when the text is imported. Then the imported line is the same as that of a list by
// kubectl.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/api_server/discovery.h"
#include "io/api_server/kind_sink.h"
#include "io/api_server/timer.h"
#include "io/kubernetes/import/named_objects.h"

namespace muster::api_server {

struct StoredObject {
  std::shared_ptr<const kubernetes::KeptObject> kept;
  std::string uid, resource_version;

  // Slim JSON with apiVersion, kind and metadata.uid; without metadata.resourceVersion.
  std::string text() const { return kept->text(); }
};

// One kind, for people and metrics.
struct KindReport {
  ServedKind kind;
  WatchState state = WatchState::kListing;
  std::string error;       // the last one; empty after a list or a watch that works
  bool is_listed = false;  // one list has ended
  std::size_t objects = 0, bytes = 0;
  std::string resource_version;                      // everything up to this one is in; empty: none yet
  std::chrono::steady_clock::time_point last_event;  // a list that ended, an object or a bookmark; 0: none
  std::uint64_t events = 0, changes = 0;  // objects that watches have brought; those that differed for the import
};

class ObjectStore {
 public:
  // `options`: with which the objects will be imported, but for the time.
  explicit ObjectStore(Clock clock, kubernetes::KubernetesOptions options = {});
  ~ObjectStore();
  ObjectStore(const ObjectStore&) = delete;
  ObjectStore& operator=(const ObjectStore&) = delete;

  // Where a KindWatch puts the objects of this kind; valid until remove_kind(). Requires that the store has no kind of
  // the same row of known_kinds().
  KindSink& add_kind(const ServedKind& kind);
  // Its objects, too.
  void remove_kind(const kubernetes::KnownKind& known);

  // Kinds in the order of known_kinds(), objects by namespace and name, as the API server lists them; for any thread.
  // Cost: a pointer for each.
  kubernetes::KeptObjects kept() const;
  // None: there is no such object, or none is known. `namespace_name` is empty for kinds without namespaces. Valid
  // until the next change.
  const StoredObject* find(std::string_view group, std::string_view kind, std::string_view namespace_name,
                           std::string_view name) const;

  // Every kind has been listed once, and none is forbidden or gone; false without any kind.
  bool is_complete() const;
  // Rises when something changed that matters to the import: an object came, left, or differs in its slim text.
  std::uint64_t revision() const;
  // Of all objects with their index, as allocated; approximate.
  std::size_t bytes() const;
  std::size_t objects() const;
  std::vector<KindReport> reports() const;  // in the order of known_kinds()

  // Called after each change of revision() or of the state of a kind, within a call of a KindSink: it must not change
  // the store.
  void on_change(std::function<void()> handler);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace muster::api_server
