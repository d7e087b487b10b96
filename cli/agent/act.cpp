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

constexpr std::string_view kBindRequests = "scheduling.run.ai";

std::string requests_path(const exporting::ExportedObject& object) {
  return fmt::format("/apis/{}/v1alpha2/namespaces/{}/bindrequests", kBindRequests,
                     api_server::percent_encoded(object.namespace_name));
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

ActGroup failed_requests(const ActGroup& group, const api_server::ObjectStore& objects) {
  ActGroup failed{ActKind::kTakeBack, group.gang, {}};
  for (const Act& act : group.acts) {
    const auto* request = objects.find(kBindRequests, "BindRequest", act.object.namespace_name, act.object.name);
    if (request == nullptr || request->text.find(R"("phase":"Failed")") == std::string::npos) continue;
    Act& taken = failed.acts.emplace_back(Act{ActKind::kTakeBack, act.object});
    taken.object.text =
        fmt::format(R"({{"apiVersion":"v1","kind":"DeleteOptions","preconditions":{{"uid":"{}"}}}})", request->uid);
  }
  return failed;
}

api_server::ApiRequest request_of(const Act& act, ApplyMode mode, bool dry_run) {
  MUSTER_REQUIRE(mode != ApplyMode::kNone);
  api_server::ApiRequest request;
  request.method = "POST";
  request.content_type = "application/json";
  request.body = act.object.text;
  if (act.kind == ActKind::kEvict) {
    request.target = pod_path(act.object) + "/eviction";
  } else if (act.kind == ActKind::kTakeBack) {
    request.method = "DELETE";
    request.target = requests_path(act.object) + "/" + api_server::percent_encoded(act.object.name);
  } else if (act.kind == ActKind::kNominate) {
    request.method = "PATCH";
    request.content_type = "application/strategic-merge-patch+json";
    request.target = pod_path(act.object) + "/status";
  } else if (mode == ApplyMode::kGates) {
    request.method = "PATCH";
    request.content_type = "application/strategic-merge-patch+json";
    request.target = pod_path(act.object);
  } else if (mode == ApplyMode::kKai) {
    request.target = requests_path(act.object);
  } else {
    request.target = pod_path(act.object) + "/binding";
  }
  if (act.kind != ActKind::kTakeBack) request.target += "?fieldManager=muster";
  if (dry_run) request.target += act.kind == ActKind::kTakeBack ? "?dryRun=All" : "&dryRun=All";
  return request;
}

}  // namespace muster::cli
