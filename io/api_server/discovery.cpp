#include "io/api_server/discovery.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "io/json/json_document.h"

namespace muster::api_server {

namespace {

constexpr std::string_view kAggregated = "APIGroupDiscoveryList";
constexpr std::string_view kCrdGroup = "apiextensions.k8s.io";
constexpr std::string_view kCrdKind = "CustomResourceDefinition";
constexpr std::size_t kMaxDepth = 64;

json::JsonValue value_in(json::JsonValue object, std::string_view key) {
  if (!object || !object.is(json::JsonKind::kObject)) return {};
  for (const json::JsonMember member : object.members()) {
    if (member.key == key) return member.value;
  }
  return {};
}

std::string_view text_in(json::JsonValue object, std::string_view key) {
  const json::JsonValue value = value_in(object, key);
  return value && value.is(json::JsonKind::kString) ? value.string() : std::string_view();
}

template <class Visit>
void each_of(json::JsonValue object, std::string_view key, Visit visit) {
  const json::JsonValue list = value_in(object, key);
  if (!list || !list.is(json::JsonKind::kArray)) return;
  for (const json::JsonValue element : list.elements()) visit(element);
}

bool can_be_watched(json::JsonValue resource) {
  bool lists = false, watches = false;
  each_of(resource, "verbs", [&](json::JsonValue verb) {
    if (!verb.is(json::JsonKind::kString)) return;
    lists = lists || verb.string() == "list";
    watches = watches || verb.string() == "watch";
  });
  return lists && watches;
}

bool is_group_known(std::string_view group) {
  return group == kCrdGroup ||
         std::ranges::any_of(kubernetes::known_kinds(), [&](const auto& known) { return known.group == group; });
}

// A resource of the server, whichever way it was found.
struct Resource {
  std::string_view group, version, kind, name;
  bool has_namespace = false;
};

// What one discovery has found so far.
class Findings {
 public:
  void add(const Resource& resource) {
    if (resource.name.find('/') != std::string_view::npos) return;  // a subresource
    if (resource.group == kCrdGroup && resource.version == "v1" && resource.kind == kCrdKind) has_crds_ = true;
    const kubernetes::KnownKind* known = kubernetes::find_known_kind(resource.group, resource.version, resource.kind);
    const auto asked = kubernetes::known_kinds();
    const bool is_asked = std::ranges::any_of(asked, [&](const auto& kind) { return &kind == known; });
    if (!is_asked || resource.name.empty()) return;
    ServedKind kind{known, std::string(resource.version), std::string(resource.name), resource.has_namespace};
    const auto [place, is_new] = kinds_.try_emplace(known, kind);
    if (!is_new && is_newer(kind, place->second)) place->second = std::move(kind);
  }
  void add_unclear(std::string_view group) { unclear_.emplace(group); }

  // What is known now, if it was `before`.
  Discovered settle(const std::vector<ServedKind>& before) const {
    Discovered now;
    now.has_crds = has_crds_;
    for (const kubernetes::KnownKind& known : kubernetes::known_kinds()) {
      const auto old = std::ranges::find(before, &known, &ServedKind::known);
      const auto found = kinds_.find(&known);
      if (found != kinds_.end()) {
        now.kinds.push_back(found->second);
      } else if (old != before.end() && unclear_.contains(known.group)) {
        now.kinds.push_back(*old);
      }
    }
    const auto missing_in = [](const std::vector<ServedKind>& others) {
      return [&others](const ServedKind& kind) { return std::ranges::find(others, kind) == others.end(); };
    };
    std::ranges::copy_if(now.kinds, std::back_inserter(now.added), missing_in(before));
    std::ranges::copy_if(before, std::back_inserter(now.removed), missing_in(now.kinds));
    return now;
  }

 private:
  static bool is_newer(const ServedKind& a, const ServedKind& b) {
    return a.known->versions.find(" " + a.version + " ") > b.known->versions.find(" " + b.version + " ");
  }

  std::map<const kubernetes::KnownKind*, ServedKind> kinds_;
  std::set<std::string, std::less<>> unclear_;
  bool has_crds_ = false;
};

void read_aggregated(json::JsonValue root, Findings& out) {
  each_of(root, "items", [&](json::JsonValue item) {
    const std::string_view group = text_in(value_in(item, "metadata"), "name");
    each_of(item, "versions", [&](json::JsonValue version) {
      if (text_in(version, "freshness") == "Stale") out.add_unclear(group);
      each_of(version, "resources", [&](json::JsonValue resource) {
        if (!can_be_watched(resource)) return;
        out.add({group, text_in(version, "version"), text_in(value_in(resource, "responseKind"), "kind"),
                 text_in(resource, "resource"), text_in(resource, "scope") == "Namespaced"});
      });
    });
  });
}

void read_resources(json::JsonValue root, std::string_view group, std::string_view version, Findings& out) {
  each_of(root, "resources", [&](json::JsonValue resource) {
    const json::JsonValue has_namespace = value_in(resource, "namespaced");
    if (!can_be_watched(resource)) return;
    out.add({group, version, text_in(resource, "kind"), text_in(resource, "name"),
             has_namespace && has_namespace.is(json::JsonKind::kTrue)});
  });
}

}  // namespace

std::string ServedKind::api_version() const {
  return known->group.empty() ? version : std::string(known->group) + "/" + version;
}
std::string ServedKind::path() const {
  return (known->group.empty() ? "/api/" : "/apis/") + api_version() + "/" + resource;
}
std::string ServedKind::title() const {
  return known->group.empty() ? resource : resource + "." + std::string(known->group);
}

struct Discovery::Implementation : std::enable_shared_from_this<Implementation> {
  explicit Implementation(ApiClient& of) : client(of) {}

  // One discovery; a later one makes its answers void.
  struct Run {
    Findings found;
    std::size_t pending = 0;
    bool has_failed = false;
  };

  void ask(std::function<void(const Discovered&)> then) {
    handler = std::move(then);
    run = std::make_shared<Run>();
    request("/api");
    request("/apis");
  }

  static std::string accept() {
    std::string text;
    for (const char* version : {"v2", "v2beta1"})
      text +=
          std::string("application/json;g=apidiscovery.k8s.io;v=") + version + ";as=" + std::string(kAggregated) + ",";
    return text + "application/json";
  }

  void request(const std::string& target) {
    ++run->pending;
    ApiRequest asked;
    asked.target = target;
    asked.accept = accept();
    client.send(asked, [weak = weak_from_this(), of = run, target](const ApiResponse& response) {
      const auto self = weak.lock();
      if (!self || self->run != of || of->has_failed) return;
      self->read_groups(response, target);
      self->settle(of);
    });
  }

  void read_groups(const ApiResponse& response, const std::string& target) {
    if (!response.is_ok()) return fail(response.error);
    if (document.parse(response.body, {response.body.size(), kMaxDepth}))
      return fail("GET " + target + ": the answer is no JSON");
    const json::JsonValue root = document.root();
    const std::string_view kind = text_in(root, "kind");
    if (kind == kAggregated) return read_aggregated(root, run->found);
    if (kind == "APIVersions") return request_versions("/api", {}, {std::string("v1")});
    if (kind != "APIGroupList") return fail("GET " + target + ": the answer is no list of API groups");
    each_of(root, "groups", [&](json::JsonValue group) {
      const std::string_view name = text_in(group, "name");
      if (!is_group_known(name)) return;
      std::vector<std::string> versions;
      each_of(group, "versions", [&](json::JsonValue version) { versions.emplace_back(text_in(version, "version")); });
      request_versions("/apis/" + std::string(name), std::string(name), versions);
    });
  }

  void request_versions(const std::string& path, const std::string& group, const std::vector<std::string>& versions) {
    for (const std::string& version : versions) {
      if (version.empty()) continue;
      ++run->pending;
      ApiRequest asked;
      asked.target = path + "/" + version;
      client.send(asked, [weak = weak_from_this(), of = run, group, version](const ApiResponse& response) {
        const auto self = weak.lock();
        if (!self || self->run != of || of->has_failed) return;
        self->read_version(response, group, version);
        self->settle(of);
      });
    }
  }

  void read_version(const ApiResponse& response, const std::string& group, const std::string& version) {
    if (response.status == 404) return;  // gone since
    if (!response.is_ok()) return fail(response.error);
    if (document.parse(response.body, {response.body.size(), kMaxDepth}))
      return fail("the list of the resources of " + group + "/" + version + " is no JSON");
    read_resources(document.root(), group, version, run->found);
  }

  void fail(const std::string& error) {
    run->has_failed = true;
    Discovered result;
    result.kinds = kinds;
    result.has_crds = has_crds;
    result.error = error;
    finish(result);
  }

  void settle(const std::shared_ptr<Run>& of) {
    if (of->has_failed || --of->pending > 0) return;
    const Discovered result = of->found.settle(kinds);
    kinds = result.kinds;
    has_crds = result.has_crds;
    finish(result);
  }

  void finish(const Discovered& result) {
    const auto keep = shared_from_this();
    const auto then = std::exchange(handler, nullptr);
    run.reset();
    if (then) then(result);
  }

  ApiClient& client;
  json::JsonDocument document;
  std::vector<ServedKind> kinds;
  bool has_crds = false;
  std::shared_ptr<Run> run;  // none: no discovery is under way
  std::function<void(const Discovered&)> handler;
};

Discovery::Discovery(ApiClient& client) : implementation_(std::make_shared<Implementation>(client)) {}
Discovery::~Discovery() { implementation_->handler = nullptr; }
void Discovery::ask(std::function<void(const Discovered&)> handler) { implementation_->ask(std::move(handler)); }
const std::vector<ServedKind>& Discovery::kinds() const { return implementation_->kinds; }

}  // namespace muster::api_server
