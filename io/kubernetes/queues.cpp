#include "io/kubernetes/queues.h"

#include <algorithm>

namespace muster::kubernetes {

namespace {

// How a number of a KAI queue becomes an amount: devices, thousandths of a core, 10^6 bytes.
struct KaiResource {
  std::string_view key;
  std::int32_t power_of_ten;  // of its number's unit in devices, cores, bytes
  QuantityUnit unit;          // in which it is written
  std::int64_t scale;
};
constexpr std::array<KaiResource, 3> kKaiResources = {{{"cpu", -3, QuantityUnit::kThousandth, 1000},
                                                       {"gpu", 0, QuantityUnit::kMillionth, 1'000'000},
                                                       {"memory", 6, QuantityUnit::kOne, 1}}};

// -1 is unlimited; absent is 0.
bool write_kai_amount(KubernetesReading& in, json::JsonWriter& writer, const KaiResource& resource,
                      json::JsonValue value) {
  if (!value) {
    writer.raw("0");
    return true;
  }
  Quantity quantity;
  if (!in.read_quantity(value, quantity)) return false;
  if (quantity.negative) {
    quantity.negative = false;
    const auto magnitude = count_units(quantity, QuantityUnit::kOne, Rounding::kRefuse);
    if (!magnitude || *magnitude != 1) return in.fail_value(value, "must be at least 0, or -1 for no limit");
    writer.raw(R"("unlimited")");
    return true;
  }
  quantity.power_of_ten += resource.power_of_ten;
  const auto units = count_units(quantity, resource.unit, Rounding::kDown);
  if (!units) return in.fail_value(value, units.error().message);
  writer.decimal(*units, resource.scale);
  return true;
}

// The weight and the end of a queue's resource.
bool write_weight(KubernetesReading& in, json::JsonWriter& writer, json::JsonValue value, std::string_view absent) {
  double weight = 0;
  if (value && !in.read_weight(value, json::Reading::Zero::kAllowed, weight)) return false;
  writer.raw(R"(,"weight":)");
  value ? write_json(writer, in.document, value) : static_cast<void>(writer.raw(absent));
  writer.raw("}");
  return true;
}

bool write_kai_resource(KubernetesReading& in, json::JsonWriter& writer, const KaiResource& resource,
                        json::JsonValue value) {
  static constexpr std::array<std::string_view, 3> kKeys = {"limit", "overQuotaWeight", "quota"};
  std::array<json::JsonValue, 3> found;
  if (!in.take(value, kKeys, found)) return false;
  writer.raw(",").string(resource.key).raw(R"(:{"quota":)");
  if (!write_kai_amount(in, writer, resource, found[2])) return false;
  writer.raw(R"(,"limit":)");
  if (!write_kai_amount(in, writer, resource, found[0])) return false;
  return write_weight(in, writer, found[1], "0");
}

bool write_duration(KubernetesReading& in, json::JsonWriter& writer, std::string_view key, json::JsonValue value) {
  if (!value) return true;
  Nanoseconds duration = 0;
  if (!in.read_duration(value, duration)) return false;
  writer.raw(",").string(key).raw(":");
  write_json(writer, in.document, value);
  return true;
}

bool write_head(KubernetesReading& in, json::JsonWriter& writer, const KubernetesObject& object,
                std::string_view parent, json::JsonValue priority) {
  std::optional<std::int32_t> value;
  if (!in.priority(priority, value)) return false;
  writer.raw(R"({"name":)").string(object.name);
  if (!parent.empty()) writer.raw(R"(,"parent":)").string(parent);
  if (value) writer.raw(R"(,"priority":)").integer(*value);
  return true;
}

struct VolcanoResource {
  std::string_view resource, key;
};
constexpr std::array<VolcanoResource, 3> kVolcanoResources = {
    {{"cpu", "cpu"}, {"memory", "memory"}, {"nvidia.com/gpu", "gpu"}}};

bool write_volcano_resource(KubernetesReading& in, json::JsonWriter& writer, const VolcanoResource& resource,
                            std::array<json::JsonValue, 2> quota_and_limit, json::JsonValue weight) {
  std::array<json::JsonValue, 2> amounts;
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    if (!in.take(quota_and_limit[i], resource.resource, amounts[i])) return false;
    if (amounts[i] && !in.expect_text_or_number(amounts[i], "a quantity")) return false;
  }
  writer.raw(",").string(resource.key).raw(R"(:{"quota":)");
  amounts[0] ? write_json(writer, in.document, amounts[0]) : static_cast<void>(writer.raw("0"));
  if (amounts[1]) {
    writer.raw(R"(,"limit":)");
    write_json(writer, in.document, amounts[1]);
  }
  return write_weight(in, writer, weight, "1");
}

bool is_empty(json::JsonValue object) { return !object || (object.is(json::JsonKind::kObject) && object.size() == 0); }

}  // namespace

bool KubernetesQueues::add(KubernetesReading& in, const KubernetesObject& object, System system,
                           std::string_view parent) {
  const auto [known, is_new] = systems_.emplace(object.name, system);
  if (!is_new && known->second != system) {
    return in.fail(object.value, ErrorCode::kDuplicateName,
                   "duplicate queue name: KAI and Volcano both have a queue of this name");
  }
  if (!parent.empty()) parents_.emplace_back(object.name, parent);
  return true;
}

bool KubernetesQueues::import_kai(KubernetesReading& in, const KubernetesObject& object, json::JsonWriter& writer) {
  static constexpr std::array<std::string_view, 5> kSpec = {"parentQueue", "preemptMinRuntime", "priority",
                                                            "reclaimMinRuntime", "resources"};
  std::array<json::JsonValue, 5> spec;
  std::string_view parent;
  if (!in.take(object.spec, kSpec, spec) || !in.text(spec[0], parent)) return false;
  if (!add(in, object, System::kKai, parent) || !write_head(in, writer, object, parent, spec[2])) return false;
  for (const KaiResource& resource : kKaiResources) {
    json::JsonValue amounts;
    if (!in.take(spec[4], resource.key, amounts)) return false;
    if (!write_kai_resource(in, writer, resource, amounts)) return false;
  }
  if (!write_duration(in, writer, "preemptMinRuntime", spec[1])) return false;
  if (!write_duration(in, writer, "reclaimMinRuntime", spec[3])) return false;
  writer.raw("}");
  return true;
}

bool KubernetesQueues::import_volcano(KubernetesReading& in, const KubernetesObject& object, json::JsonWriter& writer) {
  static constexpr std::array<std::string_view, 6> kSpec = {"capability", "deserved", "guarantee",
                                                            "parent",     "priority", "weight"};
  std::array<json::JsonValue, 6> spec;
  json::JsonValue state, guaranteed;
  std::string_view parent, state_name;
  if (!in.take(object.spec, kSpec, spec) || !in.text(spec[3], parent) || !in.take(spec[2], "resource", guaranteed) ||
      !in.take(object.status, "state", state) || !in.text(state, state_name)) {
    return false;
  }
  if (parent == "root") parent = {};
  if (!add(in, object, System::kVolcano, parent)) return false;
  if (!state_name.empty() && state_name != "Open") closed_.insert(object.name);
  const json::JsonValue deserved = is_empty(spec[1]) ? guaranteed : spec[1];
  if (!write_head(in, writer, object, parent, spec[4])) return false;
  for (const VolcanoResource& resource : kVolcanoResources) {
    if (!write_volcano_resource(in, writer, resource, {deserved, spec[0]}, spec[5])) return false;
  }
  writer.raw("}");
  return true;
}

void KubernetesQueues::heed(const KubernetesObject& queue) {
  const known::Effect& effect = queue.hold.always;
  if (!effect.why.empty() || effect.protects) holds_.try_emplace(queue.full_name(), effect);
}

known::Effect KubernetesQueues::hold_of(std::string_view queue) const {
  known::Effect all;
  if (holds_.empty()) return all;
  queue = queue.substr(0, queue.find('@'));
  for (int step = 0; step < 8 && !queue.empty(); ++step) {  // queues in a circle end, too
    if (const auto found = holds_.find(queue); found != holds_.end()) all.add(found->second);
    const auto above = std::ranges::find(parents_, queue, &std::pair<std::string_view, std::string_view>::first);
    queue = above == parents_.end() ? std::string_view() : above->second;
  }
  return all;
}

known::Effect KubernetesQueues::hold_of_local(std::string_view namespace_name, std::string_view queue) const {
  if (holds_.empty() || queue.empty()) return {};
  known::Effect all = hold_of(kueue_.cluster_queue(namespace_name, queue));
  const auto local = holds_.find(std::string(namespace_name).append("/").append(queue));
  if (local != holds_.end()) all.add(local->second);
  return all;
}

bool KubernetesQueues::is_of_kai(std::string_view queue) const {
  const auto found = systems_.find(queue);
  return found != systems_.end() && found->second == System::kKai;
}

std::string_view KubernetesQueues::without_parent() const {
  for (const auto& [name, parent] : parents_) {
    if (!systems_.contains(parent)) return name;
  }
  return {};
}

const std::string& KubernetesQueues::common_queue() {
  if (!common_.empty()) return common_;
  const auto is_taken = [this](const std::string& name) { return systems_.contains(name) || kueue_.has(name); };
  common_ = is_taken("default") ? "kubernetes" : "default";
  while (is_taken(common_)) common_ += "@kubernetes";
  return common_;
}

}  // namespace muster::kubernetes
