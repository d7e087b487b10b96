// Small Kubernetes objects, and what becomes of them, for tests of the import.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "io/kubernetes/import.h"
#include "io/snapshot_reader/snapshot_reader.h"

namespace muster {

using Json = nlohmann::json;

inline Json object(const char* api_version, const char* kind, const char* name, Json spec) {
  Json made{{"apiVersion", api_version}, {"kind", kind}, {"metadata", {{"name", name}}}, {"spec", std::move(spec)}};
  return made;
}

inline Json in_namespace(Json made, const char* name = "team") {
  made["metadata"]["namespace"] = name;
  return made;
}

inline Json node(const char* name, int gpus = 8) {
  Json made = object("v1", "Node", name, Json::object());
  made["status"]["allocatable"] = {{"cpu", "64"}, {"memory", "256Gi"}, {"nvidia.com/gpu", std::to_string(gpus)}};
  made["status"]["conditions"] = Json::array({{{"type", "Ready"}, {"status", "True"}}});
  return made;
}

inline Json pod(const char* name, Json spec = Json::object()) {
  return in_namespace(object("v1", "Pod", name, std::move(spec)));
}

inline Json running(Json made, const char* on) {
  made["spec"]["nodeName"] = on;
  made["status"]["phase"] = "Running";
  return made;
}

inline Json labelled(Json made, const char* key, const char* value) {
  made["metadata"]["labels"][key] = value;
  return made;
}

inline Json annotated(Json made, const char* key, const char* value) {
  made["metadata"]["annotations"][key] = value;
  return made;
}

// Of Volcano: a PodGroup, a pod of one, a Queue.
inline Json volcano(const char* name, Json spec = Json::object()) {
  return in_namespace(object("scheduling.volcano.sh/v1beta1", "PodGroup", name, std::move(spec)));
}
inline Json volcano_pod(const char* name, const char* of = "g") {
  return annotated(pod(name), "scheduling.k8s.io/group-name", of);
}
inline Json volcano_queue(const char* name, Json spec = Json::object()) {
  return object("scheduling.volcano.sh/v1beta1", "Queue", name, std::move(spec));
}

// An entry of queues[] without any bound.
inline Json unbounded_queue(const char* name) { return {{"name", name}, {"gpu", {{"weight", 1}}}}; }

inline Json asking(Json made, const char* resource, const char* amount) {
  made["spec"]["containers"] = Json::array({{{"resources", {{"limits", {{resource, amount}}}}}}});
  return made;
}

inline std::string list_of(const std::vector<Json>& items) {
  return Json{{"apiVersion", "v1"}, {"kind", "List"}, {"items", items}}.dump();
}

// The line of an imported snapshot, read back by another parser: with what a pod's template has in the pod, and with
// the queue of gangs that have the default one.
inline Json json_of(const Snapshot& snapshot) {
  Json line = Json::parse(kubernetes::line_of(snapshot));
  for (Json& pod : line["pods"]) {
    pod.update(line["podTemplates"].at(pod["template"].get<std::string>()));
    pod.erase("template");
  }
  line.erase("podTemplates");
  for (const char* section : {"gangs", "pods"}) {
    if (!line.contains(section)) continue;
    for (Json& one : line[section]) {
      if (!one.contains("queue") && !one.contains("gang")) one["queue"] = "default";
    }
  }
  return line;
}

inline std::vector<std::string> remarks_of(const Snapshot& snapshot) {
  std::vector<std::string> remarks;
  for (const Warning& warning : snapshot.anomalies.warnings) {
    if (is_remark(warning)) remarks.push_back(remark_text(warning));
  }
  return remarks;
}

// The line of the objects; a reader of lines must take it, too.
struct ImportedObjects {
  Json line;
  std::vector<std::string> remarks;

  const Json* find(const char* section, std::string_view name) const {
    if (!line.contains(section)) return nullptr;
    for (const Json& one : line[section]) {
      if (one["name"] == name) return &one;
    }
    return nullptr;
  }
  Json at(const char* section, std::string_view name) const {
    const Json* found = find(section, name);
    EXPECT_NE(found, nullptr) << section << " " << name << " in " << line.dump();
    return found == nullptr ? Json::object() : *found;
  }
  Json gang(std::string_view name) const { return at("gangs", name); }
  Json pod(std::string_view name) const { return at("pods", name); }
  Json queue(std::string_view name) const { return at("queues", name); }
  bool says(std::string_view part) const {
    for (const std::string& remark : remarks) {
      if (remark.find(part) != std::string::npos) return true;
    }
    return false;
  }
};

inline ImportedObjects imported_text(const std::string& text, const kubernetes::KubernetesOptions& options = {}) {
  json::JsonDocument document;
  const auto broken = document.parse(text, {text.size(), 64});
  EXPECT_FALSE(broken) << text;
  if (broken) return {};
  const auto made = kubernetes::import_kubernetes(document.root(), options);
  if (!made) {
    ADD_FAILURE() << error_code_text(made.error().code) << " " << made.error().path << " " << made.error().message;
    return {};
  }
  const auto read = muster_v1::SnapshotReader().read(kubernetes::line_of(*made));
  EXPECT_TRUE(read) << error_code_text(read.error().code) << " " << read.error().path << " " << read.error().message;
  return {json_of(*made), remarks_of(*made)};
}

inline ImportedObjects imported(const std::vector<Json>& items, const kubernetes::KubernetesOptions& options = {}) {
  return imported_text(list_of(items), options);
}

// The error of objects that are refused; its message begins with the object's kind and name.
inline InputError refused(const std::vector<Json>& items) {
  const auto read = muster_v1::SnapshotReader().read(list_of(items));
  EXPECT_FALSE(read) << list_of(items);
  return read ? InputError{} : read.error();
}

}  // namespace muster
