#include "test/api_server/fake_cluster.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

namespace muster::api_server {

namespace {

std::string key_of(const Json& object) {
  const Json& metadata = object["metadata"];
  const std::string name = metadata["name"];
  return metadata.contains("namespace") ? metadata["namespace"].get<std::string>() + "/" + name : name;
}

std::string event_line(const std::string& type, const Json& object) {
  return Json{{"type", type}, {"object", object}}.dump() + "\n";
}

FakeAnswer json_answer(const Json& body) {
  FakeAnswer answer;
  answer.body = body.dump();
  answer.is_chunked = true;
  return answer;
}

Json resource_of(const FakeKind& kind, bool is_aggregated) {
  Json made = {{"verbs", {"get", "list", "watch"}}};
  if (is_aggregated) {
    made["resource"] = kind.resource;
    made["responseKind"] = {{"group", kind.group}, {"version", kind.version}, {"kind", kind.kind}};
    made["scope"] = kind.has_namespace ? "Namespaced" : "Cluster";
  } else {
    made["name"] = kind.resource;
    made["kind"] = kind.kind;
    made["namespaced"] = kind.has_namespace;
  }
  return made;
}

}  // namespace

FakeAnswer status_answer(unsigned code, const std::string& reason, const std::string& message) {
  FakeAnswer answer;
  answer.status = code;
  answer.body =
      Json{{"kind", "Status"}, {"apiVersion", "v1"}, {"message", message}, {"reason", reason}, {"code", code}}.dump();
  return answer;
}

Json small_pod(const std::string& name, int state) {
  Json made;
  made["metadata"] = {{"name", name}, {"namespace", "default"}, {"uid", "uid-" + name}};
  made["metadata"]["labels"]["s"] = std::to_string(state);
  made["spec"]["containers"] = Json::array({Json{{"name", "main"}}});
  return made;
}

void FakeCluster::set(const FakeKind& kind, Json object) {
  const std::lock_guard lock(mutex_);
  object["apiVersion"] = kind.api_version();
  object["kind"] = kind.kind;
  object["metadata"]["resourceVersion"] = std::to_string(++version_);
  auto& objects = objects_[kind.path()];
  const std::string key = key_of(object);
  events_.push_back({kind.path(), objects.contains(key) ? "MODIFIED" : "ADDED", object.dump(), version_});
  objects[key] = std::move(object);
  changed_.notify_all();
}

void FakeCluster::remove(const FakeKind& kind, const std::string& key) {
  const std::lock_guard lock(mutex_);
  auto& objects = objects_[kind.path()];
  const auto found = objects.find(key);
  if (found == objects.end()) return;
  Json object = found->second;
  object["metadata"]["resourceVersion"] = std::to_string(++version_);
  events_.push_back({kind.path(), "DELETED", object.dump(), version_});
  objects.erase(found);
  changed_.notify_all();
}

std::map<std::string, Json> FakeCluster::objects(const FakeKind& kind) const {
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(kind.path());
  return found == objects_.end() ? std::map<std::string, Json>{} : found->second;
}

void FakeCluster::set_kinds(std::vector<FakeKind> kinds) {
  const std::lock_guard lock(mutex_);
  kinds_ = std::move(kinds);
}
void FakeCluster::aggregate(bool aggregates) {
  const std::lock_guard lock(mutex_);
  aggregates_ = aggregates;
}
void FakeCluster::set_fault(Fault fault) {
  const std::lock_guard lock(mutex_);
  fault_ = std::move(fault);
}
void FakeCluster::compact() {
  const std::lock_guard lock(mutex_);
  compacted_ = ++version_;
  pages_.clear();
}
void FakeCluster::end_watches() {
  const std::lock_guard lock(mutex_);
  ++signals_.ends;
  changed_.notify_all();
}
void FakeCluster::tear() {
  const std::lock_guard lock(mutex_);
  tears_ = true;
}
void FakeCluster::say(const std::string& bytes) {
  const std::lock_guard lock(mutex_);
  said_.push_back(bytes);
  signals_.said = said_.size();
  changed_.notify_all();
}
void FakeCluster::bookmark() {
  const std::lock_guard lock(mutex_);
  ++signals_.bookmarks;
  changed_.notify_all();
}

FakeAnswer FakeCluster::answer(const FakeRequest& request) {
  Fault fault;
  {
    const std::lock_guard lock(mutex_);
    fault = fault_;
  }
  if (fault) {
    if (auto faulty = fault(request)) return *std::move(faulty);
  }
  const std::lock_guard lock(mutex_);
  const auto kind = std::ranges::find(kinds_, request.path, &FakeKind::path);
  if (kind == kinds_.end()) {
    const auto accept = request.fields.find("accept");
    const bool asks =
        accept != request.fields.end() && accept->second.find("APIGroupDiscoveryList") != std::string::npos;
    return discovery(request.path, asks && aggregates_);
  }
  if (!request.query.contains("watch")) return list(*kind, request);
  const std::int64_t from = std::stoll(request.query.at("resourceVersion"));
  // As some servers do; others say so in the stream.
  if (from < compacted_ && from % 2 == 0) return status_answer(410, "Expired", "too old resource version");
  FakeAnswer answer;
  answer.instead = [this, watched = *kind, from](FakeConnection& connection) { watch(watched, from, connection); };
  return answer;
}

FakeAnswer FakeCluster::discovery(const std::string& path, bool is_aggregated) const {
  const bool is_core = path.starts_with("/api/") || path == "/api";
  if (path != "/api" && path != "/apis") {
    Json list = {{"kind", "APIResourceList"}, {"resources", Json::array()}};
    bool is_found = false;
    for (const FakeKind& kind : kinds_) {
      if (path != (is_core ? "/api/" : "/apis/") + kind.api_version()) continue;
      is_found = true;
      list["resources"].push_back(resource_of(kind, false));
    }
    return is_found ? json_answer(list) : status_answer(404, "NotFound", "the server could not find it");
  }
  if (!is_aggregated && is_core) return json_answer({{"kind", "APIVersions"}, {"versions", {"v1"}}});
  std::map<std::string, std::map<std::string, Json>> groups;
  for (const FakeKind& kind : kinds_) {
    if (kind.group.empty() == is_core) groups[kind.group][kind.version].push_back(resource_of(kind, true));
  }
  Json items = Json::array();
  for (const auto& [group, versions] : groups) {
    Json listed = Json::array();
    for (const auto& [version, resources] : versions) {
      listed.push_back({{"version", version}});
      if (is_aggregated) listed.back().update({{"resources", resources}, {"freshness", "Current"}});
    }
    items.push_back({{"versions", listed}});
    if (is_aggregated) {
      items.back()["metadata"] = {{"name", group}};
    } else {
      items.back()["name"] = group;
    }
  }
  return json_answer({{"kind", is_aggregated ? "APIGroupDiscoveryList" : "APIGroupList"},
                      {is_aggregated ? "items" : "groups", items}});
}

FakeAnswer FakeCluster::list(const FakeKind& kind, const FakeRequest& request) {
  Pages pages;
  if (const auto token = request.query.find("continue"); token != request.query.end()) {
    const auto found = pages_.find(token->second);
    if (found == pages_.end()) return status_answer(410, "Expired", "the provided continue parameter is too old");
    pages = found->second;
  } else {
    pages.version = version_;
    for (const auto& [key, object] : objects_[kind.path()]) pages.objects.push_back(object);
  }
  const std::size_t limit =
      request.query.contains("limit") ? std::stoul(request.query.at("limit")) : pages.objects.size();
  Json metadata = {{"resourceVersion", std::to_string(pages.version)}}, items = Json::array();
  for (std::size_t i = 0; i < limit && pages.next < pages.objects.size(); ++i) {
    Json item = pages.objects[pages.next++];
    item.erase("apiVersion");
    item.erase("kind");
    items.push_back(std::move(item));
  }
  if (pages.next < pages.objects.size()) {
    const std::string token = fmt::format("token{}", pages_.size() + 1000 * static_cast<std::size_t>(version_));
    metadata["continue"] = token;
    pages_[token] = std::move(pages);
  }
  if (items.empty()) items = nullptr;  // as Go writes an empty list at times
  return json_answer(
      {{"kind", kind.kind + "List"}, {"apiVersion", kind.api_version()}, {"metadata", metadata}, {"items", items}});
}

// What a watch has to send: with the mutex held.
std::string FakeCluster::news(const FakeKind& kind, std::size_t& position, Signals& seen, bool& is_torn) {
  std::string text;
  for (; position < events_.size() && !is_torn; ++position) {
    const Event& event = events_[position];
    if (event.path != kind.path()) continue;
    const std::string line = "{\"type\":\"" + event.type + "\",\"object\":" + event.object + "}\n";
    is_torn = std::exchange(tears_, false);
    text += is_torn ? line.substr(0, line.size() / 2) : line;
  }
  if (is_torn) return text;
  for (; seen.said < said_.size(); ++seen.said) text += said_[seen.said];
  if (std::exchange(seen.bookmarks, signals_.bookmarks) != signals_.bookmarks) {
    text +=
        event_line("BOOKMARK", {{"kind", kind.kind}, {"metadata", {{"resourceVersion", std::to_string(version_)}}}});
  }
  return text;
}

void FakeCluster::watch(const FakeKind& kind, std::int64_t from, FakeConnection& connection) {
  std::unique_lock lock(mutex_);
  Signals seen = signals_;  // before the client knows that it watches
  lock.unlock();
  connection.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
  lock.lock();
  if (from < compacted_) {
    lock.unlock();
    const Json status = Json::parse(status_answer(410, "Expired", "too old resource version").body);
    connection.write_chunk(event_line("ERROR", status));
    connection.write("0\r\n\r\n");
    return;
  }
  std::size_t position = 0;
  while (position < events_.size() && events_[position].version <= from) ++position;
  bool is_torn = false;
  while (connection.is_open()) {
    const bool ends = seen.ends != signals_.ends;
    const std::string text = news(kind, position, seen, is_torn);
    if (text.empty() && !ends) {
      changed_.wait_for(lock, std::chrono::milliseconds(20));
      continue;
    }
    lock.unlock();
    if (!text.empty() && !connection.write_chunk(text)) return;
    if (is_torn) return;
    if (ends) {
      connection.write("0\r\n\r\n");
      return;
    }
    lock.lock();
  }
}

}  // namespace muster::api_server
