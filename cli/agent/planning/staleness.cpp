#include "cli/agent/planning/staleness.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "io/json/json_writer.h"
#include "model/base/saturating.h"
#include "model/explain/report.h"
#include "model/problem/gang_tree.h"
#include "model/problem/problem.h"

namespace muster::cli {

namespace {

constexpr std::string_view kGroup = "scheduling.run.ai";
constexpr std::string_view kAnnotation = "kai.scheduler/stale-podgroup-timestamp";

bool is_planned(const Policy& policy, const SnapshotPod& pod) {
  return policy.schedulers.empty() ||
         std::ranges::find(policy.schedulers, scheduler_of(pod)) != policy.schedulers.end();
}

}  // namespace

void PartialGangs::fill(Snapshot& snapshot) {
  if (since_.empty()) return;
  for (SnapshotGang& gang : snapshot.gangs) {
    const auto since = since_.find(gang.name);
    if (since == since_.end()) continue;
    if (gang.stale_since)
      since_.erase(since);
    else
      gang.stale_since = since->second;
  }
}

Staleness PartialGangs::note(const SolvedLine& line) {
  const Problem& problem = line.problem;
  const Snapshot& snapshot = *problem.snapshot;
  const auto runs = [&](PodIndex pod) { return problem.pods[pod].status == PodStatus::kRunning; };
  Staleness staleness;
  std::map<std::string, Nanoseconds, std::less<>> since;
  for (std::size_t position = 0; position < snapshot.gangs.size(); ++position) {
    const SnapshotGang& source = snapshot.gangs[position];
    const Gang& gang = problem.gangs[GangIndex(position)];
    const auto is_foreign = [&](PodIndex pod) { return !is_planned(snapshot.policy, snapshot.pods[pod.value()]); };
    if (std::ranges::any_of(gang.pods, is_foreign)) continue;
    const bool is_partial = is_in_part(problem, gang, runs);
    const auto remembered = since_.find(gang.name);
    const bool is_noted = source.stale_since && remembered == since_.end();
    if (is_partial != is_noted) staleness.notes.push_back({std::string(gang.name), is_partial});
    if (!is_partial) continue;
    const PodIndex first = *std::ranges::find_if(gang.pods, runs);
    staleness.partial.push_back({std::string(gang.name), std::string(snapshot.pods[first.value()].name),
                                 explain::partial_sentence(problem, gang, std::ranges::count_if(gang.pods, runs))});
    const Nanoseconds begun = source.stale_since.value_or(snapshot.time);
    if (!is_noted) since.emplace(gang.name, begun);
    if (source.staleness_grace_period == kNever) continue;
    const Nanoseconds end = saturating_add(begun, source.staleness_grace_period);
    if (end > snapshot.time) staleness.next = std::min(end, staleness.next.value_or(end));
  }
  since_ = std::move(since);
  return staleness;
}

void StalenessWriter::write(const std::vector<StalenessNote>& notes, const std::string& now,
                            const api_server::ObjectStore& objects) {
  std::unordered_set<std::string_view> noted;
  for (const StalenessNote& note : notes) noted.insert(note.gang);
  std::erase_if(asked_, [&](const auto& asked) { return !noted.contains(asked.first); });
  for (const StalenessNote& note : notes) {
    const auto [asked, is_new] = asked_.emplace(note.gang, note.is_below);
    if (!is_new && asked->second == note.is_below) continue;
    asked->second = note.is_below;
    patch(note, now, objects);
  }
}

void StalenessWriter::patch(const StalenessNote& note, const std::string& now, const api_server::ObjectStore& objects) {
  const std::size_t slash = note.gang.find('/');
  if (slash == std::string::npos) return;
  const std::string space = note.gang.substr(0, slash), name = note.gang.substr(slash + 1);
  const api_server::StoredObject* group = objects.find(kGroup, "PodGroup", space, name);
  if (group == nullptr) return;  // of another system
  api_server::ApiRequest request;
  request.method = "PATCH";
  request.target =
      fmt::format("/apis/{}/v2alpha2/namespaces/{}/podgroups/{}?fieldManager=muster{}", kGroup,
                  api_server::percent_encoded(space), api_server::percent_encoded(name), dry_run_ ? "&dryRun=All" : "");
  request.content_type = "application/merge-patch+json";
  json::JsonWriter json(request.body);
  json.raw(R"({"metadata":{"uid":)").string(group->uid).raw(R"(,"annotations":{)").string(kAnnotation).raw(":");
  if (note.is_below) {
    json.string(now).raw("}}}");
  } else {
    json.raw("null}}}");
  }
  client_.send(std::move(request), [this, gang = note.gang](const api_server::ApiResponse& response) {
    if (response.is_ok()) return;
    asked_.erase(gang);
    if (response.status != 404 && response.status != 409)
      failed_(fmt::format("since when {} runs below its minimum cannot be written: {}", gang, response.error));
  });
}

}  // namespace muster::cli
