// What was found in all objects of a list and is not read: one entry for each key, and what it means for each object.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "io/kubernetes/known/find.h"
#include "model/snapshot/unread.h"

namespace muster::kubernetes::known {

// What keys mean that are not read.
struct Effect {
  std::string_view why;   // why pods must not be placed, for people; empty: they may be
  bool protects = false;  // pods that run must stay

  void add(const Effect& more) {
    if (why.empty()) why = more.why;
    protects = protects || more.protects;
  }
};

// The same for what an object concerns: its pods, those of its queue, or a node.
struct Hold {
  Effect always, ungrouped;  // the latter: of pods of no group, see Rule::unless_key

  bool empty() const { return always.why.empty() && !always.protects && ungrouped.why.empty() && !ungrouped.protects; }
};

class UnreadLog {
 public:
  static constexpr std::size_t kMostUnknown = 200;  // keys that are in no row; more of them are counted only

  // `name` is "namespace/name" or "name". Cost: one search for each entry. The texts of the result live as long as
  // this.
  Hold add(std::string_view kind, std::string_view name, std::span<const Unread> found);

  // Held ones first, then by kind, place and key.
  std::vector<UnreadKey> entries() const;
  std::size_t omitted() const { return omitted_; }
  bool empty() const { return entries_.empty(); }

 private:
  using Key = std::tuple<std::string, Place, std::string, const Rule*>;
  std::string_view keep(std::string text) { return *texts_.insert(std::move(text)).first; }

  std::map<Key, UnreadKey> entries_;
  std::set<std::string> texts_;
  std::size_t unknown_ = 0, omitted_ = 0;
};

}  // namespace muster::kubernetes::known
