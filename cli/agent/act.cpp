#include "cli/agent/act.h"

#include <unordered_map>

#include <fmt/format.h>

#include "model/base/require.h"

namespace muster::cli {
namespace {

std::string pod_path(const exporting::ExportedObject& object) {
  return fmt::format("/api/v1/namespaces/{}/pods/{}", api_server::percent_encoded(object.namespace_name),
                     api_server::percent_encoded(object.name));
}

}  // namespace

std::vector<ActGroup> groups_of(const exporting::ExportedPlan& plan) {
  std::vector<ActGroup> evictions, starts;
  std::unordered_map<std::string, std::size_t> evicting, starting;
  for (const exporting::ExportedObject& object : plan.objects) {
    if (object.phase == exporting::ExportPhase::kAfterEvictions) continue;
    const bool is_eviction = object.phase == exporting::ExportPhase::kEvictions;
    const ActKind kind = is_eviction ? ActKind::kEvict : ActKind::kStart;
    std::vector<ActGroup>& groups = is_eviction ? evictions : starts;
    const auto [known, is_new] = (is_eviction ? evicting : starting).emplace(object.gang, groups.size());
    if (is_new) groups.push_back({kind, object.gang, {}});
    groups[known->second].acts.push_back({kind, object});
  }
  evictions.insert(evictions.end(), std::make_move_iterator(starts.begin()), std::make_move_iterator(starts.end()));
  return evictions;
}

api_server::ApiRequest request_of(const Act& act, ApplyMode mode, bool dry_run) {
  MUSTER_REQUIRE(mode != ApplyMode::kNone);
  api_server::ApiRequest request;
  request.method = "POST";
  request.content_type = "application/json";
  request.body = act.object.text;
  if (act.kind == ActKind::kEvict) {
    request.target = pod_path(act.object) + "/eviction";
  } else if (mode == ApplyMode::kGates) {
    request.method = "PATCH";
    request.content_type = "application/strategic-merge-patch+json";
    request.target = pod_path(act.object);
  } else if (mode == ApplyMode::kKai) {
    request.target = fmt::format("/apis/scheduling.run.ai/v1alpha2/namespaces/{}/bindrequests",
                                 api_server::percent_encoded(act.object.namespace_name));
  } else {
    request.target = pod_path(act.object) + "/binding";
  }
  request.target += "?fieldManager=muster";
  if (dry_run) request.target += "&dryRun=All";
  return request;
}

}  // namespace muster::cli
