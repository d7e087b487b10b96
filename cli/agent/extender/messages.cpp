#include "cli/agent/extender/messages.h"

#include <utility>

#include <fmt/format.h>

#include "io/http/service.h"
#include "io/json/json_writer.h"
#include "io/kubernetes/object/object.h"

namespace muster::cli {
namespace {

using json::JsonKind;
using json::JsonValue;

constexpr std::size_t kMostDepth = 64;
constexpr std::int64_t kBestScore = 10;  // MaxExtenderPriority

// The last member of this name, in any case, as Go has it; none if it is absent or null.
JsonValue member(JsonValue object, std::string_view key) {
  JsonValue found;
  if (!object || !object.is(JsonKind::kObject)) return found;
  for (const json::JsonMember each : object.members()) {
    if (each.key != key && !http::is_same_in_any_case(each.key, key)) continue;
    found = each.value.is(JsonKind::kNull) ? JsonValue() : each.value;
  }
  return found;
}

// Reads strings and objects of a message; keeps the first error.
class Members {
 public:
  explicit Members(const json::JsonDocument& document) : document_(document) {}

  std::optional<InputError>& error() { return error_; }

  JsonValue object(JsonValue parent, std::string_view path, std::string_view key) {
    return of_kind(parent, path, key, JsonKind::kObject, true);
  }
  JsonValue list(JsonValue parent, std::string_view path, std::string_view key) {
    return of_kind(parent, path, key, JsonKind::kArray, false);
  }
  // Empty if it is absent.
  std::string_view text(JsonValue parent, std::string_view path, std::string_view key, bool is_required) {
    const JsonValue value = of_kind(parent, path, key, JsonKind::kString, is_required);
    const std::string_view text = value ? value.string() : std::string_view();
    if (is_required && value && text.empty()) fail({ErrorCode::kMissingKey, join(path, key), "is empty"});
    return text;
  }
  bool is(JsonValue value, JsonKind kind) {
    if (value.is(kind)) return true;
    fail({ErrorCode::kWrongType, json::path_of(value),
          fmt::format("is {}; {} is expected", json::kind_name(value.kind()), json::kind_name(kind))});
    return false;
  }
  void fail(InputError error) {
    if (!error_) error_ = std::move(error);
  }

 private:
  static std::string join(std::string_view path, std::string_view key) { return fmt::format("{}.{}", path, key); }

  JsonValue of_kind(JsonValue parent, std::string_view path, std::string_view key, JsonKind kind, bool is_required) {
    const JsonValue value = member(parent, key);
    if (!value) {
      if (is_required) fail({ErrorCode::kMissingKey, join(path, key), "is missing"});
      return {};
    }
    return is(value, kind) ? value : JsonValue();
  }

  const json::JsonDocument& document_;
  std::optional<InputError> error_;
};

std::string key_of(std::string_view name_space, std::string_view name) {
  return fmt::format("{}/{}", name_space.empty() ? "default" : name_space, name);
}

ExtenderPod pod_of(Members& members, JsonValue pod) {
  const JsonValue metadata = members.object(pod, "$.Pod", "metadata");
  ExtenderPod read;
  read.key = key_of(members.text(metadata, "$.Pod.metadata", "namespace", false),
                    members.text(metadata, "$.Pod.metadata", "name", true));
  read.uid = members.text(metadata, "$.Pod.metadata", "uid", false);
  const JsonValue spec = member(pod, "spec");
  if (spec && members.is(spec, JsonKind::kObject))
    read.scheduler = members.text(spec, "$.Pod.spec", "schedulerName", false);
  return read;
}

// Uids of Victims, whole pods, or of MetaVictims.
ExtenderPreemption::Victims victims_of(Members& members, JsonValue value, std::string_view path) {
  ExtenderPreemption::Victims victims;
  if (value.is(JsonKind::kNull) || !members.is(value, JsonKind::kObject)) return victims;
  const JsonValue pods = members.list(value, path, "Pods");
  if (pods) {
    for (const JsonValue pod : pods.elements()) {
      if (!members.is(pod, JsonKind::kObject)) continue;
      const JsonValue metadata = member(pod, "metadata");
      const std::string_view uid = members.text(metadata ? metadata : pod, path, "UID", true);
      victims.uids.emplace_back(uid);
    }
  }
  const JsonValue violations = member(value, "NumPDBViolations");
  if (violations && members.is(violations, JsonKind::kInteger)) victims.budget_violations = violations.integer();
  return victims;
}

}  // namespace

std::optional<InputError> ExtenderReader::parse(std::string_view body) {
  pod_ = {};
  nodes_.clear();
  json::JsonLimits limits;
  limits.max_depth = kMostDepth;
  if (auto error = document_.parse(body, limits)) return error;
  if (document_.root().is(JsonKind::kObject)) return std::nullopt;
  return InputError{ErrorCode::kWrongType, "$",
                    fmt::format("is {}; an object is expected", json::kind_name(document_.root().kind()))};
}

std::optional<InputError> ExtenderReader::read_nodes(JsonValue root, ExtenderArguments& arguments) {
  Members members(document_);
  const JsonValue names = member(root, "NodeNames"), nodes = member(root, "Nodes");
  arguments.has_names = static_cast<bool>(names) || !nodes;
  if (names && members.is(names, JsonKind::kArray)) {
    arguments.nodes.reserve(names.size());
    for (const JsonValue name : names.elements()) {
      if (!members.is(name, JsonKind::kString)) break;
      arguments.nodes.push_back(name.string());
    }
  } else if (nodes && !names && members.is(nodes, JsonKind::kObject)) {
    const JsonValue items = members.list(nodes, "$.Nodes", "items");
    if (items) {
      for (const JsonValue node : items.elements()) {
        if (!members.is(node, JsonKind::kObject)) break;
        const std::string path = fmt::format("$.Nodes.items[{}]", nodes_.size());
        arguments.nodes.push_back(
            members.text(members.object(node, path, "metadata"), path + ".metadata", "name", true));
        nodes_.push_back(node);
      }
    }
  }
  return std::move(members.error());
}

Result<ExtenderArguments> ExtenderReader::arguments(std::string_view body) {
  if (auto error = parse(body)) return *std::move(error);
  Members members(document_);
  pod_ = members.object(document_.root(), "$", "Pod");
  ExtenderArguments read;
  if (pod_) read.pod = pod_of(members, pod_);
  if (members.error()) return *std::move(members.error());
  if (auto error = read_nodes(document_.root(), read)) return *std::move(error);
  return read;
}

Result<ExtenderPreemption> ExtenderReader::preemption(std::string_view body) {
  if (auto error = parse(body)) return *std::move(error);
  Members members(document_);
  const JsonValue pod = members.object(document_.root(), "$", "Pod");
  ExtenderPreemption read;
  if (pod) read.pod = pod_of(members, pod);
  for (const std::string_view key : {"NodeNameToMetaVictims", "NodeNameToVictims"}) {
    const JsonValue by_node = member(document_.root(), key);
    if (!by_node || !members.is(by_node, JsonKind::kObject)) continue;
    for (const json::JsonMember each : by_node.members())
      read.victims[std::string(each.key)] = victims_of(members, each.value, fmt::format("$.{}.{}", key, each.key));
    break;
  }
  if (members.error()) return *std::move(members.error());
  return read;
}

Result<ExtenderBinding> ExtenderReader::binding(std::string_view body) {
  if (auto error = parse(body)) return *std::move(error);
  Members members(document_);
  const JsonValue root = document_.root();
  ExtenderBinding read;
  read.pod = key_of(members.text(root, "$", "PodNamespace", false), members.text(root, "$", "PodName", true));
  read.uid = members.text(root, "$", "PodUID", false);
  read.node = members.text(root, "$", "Node", true);
  if (members.error()) return *std::move(members.error());
  return read;
}

std::string ExtenderReader::pod_list() {
  std::string text = R"({"apiVersion":"v1","kind":"PodList","items":[)";
  json::JsonWriter writer(text);
  json::NumberCursor numbers;
  kubernetes::write_json(writer, numbers, pod_);
  return text += "]}";
}

std::string ExtenderReader::filter_answer(const ExtenderArguments& arguments, const Verdict& verdict) {
  const auto passes = [&](std::size_t i) { return verdict.all_pass || verdict.passes == i; };
  std::string text;
  json::JsonWriter writer(text);
  json::NumberCursor numbers;
  writer.raw(arguments.has_names ? R"({"NodeNames":[)" : R"({"Nodes":{"metadata":{},"items":[)");
  bool first = true;
  for (std::size_t i = 0; i < arguments.nodes.size(); ++i) {
    if (!passes(i)) continue;
    writer.separate(first);
    if (arguments.has_names)
      writer.string(arguments.nodes[i]);
    else
      kubernetes::write_json(writer, numbers, nodes_[i]);
  }
  writer.raw(arguments.has_names ? "]" : "]}").raw(R"(,"FailedAndUnresolvableNodes":{)");
  // Once a node passes, kube-scheduler does not look at the others: they need no reason.
  if (!verdict.all_pass && !verdict.passes) {
    std::string reason;
    json::JsonWriter(reason).string(verdict.reason);
    text.reserve(text.size() + arguments.nodes.size() * (reason.size() + 24));
    first = true;
    for (const std::string_view node : arguments.nodes) writer.separate(first).string(node).raw(":").raw(reason);
  }
  writer.raw(R"(},"Error":""})");
  return text;
}

std::string error_answer(std::string_view error) {
  std::string text = R"({"Error":)";
  json::JsonWriter(text).string(error).raw("}");
  return text;
}

std::string priorities_answer(std::span<const std::string_view> nodes, std::optional<std::size_t> best) {
  std::string text;
  text.reserve(nodes.size() * 40 + 2);
  json::JsonWriter writer(text);
  bool first = true;
  writer.raw("[");
  for (std::size_t i = 0; i < nodes.size(); ++i)
    writer.separate(first)
        .raw(R"({"Host":)")
        .string(nodes[i])
        .raw(R"(,"Score":)")
        .integer(best == i ? kBestScore : 0)
        .raw("}");
  writer.raw("]");
  return text;
}

std::string preemption_answer(const std::map<std::string, ExtenderPreemption::Victims, std::less<>>& victims) {
  std::string text = R"({"NodeNameToMetaVictims":{)";
  json::JsonWriter writer(text);
  bool first = true;
  for (const auto& [node, of_node] : victims) {
    writer.separate(first).string(node).raw(R"(:{"Pods":[)");
    bool first_pod = true;
    for (const std::string& uid : of_node.uids) writer.separate(first_pod).raw(R"({"UID":)").string(uid).raw("}");
    writer.raw(R"(],"NumPDBViolations":)").integer(of_node.budget_violations).raw("}");
  }
  writer.raw("}}");
  return text;
}

}  // namespace muster::cli
