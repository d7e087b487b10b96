#include "model/change/gang_parts.h"

#include <algorithm>

#include "model/base/require.h"

namespace muster::change {

std::optional<GangParts> find_gang(const Snapshot& snapshot, std::string_view name) {
  auto gangs = all_gangs(snapshot);
  const auto found = gangs.find(name);
  return found == gangs.end() ? std::nullopt : std::optional(std::move(found->second));
}

std::unordered_map<std::string_view, GangParts> all_gangs(const Snapshot& snapshot) {
  std::unordered_map<std::string_view, GangParts> gangs;
  for (std::size_t gang = 0; gang < snapshot.gangs.size(); ++gang)
    gangs.try_emplace(snapshot.gangs[gang].name, GangParts{gang, {}});
  for (std::size_t pod = 0; pod < snapshot.pods.size(); ++pod) {
    const SnapshotPod& member = snapshot.pods[pod];
    const bool is_gang = member.gang.empty();  // by itself, unless a gang has its name
    const auto known = is_gang ? gangs.try_emplace(member.name).first : gangs.find(member.gang);
    if (known != gangs.end() && known->second.gang.has_value() != is_gang) known->second.pods.push_back(pod);
  }
  return gangs;
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
