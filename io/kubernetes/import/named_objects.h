// Objects of one kind that are kept, by namespace and name.
#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/json/json_builder.h"
#include "io/json/kept_json.h"
#include "io/kubernetes/object/items.h"
#include "io/kubernetes/object/object.h"
#include "io/kubernetes/pod/pod.h"
#include "io/muster_v1/snapshot_input.h"

namespace muster::kubernetes {

// An object of a cluster that is watched: read once, and imported with each plan until it changes.
using SharedOptions = std::shared_ptr<const KubernetesOptions>;

class KeptObject {
 public:
  // The object in the form of slim_object; it is read as `options` say. Cost: a copy, and for a pod about 5 us.
  KeptObject(const json::JsonBuilder& slim, SharedOptions options);
  KeptObject(const KeptObject&) = delete;
  KeptObject& operator=(const KeptObject&) = delete;

  std::string text() const;
  bool is(const json::JsonBuilder& slim) const { return json_.is(slim); }
  json::JsonValue value() const { return json_.root(); }
  // None: it cannot be read without an error or a remark, which each import tells anew.
  const std::optional<CollectedObject>& collected() const { return collected_; }
  bool is_read_as(const KubernetesOptions& options) const {
    return &options == options_.get() || reads_alike(options, *options_);
  }
  // As allocated, about.
  std::size_t bytes() const;

 private:
  void read_as_pod();

  json::KeptJson json_;
  SharedOptions options_;
  std::optional<CollectedObject> collected_;
  muster_v1::SpecSignature signature_;
  std::unique_ptr<const KubernetesPod> pod_;
};

// In the order in which an API server lists them, kind by kind as in known_kinds(). Shared between threads.
using KeptObjects = std::vector<std::shared_ptr<const KeptObject>>;

// `{"apiVersion":"v1","kind":"List","items":[...]}`.
std::string text_of(const KeptObjects& objects);

// As collect_items, of objects that differ in kind or name; `latest` stays as it is.
[[nodiscard]] bool collect_kept(KubernetesReading& reading, const KeptObjects& objects, KubernetesItems& out);

// Makes objects that are kept out of parsed ones.
//
// Used again for its buffers; one a thread.
class ObjectKeeper {
 public:
  // `options`: with which the objects will be imported, but for the time.
  explicit ObjectKeeper(SharedOptions options);

  const SharedOptions& options() const { return options_; }
  // The object as slim_object writes it, with these instead of its own apiVersion and kind unless they are empty. Valid
  // until the next call. Requires an object.
  const json::JsonBuilder& slim(json::JsonValue object, std::string_view api_version, std::string_view kind);
  // Requires an object of slim().
  std::shared_ptr<const KeptObject> keep(const json::JsonBuilder& slim);

 private:
  SharedOptions options_;
  json::JsonBuilder slim_;  // of one object at a time
};

// Under which an object is kept. As the API server sorts: a namespace's objects together. Names hold no slash.
inline std::string object_key(std::string_view namespace_name, std::string_view name) {
  if (namespace_name.empty()) return std::string(name);
  return std::string(namespace_name).append("/").append(name);
}

// `Held`: what is kept with an object; its member `kept` is the object, and bytes() the size of the rest, as allocated.
template <class Held>
class NamedObjects {
 public:
  using Map = std::map<std::string, Held, std::less<>>;

  // The object of this key becomes `slim`, one of the keeper's, which is read unless it is the same as before;
  // `note` then changes what is kept with it. Returns whether the object is new or has changed.
  template <class Note>
  bool put(ObjectKeeper& keeper, std::string key, const json::JsonBuilder& slim, Note note) {
    const auto [place, is_new] = objects_.try_emplace(std::move(key));
    Held& held = place->second;
    if (!is_new) bytes_ -= bytes_of(*place);
    const bool has_changed = is_new || !held.kept->is(slim);
    if (has_changed) held.kept = keeper.keep(slim);
    note(held);
    bytes_ += bytes_of(*place);
    return has_changed;
  }

  // Returns whether it was there.
  bool remove(std::string_view key) {
    const auto found = objects_.find(key);
    if (found == objects_.end()) return false;
    erase(found);
    return true;
  }

  // Returns whether there were any.
  template <class Predicate>
  bool remove_if(Predicate is_removed) {
    const std::size_t before = objects_.size();
    for (auto at = objects_.begin(); at != objects_.end();) at = is_removed(at->second) ? erase(at) : std::next(at);
    return objects_.size() < before;
  }

  // None: it is not there. Valid until it is removed.
  const Held* find(std::string_view key) const {
    const auto found = objects_.find(key);
    return found == objects_.end() ? nullptr : &found->second;
  }

  const Map& all() const { return objects_; }
  std::size_t size() const { return objects_.size(); }
  // As allocated, with the index; approximate.
  std::size_t bytes() const { return bytes_; }

 private:
  // A node of the map has three pointers and a colour before its value.
  static std::size_t bytes_of(const typename Map::value_type& value) {
    const Held& held = value.second;
    return sizeof(value) + 4 * sizeof(void*) + value.first.capacity() + held.bytes() +
           (held.kept ? held.kept->bytes() : 0);
  }
  typename Map::iterator erase(typename Map::iterator at) {
    bytes_ -= bytes_of(*at);
    return objects_.erase(at);
  }

  Map objects_;
  std::size_t bytes_ = 0;
};

// Steps through the objects of a list, kind by kind, and decides what happens to one that cannot be read.
//
// Refers to the reading, the items and the snapshot that is filled, which must outlive it. A step may fail with an
// error of the reading or of the snapshot's input.
class ObjectVisitor {
 public:
  ObjectVisitor(KubernetesReading& reading, const KubernetesItems& items, muster_v1::SnapshotInput& out)
      : reading_(reading), items_(items), out_(out) {}

  KubernetesReading& reading() const { return reading_; }
  const KubernetesItems& items() const { return items_; }
  muster_v1::SnapshotInput& out() const { return out_; }

  // Calls `step` with each object of the kind. If it fails, the object is named, and left out unless the failure is an
  // error. Returns false after an error.
  template <class Step>
  [[nodiscard]] bool each(KubernetesKind kind, Step step) {
    for (const KubernetesObject& object : items_.of(kind)) {
      if (!step(object) && !leave_out(object)) return false;
    }
    return true;
  }

  // The same if `step` fills an entry of `list`.
  template <class Entry, class Step>
  [[nodiscard]] bool each_added(KubernetesKind kind, std::vector<Entry>& list, Step step) {
    return each(kind, [&](const KubernetesObject& object) {
      if (step(object, list.emplace_back())) return true;
      list.pop_back();
      return false;
    });
  }

  // Of the warning of an object of which something cannot be read: its kind in the format, and what is done about it.
  struct Unclear {
    std::string_view kind, outcome;
  };
  // Like each_added, but an object that fails has an entry that `set_unclear(object, entry)` fills, and a warning.
  template <class Entry, class Step, class SetUnclear>
  [[nodiscard]] bool each_kept(KubernetesKind kind, std::vector<Entry>& list, const Unclear& told, Step step,
                               SetUnclear set_unclear) {
    return each(kind, [&](const KubernetesObject& object) {
      if (step(object, list.emplace_back())) return true;
      if (reading_.strict) return false;
      list.back() = {};
      warn(object, told);
      set_unclear(object, list.back());
      return true;
    });
  }

  // The error becomes a warning.
  void warn(const KubernetesObject& object, const Unclear& told) {
    take_error();
    std::string why = reading_.take_reason(object);
    reading_.warnings.push_back(
        {ErrorCode::kUnclear, std::string(told.kind), object.full_name(), why.append("; ").append(told.outcome)});
    reading_.with_paths = reading_.warnings.size() < Anomalies::kMostWarnings;
  }

  // Names the object in the error. Returns false.
  bool fail(const std::string& title) {
    take_error();
    reading_.error.message = title + ": " + reading_.error.message;
    return false;
  }

 private:
  // The error of the step becomes that of the reading.
  void take_error() {
    if (out_.error.code != ErrorCode::kNone) reading_.error = std::exchange(out_.error, {});
  }

  bool leave_out(const KubernetesObject& object) {
    if (reading_.strict) return fail(object.title());
    take_error();
    reading_.warn(object, "it is ignored");
    return true;
  }

  KubernetesReading& reading_;
  const KubernetesItems& items_;
  muster_v1::SnapshotInput& out_;
};

}  // namespace muster::kubernetes
