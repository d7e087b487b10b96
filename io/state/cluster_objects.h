// The Kubernetes objects of a cluster, which stay between cycles: set as a whole, changed object by object.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/json/json_document.h"
#include "io/kubernetes/import/named_objects.h"
#include "io/kubernetes/object/items.h"
#include "io/kubernetes/object/kinds.h"
#include "model/base/error_code.h"

namespace muster::state {

// Each object is slimmed, and read once, as in a cluster that is watched; also those of kinds that the import ignores,
// which it tells. What identifies an object is its API group without the version, its kind, namespace and name.
//
// Order, on which plans may depend: an object that is known keeps its place, a new one goes to the end in the order of
// the document.
class ClusterObjects {
 public:
  // `options`: with which the objects will be imported, but for the time.
  explicit ClusterObjects(kubernetes::SharedOptions options) : keeper_(std::move(options)) {}

  // The objects of a text of documents, one after another. Requires that there are none yet. Errors: those of
  // JsonDocument, UnsupportedFormat, and those of find_objects; then some objects may be there.
  std::optional<InputError> set_whole(std::string_view text, json::JsonLimits limits);

  // What a delta changes: objects in any form that the import takes, and a list of objects of which the kind, the name
  // and, where there is one, the namespace count; both may be absent. Removals come first. Either all
  // of it or, with an error, nothing. Errors: those of find_objects; MissingKey, WrongType; UnknownName, if an object
  // is to be removed that is not there, unless the import ignores its kind; InvalidValue, if it is not clear which one.
  // Cost: that of reading the objects of the delta.
  std::optional<InputError> change(json::JsonValue set, json::JsonValue remove);

  bool is_read_as(const kubernetes::KubernetesOptions& options) const {
    return kubernetes::reads_alike(options, *keeper_.options());
  }
  // In the order of the state. Cost: O(objects log objects).
  kubernetes::KeptObjects kept() const;
  // `options` with the time at which the objects are to be imported: their latest instant, unless the options have one
  // or a later minimum. Cost: O(objects).
  kubernetes::KubernetesOptions at_their_time(kubernetes::KubernetesOptions options) const;

 private:
  struct Held {
    std::shared_ptr<const kubernetes::KeptObject> kept;
    std::uint64_t place = 0;
    std::optional<Nanoseconds> latest;  // instant that the object tells
    static constexpr std::size_t bytes() { return 0; }
  };
  struct Kind {
    std::string group;
    kubernetes::NamedObjects<Held> objects;
  };
  // Names an object that is there.
  struct Place {
    Kind* kind = nullptr;
    std::string key;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  struct Removal;

  [[nodiscard]] bool find_removed(kubernetes::KubernetesReading& reading, json::JsonValue element,
                                  std::set<Place>& out);
  std::vector<Place> places_of(const Removal& removal);
  void put(const kubernetes::FoundObject& found);

  kubernetes::ObjectKeeper keeper_;
  std::multimap<std::string, Kind, std::less<>> kinds_;  // by name: those of several groups may share one
  std::uint64_t next_place_ = 0;
};

}  // namespace muster::state
