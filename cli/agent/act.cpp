#include "cli/agent/act.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <unordered_map>
#include <utility>

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

class Grouping {
 public:
  explicit Grouping(ActKind kind) : kind_(kind) {}

  void add(const exporting::ExportedObject& object) {
    std::size_t group = object.gang.empty() ? kNone : group_of(by_gang_, object.gang, kNone);
    if (!object.victim.empty()) group = group_of(by_victim_, object.victim, group);
    if (group == kNone) group = new_group();
    if (groups_[group].acts.empty()) groups_[group].gang = object.gang;
    groups_[group].acts.push_back({kind_, object});
  }
  // In the order of their first acts.
  std::vector<ActGroup> groups() && {
    std::erase_if(groups_, [](const ActGroup& group) { return group.acts.empty(); });
    return std::move(groups_);
  }

 private:
  using Names = std::unordered_map<std::string, std::size_t>;
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  std::size_t new_group() {
    groups_.push_back({kind_, {}, {}});
    merged_into_.push_back(groups_.size() - 1);
    return groups_.size() - 1;
  }

  std::size_t found(std::size_t group) const {
    while (merged_into_[group] != group) group = merged_into_[group];
    return group;
  }

  // The group that the name has; if it has none, `other`, or a new one. Joins it with `other`.
  std::size_t group_of(Names& names, const std::string& name, std::size_t other) {
    const auto [known, is_new] = names.try_emplace(name, other);
    if (is_new && other == kNone) known->second = new_group();
    const std::size_t group = found(known->second);
    return other == kNone ? group : join(std::min(group, other), std::max(group, other));
  }

  std::size_t join(std::size_t first, std::size_t second) {
    if (first == second) return first;
    merged_into_[second] = first;
    std::vector<Act>& acts = groups_[second].acts;
    if (groups_[first].acts.empty()) groups_[first].gang = groups_[second].gang;
    groups_[first].acts.insert(groups_[first].acts.end(), std::make_move_iterator(acts.begin()),
                               std::make_move_iterator(acts.end()));
    acts.clear();
    return first;
  }

  const ActKind kind_;
  std::vector<ActGroup> groups_;          // those that were merged into others are empty
  std::vector<std::size_t> merged_into_;  // by group: an earlier one, or itself
  Names by_gang_, by_victim_;
};

}  // namespace

std::vector<ActGroup> groups_of(const exporting::ExportedPlan& plan) {
  Grouping evictions(ActKind::kEvict), starts(ActKind::kStart);
  for (const exporting::ExportedObject& object : plan.objects) {
    if (object.phase == exporting::ExportPhase::kAfterEvictions) continue;
    (object.phase == exporting::ExportPhase::kEvictions ? evictions : starts).add(object);
  }
  std::vector<ActGroup> groups = std::move(evictions).groups();
  std::vector<ActGroup> started = std::move(starts).groups();
  groups.insert(groups.end(), std::make_move_iterator(started.begin()), std::make_move_iterator(started.end()));
  return groups;
}

ActGroup failed_requests(const ActGroup& group, const api_server::ObjectStore& objects) {
  ActGroup failed{ActKind::kTakeBack, group.gang, {}};
  for (const Act& act : group.acts) {
    const auto* request = objects.find(kBindRequests, "BindRequest", act.object.namespace_name, act.object.name);
    if (request == nullptr || request->text().find(R"("phase":"Failed")") == std::string::npos) continue;
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
