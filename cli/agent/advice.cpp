#include "cli/agent/advice.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "io/json/json_writer.h"
#include "io/kubernetes/object/kinds.h"

namespace muster::cli {

namespace {

constexpr std::string_view kCore = "scheduling.k8s.io";
constexpr std::size_t kMostMessage = 1024;  // bytes

struct GroupObject {
  api_server::ServedKind kind;
  std::string name_space, name, uid;
};

// The PodGroup of the gang, of whatever API group; none: it has none.
std::optional<GroupObject> group_of(const std::string& gang, const api_server::ObjectStore& objects) {
  const std::size_t slash = gang.find('/');
  if (slash == std::string::npos) return std::nullopt;
  const std::string name_space = gang.substr(0, slash), name = gang.substr(slash + 1);
  for (const api_server::KindReport& report : objects.reports()) {
    if (report.kind.known->kind != "PodGroup" || report.objects == 0) continue;
    const auto* found = objects.find(report.kind.known->group, "PodGroup", name_space, name);
    if (found != nullptr) return GroupObject{report.kind, name_space, name, found->uid};
  }
  return std::nullopt;
}

// Of a condition, as metav1.Time has it.
std::string whole_seconds(const std::string& instant) {
  const std::size_t point = instant.find('.');
  return point == std::string::npos ? instant : instant.substr(0, point) + "Z";
}

// Cut between two characters.
std::string_view start_of(std::string_view text) {
  std::size_t end = std::min(text.size(), kMostMessage);
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end);
}

std::string condition_of(const GroupObject& group, const WaitingGangNote* note, const std::string& now) {
  std::string body = R"({"apiVersion":)";
  json::JsonWriter json(body);
  json.string(group.kind.api_version()).raw(R"(,"kind":"PodGroup","metadata":{"namespace":)");
  json.string(group.name_space).raw(R"(,"name":)").string(group.name).raw(R"(,"uid":)").string(group.uid);
  json.raw(R"(},"status":{"conditions":[{"type":)").string(GroupMarks::kCondition);
  json.raw(R"(,"status":)").string(note == nullptr ? "True" : "False");
  json.raw(R"(,"reason":)").string(note == nullptr ? "Placed" : std::string_view(note->reason));
  json.raw(R"(,"message":)").string(note == nullptr ? "" : start_of(note->note));
  json.raw(R"(,"lastTransitionTime":)").string(whole_seconds(now)).raw("}]}}");
  return body;
}

std::string annotation_of(const GroupObject& group, const WaitingGangNote* note) {
  std::string body = R"({"metadata":{"uid":)";
  json::JsonWriter json(body);
  json.string(group.uid).raw(R"(,"annotations":{)").string(GroupMarks::kAnnotation).raw(":");
  note == nullptr ? json.raw("null") : json.string(start_of(fmt::format("{}: {}", note->reason, note->note)));
  json.raw("}}}");
  return body;
}

}  // namespace

void GroupMarks::mark(const std::vector<WaitingGangNote>& waiting, const api_server::ObjectStore& objects) {
  std::unordered_map<std::string_view, const WaitingGangNote*> notes;
  for (const WaitingGangNote& note : waiting) notes.emplace(note.gang, &note);
  std::size_t written = 0;
  for (auto marked = marked_.begin(); marked != marked_.end() && written < kMostWrites;) {
    if (notes.contains(marked->first)) {
      ++marked;
      continue;
    }
    written += write(marked->first, nullptr, objects) ? 1 : 0;
    marked = marked_.erase(marked);
  }
  for (const WaitingGangNote& note : waiting) {
    if (written >= kMostWrites) break;
    const auto marked = marked_.find(note.gang);
    if (marked != marked_.end() && marked->second == note.reason) continue;
    if (!write(note.gang, &note, objects)) continue;
    marked_[note.gang] = note.reason;
    ++written;
  }
}

bool GroupMarks::write(const std::string& gang, const WaitingGangNote* note, const api_server::ObjectStore& objects) {
  const std::optional<GroupObject> group = group_of(gang, objects);
  if (!group) return false;
  const bool is_core = group->kind.known->group == kCore;
  const std::string collection = group->kind.path();
  const std::size_t resource = collection.rfind('/');
  api_server::ApiRequest request;
  request.method = "PATCH";
  request.target =
      fmt::format("{}/namespaces/{}{}/{}{}?fieldManager=muster{}", collection.substr(0, resource),
                  api_server::percent_encoded(group->name_space), collection.substr(resource),
                  api_server::percent_encoded(group->name), is_core ? "/status" : "", is_core ? "&force=true" : "");
  request.content_type = is_core ? "application/apply-patch+yaml" : "application/merge-patch+json";
  request.body = is_core ? condition_of(*group, note, now_()) : annotation_of(*group, note);
  client_.send(std::move(request), [failed = failed_, gang](const api_server::ApiResponse& response) {
    if (!response.is_ok() && response.status != 404) failed(fmt::format("the group of {}: {}", gang, response.error));
  });
  return true;
}

namespace {

constexpr std::size_t kMostNote = 1024;  // bytes of an Event's note, as the API server allows

// Cut between two characters.
std::string_view beginning(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
  return text.substr(0, most);
}

std::pair<std::string_view, std::string_view> namespace_and_name(std::string_view pod) {
  const std::size_t slash = pod.find('/');
  if (slash == std::string_view::npos) return {"default", pod};
  return {pod.substr(0, slash), pod.substr(slash + 1)};
}

}  // namespace

void Adviser::tell(const std::vector<WaitingGangNote>& waiting, const api_server::ObjectStore& objects) {
  std::unordered_set<std::string_view> waits;
  for (const WaitingGangNote& gang : waiting) waits.insert(gang.gang);
  std::erase_if(told_, [&](const auto& told) { return !waits.contains(told.first); });
  std::size_t written = 0;
  for (const WaitingGangNote& gang : waiting) {
    if (written == kMostEvents) break;
    const auto told = told_.find(gang.gang);
    if (told != told_.end() && told->second == gang.reason) continue;
    const auto [name_space, name] = namespace_and_name(gang.pod);
    const api_server::StoredObject* pod = objects.find("", "Pod", name_space, name);
    if (pod == nullptr) continue;
    told_[gang.gang] = gang.reason;
    write(gang, pod->uid);
    ++written;
  }
}

void Adviser::write(const WaitingGangNote& gang, const std::string& uid) {
  const auto [name_space, name] = namespace_and_name(gang.pod);
  api_server::ApiRequest request;
  request.method = "POST";
  request.target = fmt::format("/apis/events.k8s.io/v1/namespaces/{}/events", api_server::percent_encoded(name_space));
  request.content_type = "application/json";
  json::JsonWriter json(request.body);
  json.raw(R"({"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"generateName":"muster-","namespace":)");
  json.string(name_space).raw(R"(},"eventTime":)").string(now_());
  json.raw(R"(,"reportingController":"muster/agent","reportingInstance":)").string(instance_);
  json.raw(R"(,"action":"Plan","type":"Warning","reason":)").string(gang.reason);
  json.raw(R"(,"regarding":{"apiVersion":"v1","kind":"Pod","namespace":)").string(name_space);
  json.raw(R"(,"name":)").string(name).raw(R"(,"uid":)").string(uid);
  json.raw(R"(},"note":)");
  json.string(beginning(fmt::format("The gang {} waits: {}", gang.gang, gang.note), kMostNote)).raw("}");
  client_.send(std::move(request), [failed = failed_](const api_server::ApiResponse& response) {
    if (!response.is_ok()) failed(response.error);
  });
}

}  // namespace muster::cli
