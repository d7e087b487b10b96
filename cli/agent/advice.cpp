#include "cli/agent/advice.h"

#include <string_view>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "io/json/json_writer.h"

namespace muster::cli {
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
