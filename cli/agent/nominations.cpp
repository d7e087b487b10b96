#include "cli/agent/nominations.h"

#include <string_view>
#include <unordered_map>

#include "io/json/json_writer.h"
#include "io/kubernetes/object/object.h"

namespace muster::cli {
namespace {

// `node`: empty gives it up.
Act nomination(std::string_view name_space, std::string_view name, const std::string& uid, const std::string& node) {
  Act act;
  act.kind = ActKind::kNominate;
  act.object.namespace_name = name_space;
  act.object.name = name;
  act.object.uid = uid;
  act.object.node = node;
  json::JsonWriter json(act.object.text);
  json.raw(R"({"metadata":{"uid":)").string(uid).raw(R"(},"status":{"nominatedNodeName":)");
  node.empty() ? json.raw("null") : json.string(node);
  json.raw("}}");
  return act;
}

}  // namespace

std::string nominated_node(const api_server::StoredObject& pod) {
  const json::JsonValue status = kubernetes::member_of(pod.kept->value(), "status");
  const json::JsonValue node = kubernetes::member_of(status, "nominatedNodeName");
  return node && node.is(json::JsonKind::kString) ? std::string(node.string()) : "";
}

ActGroup nominations(const exporting::ExportedPlan& plan, const std::vector<PendingPod>& pending, ApplyMode mode,
                     const api_server::ObjectStore& objects) {
  ActGroup group{ActKind::kNominate, {}, {}};
  if (mode != ApplyMode::kBindings && mode != ApplyMode::kExtender) return group;
  std::unordered_map<std::string, const exporting::ExportedObject*> placed;
  for (const exporting::ExportedObject& object : plan.objects) {
    if (object.phase != exporting::ExportPhase::kEvictions) placed[object.namespace_name + "/" + object.name] = &object;
  }
  for (const PendingPod& pod : pending) {
    const std::size_t slash = pod.name.find('/');
    if (slash == std::string::npos) continue;
    const std::string_view name_space = std::string_view(pod.name).substr(0, slash),
                           name = std::string_view(pod.name).substr(slash + 1);
    const api_server::StoredObject* stored = objects.find("", "Pod", name_space, name);
    if (stored == nullptr || stored->text().find(R"("nodeName")") != std::string::npos) continue;
    const auto place = placed.find(pod.name);
    const std::string present = nominated_node(*stored);
    const bool is_meant = place != placed.end() && (mode == ApplyMode::kExtender ||
                                                    place->second->phase == exporting::ExportPhase::kAfterEvictions);
    if (is_meant && present != place->second->node)
      group.acts.push_back(nomination(name_space, name, stored->uid, place->second->node));
    if (place == placed.end() && !present.empty()) group.acts.push_back(nomination(name_space, name, stored->uid, {}));
  }
  return group;
}

}  // namespace muster::cli
