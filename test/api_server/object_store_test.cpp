// Slim objects by kind and name: what the import makes of them, and what counts as a change.
#include "io/api_server/object_store.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "io/kubernetes/import.h"
#include "io/kubernetes/object/object.h"
#include "model/snapshot/quantity.h"
#include "test/api_server/fake_cluster.h"
#include "test/api_server/running.h"
#include "test/support/paths.h"

namespace muster::api_server {
namespace {

constexpr json::JsonLimits kLimits{std::size_t{1} << 30, 64};

const kubernetes::KnownKind& known(const std::string& group, const std::string& version, const std::string& kind) {
  return *kubernetes::find_known_kind(group, version, kind);
}

ServedKind pods() { return {&known("", "v1", "Pod"), "v1", "pods", true}; }
ServedKind nodes() { return {&known("", "v1", "Node"), "v1", "nodes", false}; }

kubernetes::KubernetesOptions import_options() {
  kubernetes::KubernetesOptions options;
  options.time = *parse_instant("2026-03-02T00:00:00Z");
  options.strict = false;
  return options;
}

class ObjectStoreOf : public ::testing::Test {
 protected:
  bool set(KindSink& sink, const Json& object) {
    text_ = object.dump();
    EXPECT_FALSE(document_.parse(text_, kLimits));
    return sink.set(document_.root());
  }
  bool remove(KindSink& sink, const Json& object) {
    text_ = object.dump();
    EXPECT_FALSE(document_.parse(text_, kLimits));
    return sink.remove(document_.root());
  }
  void list(KindSink& sink, const std::vector<Json>& objects) {
    sink.list_begins();
    for (const Json& object : objects) EXPECT_TRUE(set(sink, object));
    sink.list_ends("7");
  }

  std::chrono::steady_clock::time_point now_{};
  ObjectStore store_{[this] { return now_; }, import_options()};
  json::JsonDocument document_;
  std::string text_;
};

Json node_object() {
  return Json::parse(
      R"({"metadata":{"name":"n","uid":"u1","resourceVersion":"5","creationTimestamp":"2026-03-01T10:00:00Z",
    "labels":{"zone":"a"},"annotations":{"volumes.kubernetes.io/x":"true","gpu-memory":"3"},
    "managedFields":[{"fieldsV1":{"f:status":{}},"time":"2026-03-01T10:00:00Z"}]},
    "spec":{"podCIDR":"10.0.0.0/24"},
    "status":{"allocatable":{"cpu":"64","nvidia.com/gpu":"8"},"images":[{"names":["a"]}],
      "conditions":[{"type":"MemoryPressure","status":"False","lastHeartbeatTime":"2026-03-01T10:00:00Z"},
        {"type":"Ready","status":"True","reason":"KubeletReady","lastHeartbeatTime":"2026-03-01T10:00:00Z",
         "lastTransitionTime":"2026-03-01T09:00:00Z"}]}})");
}

TEST_F(ObjectStoreOf, KeepsOfAnObjectWhatTheImportReads) {
  KindSink& sink = store_.add_kind(nodes());
  list(sink, {node_object()});
  const StoredObject* stored = store_.find("", "Node", "", "n");
  ASSERT_NE(stored, nullptr);
  EXPECT_EQ(stored->uid, "u1");
  EXPECT_EQ(stored->resource_version, "5");
  const Json slim = Json::parse(stored->text());
  const Json expected = Json::parse(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n","uid":"u1",
    "creationTimestamp":"2026-03-01T10:00:00Z","labels":{"zone":"a"},"annotations":{"gpu-memory":"3"}},
    "spec":{"podCIDR":"10.0.0.0/24"},
    "status":{"allocatable":{"cpu":"64","nvidia.com/gpu":"8"},
      "conditions":[{"type":"Ready","status":"True","reason":"KubeletReady"}]}})");
  EXPECT_EQ(slim, expected) << slim.dump(1);
  EXPECT_EQ(store_.find("", "Node", "", "m"), nullptr);
  EXPECT_EQ(store_.find("", "Pod", "", "n"), nullptr);
}

TEST_F(ObjectStoreOf, HeartbeatsAreNoChange) {
  KindSink& sink = store_.add_kind(nodes());
  list(sink, {node_object()});
  const std::uint64_t before = store_.revision();
  Json beat = node_object();
  beat["metadata"]["resourceVersion"] = "6";
  beat["metadata"]["managedFields"][0]["time"] = "2026-03-01T10:00:10Z";
  beat["metadata"]["annotations"]["volumes.kubernetes.io/x"] = "false";
  beat["status"]["images"] = Json::array();
  for (Json& condition : beat["status"]["conditions"]) condition["lastHeartbeatTime"] = "2026-03-01T10:00:10Z";
  now_ += std::chrono::seconds(3);
  EXPECT_TRUE(set(sink, beat));
  sink.reached("6");
  EXPECT_EQ(store_.revision(), before);
  EXPECT_EQ(store_.find("", "Node", "", "n")->resource_version, "6");
  const KindReport report = store_.reports().front();
  EXPECT_EQ(report.events, 1U);
  EXPECT_EQ(report.changes, 1U);  // of the list
  EXPECT_EQ(report.resource_version, "6");
  EXPECT_EQ(report.last_event, now_);
  beat["status"]["conditions"][1]["status"] = "False";
  EXPECT_TRUE(set(sink, beat));
  EXPECT_EQ(store_.revision(), before + 1);
  beat["metadata"]["uid"] = "u2";
  EXPECT_TRUE(set(sink, beat));
  EXPECT_EQ(store_.revision(), before + 2);
}

TEST_F(ObjectStoreOf, ALaterListRemovesWhatIsInNoPage) {
  KindSink& sink = store_.add_kind(pods());
  list(sink, {small_pod("a"), small_pod("b")});
  const std::uint64_t before = store_.revision();
  sink.list_begins();  // does not end
  EXPECT_TRUE(set(sink, small_pod("c")));
  EXPECT_EQ(store_.objects(), 3U);
  list(sink, {small_pod("b"), small_pod("d")});
  EXPECT_EQ(store_.objects(), 2U);
  EXPECT_GT(store_.revision(), before);
  const std::uint64_t after = store_.revision();
  list(sink, {small_pod("b"), small_pod("d")});
  EXPECT_EQ(store_.revision(), after);
  EXPECT_TRUE(remove(sink, small_pod("d")));
  EXPECT_TRUE(remove(sink, small_pod("d")));
  EXPECT_EQ(store_.revision(), after + 1);
}

TEST_F(ObjectStoreOf, IsCompleteOnceEveryKindIsListed) {
  EXPECT_FALSE(store_.is_complete());
  KindSink& of_nodes = store_.add_kind(nodes());
  KindSink& of_pods = store_.add_kind(pods());
  list(of_nodes, {});
  EXPECT_FALSE(store_.is_complete());
  of_pods.list_begins();
  EXPECT_FALSE(store_.is_complete());
  of_pods.changed(WatchState::kForbidden, "no");
  EXPECT_FALSE(store_.is_complete());
  of_pods.changed(WatchState::kListing, "");
  list(of_pods, {});
  EXPECT_TRUE(store_.is_complete());
  store_.remove_kind(*pods().known);
  EXPECT_TRUE(store_.is_complete());
  EXPECT_EQ(store_.reports().size(), 1U);
}

TEST_F(ObjectStoreOf, CountsItsBytesExactlyUpAndDown) {
  KindSink& sink = store_.add_kind(pods());
  list(sink, {});
  EXPECT_EQ(store_.bytes(), 0U);
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(set(sink, small_pod("p" + std::to_string(i))));
  EXPECT_GT(store_.bytes(), kubernetes::text_of(store_.kept()).size());
  for (int i = 0; i < 50; ++i) {
    Json longer = small_pod("p" + std::to_string(i));
    longer["metadata"]["labels"]["long"] = std::string(static_cast<std::size_t>(i) * 10, 'x');
    EXPECT_TRUE(set(sink, longer));
  }
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(remove(sink, small_pod("p" + std::to_string(i))));
  EXPECT_EQ(store_.bytes(), 0U);
  EXPECT_EQ(kubernetes::text_of(store_.kept()), R"({"apiVersion":"v1","kind":"List","items":[]})");
}

TEST_F(ObjectStoreOf, WhatIsNoObjectIsRefused) {
  KindSink& sink = store_.add_kind(pods());
  for (const char* text :
       {"7", "[]", "{}", R"({"metadata":7})", R"({"metadata":{"name":7}})", R"({"metadata":{"name":""}})"})
    EXPECT_FALSE(set(sink, Json::parse(text))) << text;
  EXPECT_EQ(store_.objects(), 0U);
}

// The line with its remarks and warnings, or the error.
std::string told(const Result<Snapshot>& made) {
  if (!made) return std::string(error_code_text(made.error().code)) + " " + made.error().message;
  return kubernetes::line_of(*made);
}
std::string imported(const kubernetes::KeptObjects& objects) {
  return told(kubernetes::import_kept(objects, import_options()));
}
std::string imported(const Json& list) {
  return told(kubernetes::import_kubernetes_text(list.dump(), import_options(), kLimits));
}

// The imports of the items as an API server lists them, by kind, namespace and name, each known kind once: of the
// objects that are kept, and of the list as a whole.
struct BothImports {
  std::string of_kept, of_whole;
};
class ImportOfKeptObjects : public ObjectStoreOf {
 protected:
  BothImports both_imports(const Json& items) {
    std::map<const kubernetes::KnownKind*, std::map<std::string, Json>> kinds;
    for (const Json& item : items) {
      kubernetes::KubernetesObject place;
      const std::string api_version = item["apiVersion"], kind = item["kind"], name = item["metadata"]["name"];
      kubernetes::split_api_version(api_version, place);
      const auto* found = kubernetes::find_known_kind(place.group, place.version, kind);
      if (found == nullptr) continue;
      const std::string space = found->has_namespace ? item["metadata"].value("namespace", "default") + "/" : "";
      kinds[found][space + name] = item;
    }
    ObjectStore store([this] { return now_; }, import_options());
    Json whole = {{"apiVersion", "v1"}, {"kind", "List"}, {"items", Json::array()}};
    for (const auto& [found, objects] : kinds) {
      kubernetes::KubernetesObject place;
      const std::string api_version = objects.begin()->second["apiVersion"];
      kubernetes::split_api_version(api_version, place);
      KindSink& sink = store.add_kind({found, std::string(place.version), "things", found->has_namespace});
      sink.list_begins();
      for (const auto& [key, object] : objects) {
        whole["items"].push_back(object);
        Json listed = object;
        listed.erase("apiVersion");
        listed.erase("kind");
        EXPECT_TRUE(set(sink, listed));
      }
      sink.list_ends("1");
    }
    return {imported(store.kept()), imported(whole)};
  }
};

TEST_F(ImportOfKeptObjects, IsThatOfTheWholeObjects) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_folder() + "/test/scenarios/kubernetes")) {
    std::ifstream file(entry.path());
    Json items = Json::parse(file)["items"];
    for (const bool has_namespaces : {false, true}) {  // with them, pods are read once
      if (has_namespaces) items.push_back({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "n"}}}});
      const BothImports both = both_imports(items);
      EXPECT_EQ(both.of_kept, both.of_whole) << entry.path();
      EXPECT_NE(both.of_kept.find("{\"format\""), std::string::npos) << entry.path();
    }
    ++files;
  }
  EXPECT_GT(files, 10);
}

// The attached volumes that count on a node are no part of the pod's own request.
TEST_F(ImportOfKeptObjects, GivesEqualPodsATemplateUnlessTheirVolumesAddToIt) {
  const auto item = [](const char* version, const char* kind, const char* name, Json spec) {
    return Json{{"apiVersion", version}, {"kind", kind}, {"metadata", {{"name", name}}}, {"spec", std::move(spec)}};
  };
  Json limits = {{{"name", "csi.example.com"}, {"nodeID", "node"}, {"allocatable", {{"count", 4}}}}};
  Json items = {item("v1", "Namespace", "default", Json::object()),
                item("storage.k8s.io/v1", "CSINode", "node", {{"drivers", limits}}),
                item("v1", "PersistentVolume", "v", {{"csi", {{"driver", "csi.example.com"}, {"volumeHandle", "h"}}}})};
  items.push_back(item("v1", "PersistentVolumeClaim", "data", {{"volumeName", "v"}}));
  items.back()["metadata"]["namespace"] = "default";
  items.back()["status"]["phase"] = "Bound";
  for (const char* name : {"a", "b", "with-volume"}) {
    items.push_back(small_pod(name));
    items.back().update({{"apiVersion", "v1"}, {"kind", "Pod"}});
  }
  items.back()["spec"]["volumes"] = {{{"name", "data"}, {"persistentVolumeClaim", {{"claimName", "data"}}}}};
  items.push_back(node_object());
  items.back().update({{"apiVersion", "v1"}, {"kind", "Node"}});
  const BothImports both = both_imports(items);
  EXPECT_EQ(both.of_kept, both.of_whole);
  const Json line = Json::parse(both.of_kept);
  ASSERT_EQ(line["pods"].size(), 3U) << line;
  EXPECT_EQ(line["podTemplates"].size(), 2U) << line;
  EXPECT_EQ(line["pods"][0]["template"], line["pods"][1]["template"]) << line;
  EXPECT_EQ(line["pods"][2]["template"], "t1") << line;
  EXPECT_GT(line["podTemplates"]["t1"]["resources"].size(), line["podTemplates"]["t0"]["resources"].size()) << line;
}

TEST_F(ObjectStoreOf, PodsAreReadWithTheOptionsOfTheImport) {
  kubernetes::KubernetesOptions options = import_options();
  options.duration_annotation = "example.com/duration";
  options.planned_gate = "example.com/gate";
  ObjectStore store([this] { return now_; }, options);
  std::vector<Json> objects = {small_pod("ends"), small_pod("left"), small_pod("odd"), small_pod("plain")};
  objects[0]["metadata"]["annotations"]["example.com/duration"] = "600";
  for (Json& object : objects) object["spec"]["schedulingGates"] = {{{"name", "example.com/gate"}}};
  objects[1]["spec"].erase("schedulingGates");
  objects[2]["metadata"]["annotations"]["example.com/duration"] = "soon";
  list(store.add_kind(pods()), objects);
  Json whole = {{"apiVersion", "v1"}, {"kind", "List"}, {"items", objects}};
  for (Json& item : whole["items"]) item.update({{"apiVersion", "v1"}, {"kind", "Pod"}});
  const std::string text = told(kubernetes::import_kubernetes_text(whole.dump(), options, kLimits));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(told(kubernetes::import_kept(store.kept(), options)), text);
  EXPECT_NE(text.find("expectedDuration"), std::string::npos) << text;
  EXPECT_NE(text.find("example.com/duration"), std::string::npos) << text;
}

TEST_F(ObjectStoreOf, AnObjectThatCannotBeReadIsToldWithEachImport) {
  KindSink& sink = store_.add_kind(nodes());
  Json odd = node_object();
  odd["metadata"]["name"] = "odd";
  odd["metadata"]["creationTimestamp"] = "yesterday";
  Json broken = node_object();
  broken["metadata"]["name"] = "broken";
  broken["spec"] = 7;
  list(sink, {broken, node_object(), odd});
  const std::string first = imported(store_.kept());
  EXPECT_NE(first.find("odd"), std::string::npos) << first;
  EXPECT_NE(first.find("broken"), std::string::npos) << first;
  EXPECT_EQ(imported(store_.kept()), first);
  Json whole = {{"apiVersion", "v1"}, {"kind", "List"}, {"items", {broken, node_object(), odd}}};
  for (Json& item : whole["items"]) item.update({{"apiVersion", "v1"}, {"kind", "Node"}});
  EXPECT_EQ(first, imported(whole));
}

}  // namespace
}  // namespace muster::api_server
