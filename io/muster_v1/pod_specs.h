// Keeps one PodSpec for all pods that are equal in it.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "io/json/reading.h"
#include "model/snapshot/snapshot.h"

namespace muster::muster_v1 {

// The values of a pod's keys from `resources` on, in the order of kSpecKeys; none if a key is absent.
inline constexpr std::size_t kSpecKeyCount = 11;
inline constexpr std::array<std::string_view, kSpecKeyCount> kSpecKeys = {
    "resources",       "gpu",       "gpuModels",   "nodeSelector",   "nodeAffinity",      "tolerations",
    "podAntiAffinity", "hostPorts", "podAffinity", "topologySpread", "volumeNodeAffinity"};
using SpecValues = std::array<json::JsonValue, kSpecKeyCount>;

// What a spec is made of, as a text: two specs have equal signatures only if what they are made of means the same.
// Numbers with a point or an exponent are compared as text: equal doubles may have come from different decimals.
class SpecSignature {
 public:
  void clear() { text_.clear(); }
  // Cost, of each: O(size).
  void add(json::Reading& reading, json::JsonValue value);  // one without a tape, too
  void add(std::string_view text);
  void add(std::int64_t number);
  void add(const SpecSignature& part) { text_ += part.text_; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// First by their signatures (values that are written alike), then by content (equal specs that are written
// differently).
class PodSpecs {
 public:
  // The spec of values written exactly like these, if there was one. Cost: O(size of the values).
  std::optional<PodSpecIndex> find(json::Reading& reading, const SpecValues& values);
  // The same of other things that a spec is made of; their signature begins with a text that no value's has.
  std::optional<PodSpecIndex> find(const SpecSignature& signature);
  // Keeps the parsed values of the last find; returns the index of an equal spec if there is one.
  PodSpecIndex add(PodSpec spec, Indexed<PodSpecIndex, PodSpec>& all);
  // The same of a spec that was read elsewhere.
  PodSpecIndex keep(PodSpec spec, Indexed<PodSpecIndex, PodSpec>& all);

 private:
  std::optional<PodSpecIndex> find_signature();

  SpecSignature signature_;
  std::string last_signature_;
  PodSpecIndex last_ = PodSpecIndex::none();
  std::unordered_map<std::string, PodSpecIndex> by_signature_;
  std::unordered_multimap<std::size_t, PodSpecIndex> by_content_;
};

}  // namespace muster::muster_v1
