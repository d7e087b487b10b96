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

// First by the text of the line (values that are written alike), then by content (equal specs that are written
// differently).
class PodSpecs {
 public:
  // The spec of values written exactly like these, if there was one. Cost: O(size of the values).
  std::optional<PodSpecIndex> find(json::Reading& reading, const SpecValues& values);
  // Keeps the parsed values of the last find; returns the index of an equal spec if there is one.
  PodSpecIndex add(PodSpec spec, Indexed<PodSpecIndex, PodSpec>& all);
  // The same of a spec that was read elsewhere.
  PodSpecIndex keep(PodSpec spec, Indexed<PodSpecIndex, PodSpec>& all);

 private:
  std::string signature_, last_signature_;
  PodSpecIndex last_ = PodSpecIndex::none();
  std::unordered_map<std::string, PodSpecIndex> by_signature_;
  std::unordered_multimap<std::size_t, PodSpecIndex> by_content_;
};

}  // namespace muster::muster_v1
