#include "model/change/gang_parts.h"

#include <algorithm>

#include "model/base/require.h"

namespace muster::change {

std::optional<GangParts> find_gang(const Snapshot& snapshot, std::string_view name) {
  GangParts parts;
  const auto gang = std::ranges::find(snapshot.gangs, name, &SnapshotGang::name);
  if (gang != snapshot.gangs.end()) parts.gang = static_cast<std::size_t>(gang - snapshot.gangs.begin());
  for (std::size_t pod = 0; pod < snapshot.pods.size(); ++pod) {
    const SnapshotPod& candidate = snapshot.pods[pod];
    if (parts.gang ? candidate.gang == name : candidate.gang.empty() && candidate.name == name)
      parts.pods.push_back(pod);
  }
  if (!parts.gang && parts.pods.empty()) return std::nullopt;
  return parts;
}

GangTerms& terms_of(const GangParts& parts, Snapshot& snapshot) {
  if (parts.gang) return snapshot.gangs[*parts.gang].terms;
  MUSTER_REQUIRE(!parts.pods.empty());
  SnapshotPod& pod = snapshot.pods[parts.pods.front()];
  std::vector<GangTerms>& all = snapshot.own_gang_terms;
  all.push_back(pod.own_gang < 0 ? GangTerms{} : GangTerms{all[static_cast<std::size_t>(pod.own_gang)]});
  pod.own_gang = static_cast<std::int32_t>(all.size() - 1);
  return all.back();
}

}  // namespace muster::change
