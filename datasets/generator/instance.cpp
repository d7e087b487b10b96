#include "datasets/generator/instance.h"

#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/compile.h>
#include <fmt/format.h>

#include "model/base/require.h"

namespace muster {
namespace {

using Buffer = fmt::memory_buffer;

void append(Buffer& out, std::string_view text) { out.append(text.data(), text.data() + text.size()); }

// A JSON string. Escapes what JSON requires; everything else is copied unchanged.
void append_quoted(Buffer& out, std::string_view text) {
  out.push_back('"');
  for (const char c : text) {
    if (c == '"' || c == '\\') out.push_back('\\');
    if (static_cast<unsigned char>(c) < 0x20) {
      fmt::format_to(std::back_inserter(out), FMT_COMPILE("\\u{:04x}"), static_cast<unsigned>(c));
    } else {
      out.push_back(c);
    }
  }
  out.push_back('"');
}

void append_number(Buffer& out, std::int64_t value) {
  const fmt::format_int text(value);
  out.append(text.data(), text.data() + text.size());
}

// `,"key":"value"`. Every object begins with a member written without a comma, so that a comma can always lead.
void add_text(Buffer& out, std::string_view key, std::string_view value) {
  append(out, ",\"");
  append(out, key);
  append(out, "\":");
  append_quoted(out, value);
}

void add_number(Buffer& out, std::string_view key, std::int64_t value) {
  append(out, ",\"");
  append(out, key);
  append(out, "\":");
  append_number(out, value);
}

// Calls `write` for each item, with commas between them.
template <class Items, class Write>
void append_joined(Buffer& out, const Items& items, const Write& write) {
  bool first = true;
  for (const auto& item : items) {
    if (!first) out.push_back(',');
    first = false;
    write(item);
  }
}

// Whole cores as a number, others as "1500m".
void append_resources(Buffer& out, std::int64_t cpu_milli, std::int64_t memory_mib) {
  append(out, "\"resources\":{\"cpu\":");
  if (cpu_milli % 1000 == 0) {
    append_number(out, cpu_milli / 1000);
  } else {
    fmt::format_to(std::back_inserter(out), FMT_COMPILE("\"{}m\""), cpu_milli);
  }
  fmt::format_to(std::back_inserter(out), FMT_COMPILE(",\"memory\":\"{}Mi\""), memory_mib);
}

void append_labels(Buffer& out, const InstanceNode& node) {
  std::vector<std::pair<std::string_view, std::string_view>> labels;
  if (node.hostname_label) labels.emplace_back(kHostnameLabel, node.name);
  if (!node.zone.empty()) labels.emplace_back(kZoneLabel, node.zone);
  if (!node.rack.empty()) labels.emplace_back(kRackLabel, node.rack);
  if (!node.pool.empty()) labels.emplace_back(kPoolLabel, node.pool);
  if (labels.empty()) return;
  append(out, ",\"labels\":{");
  append_joined(out, labels, [&](const auto& label) {
    append_quoted(out, label.first);
    out.push_back(':');
    append_quoted(out, label.second);
  });
  out.push_back('}');
}

void append_taint(Buffer& out, std::string_view key, std::string_view last_key, std::string_view last_value) {
  append(out, ",\"");
  append(out, key);
  append(out, "\":[{\"key\":");
  append_quoted(out, kTaintKey);
  add_text(out, last_key, last_value);
  add_text(out, "value", kTaintValue);
  append(out, "}]");
}

void append_node(Buffer& out, const InstanceNode& node) {
  append(out, "{\"name\":");
  append_quoted(out, node.name);
  out.push_back(',');
  append_resources(out, node.cpu_milli, node.memory_mib);
  if (node.pods != 110) add_number(out, "pods", node.pods);
  out.push_back('}');
  if (node.gpu_count > 0) {
    fmt::format_to(std::back_inserter(out), FMT_COMPILE(",\"gpus\":{{\"count\":{}"), node.gpu_count);
    if (node.gpu_memory_mib > 0) {
      fmt::format_to(std::back_inserter(out), FMT_COMPILE(",\"memory\":\"{}Mi\""), node.gpu_memory_mib);
    }
    if (!node.gpu_model.empty()) add_text(out, "model", node.gpu_model);
    out.push_back('}');
  }
  append_labels(out, node);
  if (node.tainted) append_taint(out, "taints", "effect", "NoSchedule");
  out.push_back('}');
}

// Millionths as a decimal without trailing zeros: "0.46".
void append_fraction(Buffer& out, std::int64_t millionths) {
  if (millionths >= 1'000'000) return out.push_back('1');
  std::string digits = fmt::format("0.{:06}", millionths);
  digits.erase(digits.find_last_not_of('0') + 1);
  append(out, digits);
}

void append_gpu_request(Buffer& out, const GpuRequest& gpu) {
  if (gpu.kind == GpuRequestKind::kNone) return;
  append(out, ",\"gpu\":{");
  if (gpu.kind == GpuRequestKind::kWhole) {
    append(out, "\"count\":");
    append_number(out, gpu.devices);
  } else if (gpu.kind == GpuRequestKind::kFraction) {
    append(out, "\"fraction\":");
    append_fraction(out, gpu.share);
  } else {
    fmt::format_to(std::back_inserter(out), FMT_COMPILE("\"memory\":\"{}Mi\""), gpu.share);
  }
  if (gpu.kind != GpuRequestKind::kWhole && gpu.devices > 1) add_number(out, "devices", gpu.devices);
  out.push_back('}');
}

void append_template(Buffer& out, std::size_t position, const PodShape& shape) {
  fmt::format_to(std::back_inserter(out), FMT_COMPILE("\"t{}\":{{"), position);
  append_resources(out, shape.cpu_milli, shape.memory_mib);
  out.push_back('}');
  append_gpu_request(out, shape.gpu);
  if (!shape.gpu_models.empty()) {
    append(out, ",\"gpuModels\":[");
    append_joined(out, shape.gpu_models, [&](const std::string& model) { append_quoted(out, model); });
    out.push_back(']');
  }
  if (!shape.pool.empty()) {
    append(out, ",\"nodeSelector\":{");
    append_quoted(out, kPoolLabel);
    out.push_back(':');
    append_quoted(out, shape.pool);
    out.push_back('}');
  }
  if (shape.tolerates_taint) append_taint(out, "tolerations", "operator", "Equal");
  out.push_back('}');
}

void append_queue(Buffer& out, const InstanceQueue& queue) {
  append(out, "{\"name\":");
  append_quoted(out, queue.name);
  if (!queue.parent.empty()) add_text(out, "parent", queue.parent);
  if (queue.priority != 100) add_number(out, "priority", queue.priority);
  fmt::format_to(std::back_inserter(out), FMT_COMPILE(",\"gpu\":{{\"weight\":{}"), queue.weight);
  if (queue.gpu_quota >= 0) add_number(out, "quota", queue.gpu_quota);
  if (queue.gpu_limit >= 0) add_number(out, "limit", queue.gpu_limit);
  append(out, "}}");
}

void append_terms(Buffer& out, const Instance& instance, const InstanceTerms& terms) {
  if (terms.queue >= 0) add_text(out, "queue", instance.queues[static_cast<std::size_t>(terms.queue)].name);
  if (terms.priority_class >= 0) {
    add_text(out, "priorityClass", instance.priority_classes[static_cast<std::size_t>(terms.priority_class)].name);
  }
  if (terms.priority) add_number(out, "priority", *terms.priority);
  if (terms.preemptible) append(out, *terms.preemptible ? ",\"preemptible\":true" : ",\"preemptible\":false");
  if (terms.created >= 0) add_number(out, "created", terms.created);
}

void append_gang(Buffer& out, const Instance& instance, const InstanceGang& gang) {
  append(out, "{\"name\":");
  append_quoted(out, gang.name);
  append_terms(out, instance, gang.terms);
  if (gang.min_member >= 0) add_number(out, "minMember", gang.min_member);
  if (!gang.subgroups.empty()) {
    append(out, ",\"subgroups\":[");
    append_joined(out, gang.subgroups, [&](const InstanceSubgroup& subgroup) {
      append(out, "{\"name\":");
      append_quoted(out, subgroup.name);
      add_number(out, "minMember", subgroup.min_member);
      out.push_back('}');
    });
    out.push_back(']');
  }
  if (!gang.required_level.empty() || !gang.preferred_level.empty()) {
    append(out, ",\"topology\":{");
    const bool required = !gang.required_level.empty();
    append(out, required ? "\"required\":" : "\"preferred\":");
    append_quoted(out, required ? gang.required_level : gang.preferred_level);
    if (required && !gang.preferred_level.empty()) add_text(out, "preferred", gang.preferred_level);
    out.push_back('}');
  }
  out.push_back('}');
}

std::string_view status_name(PodStatus status) {
  switch (status) {
    case PodStatus::kRunning:
      return "running";
    case PodStatus::kReleasing:
      return "releasing";
    case PodStatus::kGated:
      return "gated";
    case PodStatus::kSucceeded:
      return "succeeded";
    case PodStatus::kFailed:
      return "failed";
    case PodStatus::kPending:
      break;
  }
  return "pending";
}

// The status is left out if it is the format's default.
void append_place(Buffer& out, const Instance& instance, const InstancePod& pod) {
  const PodStatus by_default = pod.node >= 0 ? PodStatus::kRunning : PodStatus::kPending;
  if (pod.status != by_default) add_text(out, "status", status_name(pod.status));
  if (pod.node < 0) return;
  add_text(out, "node", instance.nodes[static_cast<std::size_t>(pod.node)].name);
  if (!pod.devices.empty()) {
    append(out, ",\"gpus\":[");
    append_joined(out, pod.devices, [&](std::int32_t device) { append_number(out, device); });
    out.push_back(']');
  }
  if (pod.started >= 0) add_number(out, "started", pod.started);
}

void append_pod(Buffer& out, const Instance& instance, const InstancePod& pod) {
  append(out, "{\"name\":");
  append_quoted(out, pod.name);
  fmt::format_to(std::back_inserter(out), FMT_COMPILE(",\"template\":\"t{}\""), pod.shape);
  if (pod.gang >= 0) {
    const InstanceGang& gang = instance.gangs[static_cast<std::size_t>(pod.gang)];
    add_text(out, "gang", gang.name);
    if (pod.subgroup >= 0) add_text(out, "subgroup", gang.subgroups[static_cast<std::size_t>(pod.subgroup)].name);
  } else {
    append_terms(out, instance, pod.terms);
  }
  if (instance.shapes[static_cast<std::size_t>(pod.shape)].one_a_node) {
    append(out, ",\"podAntiAffinity\":{\"topologyKey\":");
    append_quoted(out, kHostnameLabel);
    append(out, ",\"matchGang\":true}");
  }
  append_place(out, instance, pod);
  out.push_back('}');
}

void append_head(Buffer& out, const Instance& instance) {
  append(out, "{\"format\":\"muster/v1\",\"id\":");
  append_quoted(out, instance.id);
  if (instance.time >= 0) add_number(out, "time", instance.time);
  if (instance.place_only) append(out, R"(,"policy":{"actions":["place"]})");
  if (!instance.topology.empty()) {
    append(out, ",\"topology\":[");
    append_joined(out, instance.topology, [&](const std::string& level) { append_quoted(out, level); });
    out.push_back(']');
  }
}

void append_priority_class(Buffer& out, const InstancePriorityClass& priority_class) {
  append(out, "{\"name\":");
  append_quoted(out, priority_class.name);
  add_number(out, "value", priority_class.value);
  out.push_back('}');
}

// `,"key":[...]`, left out if the list is empty.
template <class Items, class Write>
void add_list(Buffer& out, std::string_view key, const Items& items, const Write& write) {
  if (items.empty()) return;
  append(out, ",\"");
  append(out, key);
  append(out, "\":[");
  append_joined(out, items, write);
  out.push_back(']');
}

void append_templates(Buffer& out, const Instance& instance) {
  if (instance.shapes.empty()) return;
  append(out, ",\"podTemplates\":{");
  std::size_t position = 0;
  append_joined(out, instance.shapes, [&](const PodShape& shape) { append_template(out, position++, shape); });
  out.push_back('}');
}

}  // namespace

std::int64_t gpu_thousandths(const GpuRequest& request, std::int64_t device_memory_mib) {
  switch (request.kind) {
    case GpuRequestKind::kNone:
      return 0;
    case GpuRequestKind::kWhole:
      return request.devices * std::int64_t{1000};
    case GpuRequestKind::kFraction:
      return (request.share * request.devices + 500) / 1000;
    case GpuRequestKind::kMemory:
      break;
  }
  MUSTER_REQUIRE(device_memory_mib > 0);
  return (2000 * request.share * request.devices + device_memory_mib) / (2 * device_memory_mib);
}

std::string write_instance(const Instance& instance) {
  Buffer out;
  append_head(out, instance);
  add_list(out, "nodes", instance.nodes, [&](const InstanceNode& node) { append_node(out, node); });
  add_list(out, "queues", instance.queues, [&](const InstanceQueue& queue) { append_queue(out, queue); });
  add_list(out, "priorityClasses", instance.priority_classes,
           [&](const InstancePriorityClass& priority_class) { append_priority_class(out, priority_class); });
  append_templates(out, instance);
  add_list(out, "gangs", instance.gangs, [&](const InstanceGang& gang) { append_gang(out, instance, gang); });
  add_list(out, "pods", instance.pods, [&](const InstancePod& pod) { append_pod(out, instance, pod); });
  out.push_back('}');
  return {out.data(), out.size()};
}

}  // namespace muster
