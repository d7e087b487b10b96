// Objects of one kind that are kept, by namespace and name.
#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "io/kubernetes/import/object_keeper.h"

namespace muster::kubernetes {

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

  // The object of this key becomes that of `slim`, a text of the keeper, which is read unless it is the same as before;
  // `note` then changes what is kept with it. Returns whether the object is new or has changed.
  template <class Note>
  bool put(ObjectKeeper& keeper, std::string key, std::string_view slim, Note note) {
    const auto [place, is_new] = objects_.try_emplace(std::move(key));
    Held& held = place->second;
    if (!is_new) bytes_ -= bytes_of(*place);
    const bool has_changed = is_new || held.kept->text() != slim;
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

}  // namespace muster::kubernetes
