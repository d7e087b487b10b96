// What a Kubernetes API server answers, for tests: discovery, lists in pages, watches; with faults on demand.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "test/api_server/fake_server.h"

namespace muster::api_server {

using Json = nlohmann::json;

struct FakeKind {
  std::string group, version, kind, resource;
  bool has_namespace = true;

  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
  std::string path() const { return (group.empty() ? "/api/" : "/apis/") + api_version() + "/" + resource; }
};

inline const FakeKind kPods{"", "v1", "Pod", "pods", true};
inline const FakeKind kNodes{"", "v1", "Node", "nodes", false};
inline const FakeKind kCrds{"apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions",
                            false};

// Any thread may call any function.
class FakeCluster {
 public:
  explicit FakeCluster(std::vector<FakeKind> kinds) : kinds_(std::move(kinds)) {}

  // The handler of a FakeServer. The cluster outlives the server.
  FakeAnswer answer(const FakeRequest& request);

  void set(const FakeKind& kind, Json object);
  void remove(const FakeKind& kind, const std::string& key);  // "namespace/name", "name"
  // As ObjectStore and the tests' sinks have them: by key.
  std::map<std::string, Json> objects(const FakeKind& kind) const;
  void set_kinds(std::vector<FakeKind> kinds);
  void aggregate(bool aggregates);  // discovery

  // Faults. Each request that `fault` answers never gets further.
  using Fault = std::function<std::optional<FakeAnswer>(const FakeRequest&)>;
  void set_fault(Fault fault);
  void compact();                      // watches from before now get 410, and lists in the middle of their pages
  void end_watches();                  // properly
  void tear();                         // the next event is cut in the middle, with its connection
  void say(const std::string& bytes);  // into all watches
  void bookmark();

 private:
  struct Event {
    std::string path, type, object;
    std::int64_t version;
  };
  struct Pages {
    std::vector<Json> objects;
    std::size_t next = 0;
    std::int64_t version = 0;
  };
  struct Signals {
    std::uint64_t ends = 0, bookmarks = 0;
    std::size_t said = 0;
  };

  FakeAnswer discovery(const std::string& path, bool is_aggregated) const;
  FakeAnswer list(const FakeKind& kind, const FakeRequest& request);
  void watch(const FakeKind& kind, std::int64_t from, FakeConnection& connection);
  std::string news(const FakeKind& kind, std::size_t& position, Signals& seen, bool& is_torn);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<FakeKind> kinds_;
  std::map<std::string, std::map<std::string, Json>> objects_;  // by path and key
  std::vector<Event> events_;
  std::map<std::string, Pages> pages_;
  std::int64_t version_ = 100, compacted_ = 0;
  Signals signals_;
  std::vector<std::string> said_;
  bool tears_ = false, aggregates_ = true;
  Fault fault_;
};

FakeAnswer status_answer(unsigned code, const std::string& reason, const std::string& message);

// "default/web", with a label that tells two states apart.
Json small_pod(const std::string& name, int state = 0);

}  // namespace muster::api_server
