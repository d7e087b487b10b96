#include "io/kubernetes/import/queues.h"

#include <algorithm>
#include <set>

#include "io/kubernetes/grouping/groups.h"
#include "io/kubernetes/pod/node_cards.h"

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
  value ? write_json(writer, in.numbers, value) : static_cast<void>(writer.raw(absent));
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
  write_json(writer, in.numbers, value);
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

// What a queue says of its resources.
struct VolcanoAmounts {
  json::JsonValue quota, limit, weight;
};

bool is_zero(KubernetesReading& in, json::JsonValue amount) {
  Quantity quantity;
  if (!amount || !in.try_without_path([&] { return in.read_quantity(amount, quantity); })) return false;
  const auto units = count_units(quantity, QuantityUnit::kOne, Rounding::kUp);
  return units && *units == 0;
}

// `most`: less than the limit, or as much; none: the limit is all.
bool write_volcano_resource(KubernetesReading& in, json::JsonWriter& writer, const VolcanoResource& resource,
                            const VolcanoAmounts& all, std::optional<std::int64_t> most) {
  json::JsonValue quota, limit;
  if (!in.take(all.quota, resource.resource, quota) || !in.take(all.limit, resource.resource, limit)) return false;
  for (const json::JsonValue amount : {quota, limit}) {
    if (amount && !in.expect_text_or_number(amount, "a quantity")) return false;
  }
  if (resource.key != "gpu" && is_zero(in, limit)) limit = {};  // Volcano takes no cpu or memory for no bound
  writer.raw(",").string(resource.key).raw(R"(:{"quota":)");
  quota ? write_json(writer, in.numbers, quota) : static_cast<void>(writer.raw("0"));
  if (most) {
    writer.raw(R"(,"limit":)").decimal(*most, volcano_unit(resource.resource) == QuantityUnit::kOne ? 1 : 1000);
  } else if (limit) {
    writer.raw(R"(,"limit":)");
    write_json(writer, in.numbers, limit);
  }
  return write_weight(in, writer, all.weight, "1");
}

// Adds the names of the resources of an object that have no shares.
bool add_others(KubernetesReading& in, json::JsonValue amounts, std::set<std::string_view>& names) {
  if (!amounts) return true;
  if (!in.expect(amounts, json::JsonKind::kObject)) return false;
  for (const json::JsonMember member : amounts.members()) {
    if (std::ranges::find(kVolcanoResources, member.key, &VolcanoResource::resource) != kVolcanoResources.end())
      continue;
    if (!member.value.is(json::JsonKind::kNull)) names.insert(member.key);
  }
  return true;
}

// Of resources without shares: the limit holds, the quota is not counted.
bool write_volcano_others(KubernetesReading& in, json::JsonWriter& writer, const KubernetesObject& object,
                          const VolcanoAmounts& all, const VolcanoGuarantees& guarantees) {
  std::set<std::string_view> names = guarantees.resources();
  for (const VolcanoResource& resource : kVolcanoResources) names.erase(resource.resource);
  if (!add_others(in, all.quota, names) || !add_others(in, all.limit, names)) return false;
  bool first = true;
  for (const std::string_view name : names) {
    const json::JsonValue quota = member_of(all.quota, name), limit = member_of(all.limit, name);
    const std::optional<std::int64_t> most = guarantees.most(object.name, name);
    if (!quota && !limit && !most) continue;
    for (const json::JsonValue amount : {quota, limit}) {
      if (amount && !in.expect_text_or_number(amount, "a quantity")) return false;
    }
    if (const ShareDialect* dialect = dialect_of_resource(name); dialect != nullptr && !dialect->keeps_resources) {
      in.remarks.add("a bound of a Queue on " + std::string(name) + " is ignored: its pods may have more of it",
                     object);
      continue;
    }
    writer.raw(first ? R"(,"resources":{)" : ",").string(name).raw(":{");
    first = false;
    if (quota) write_json(writer.raw(R"("quota":)"), in.numbers, quota);
    if (most) {
      writer.raw(quota ? "," : "").raw(R"("limit":)").integer(*most);
    } else if (limit) {
      write_json(writer.raw(quota ? "," : "").raw(R"("limit":)"), in.numbers, limit);
    }
    writer.raw("}");
  }
  if (!first) writer.raw("}");
  return true;
}

constexpr std::string_view kNodeGroupLabel = "volcano.sh/nodegroup-name";

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

bool KubernetesQueues::import_kai(KubernetesReading& in, const KubernetesObject& object, KaiNodePools& pools,
                                  json::JsonWriter& writer) {
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
  json::JsonValue labels, label;
  std::string_view pool;
  if (!in.take(object.metadata, "labels", labels) || !in.take(labels, kKaiPoolLabel, label) || !in.text(label, pool))
    return false;
  pools.add_queue(object.name, pool);
  const bool has_default = parent.empty();  // queues below inherit it
  const json::JsonValue preempt = spec[1] || !has_default ? spec[1] : pools.preempt_min_runtime(pool);
  const json::JsonValue reclaim = spec[3] || !has_default ? spec[3] : pools.reclaim_min_runtime(pool);
  if (!write_duration(in, writer, "preemptMinRuntime", preempt)) return false;
  if (!write_duration(in, writer, "reclaimMinRuntime", reclaim)) return false;
  writer.raw("}");
  return true;
}

bool KubernetesQueues::import_volcano(KubernetesReading& in, const KubernetesObject& object,
                                      const VolcanoGuarantees& guarantees, json::JsonWriter& writer) {
  static constexpr std::array<std::string_view, 8> kSpec = {"affinity", "capability", "deserved",    "guarantee",
                                                            "parent",   "priority",   "reclaimable", "weight"};
  std::array<json::JsonValue, 8> spec;
  json::JsonValue state, guaranteed;
  std::string_view parent, state_name;
  bool is_reclaimable = true;
  if (!in.take(object.spec, kSpec, spec) || !in.text(spec[4], parent) || !in.take(spec[3], "resource", guaranteed) ||
      !in.take(object.status, "state", state) || !in.text(state, state_name) || !in.flag(spec[6], is_reclaimable) ||
      !read_node_groups(in, object, spec[0])) {
    return false;
  }
  if (parent == "root") parent = {};
  if (!add(in, object, System::kVolcano, parent)) return false;
  if (!state_name.empty() && state_name != "Open") held_[object.name] = "its queue is not open";
  const json::JsonValue deserved = is_empty(spec[2]) ? guaranteed : spec[2];
  if (!write_head(in, writer, object, parent, spec[5])) return false;
  for (const VolcanoResource& resource : kVolcanoResources) {
    const std::optional<std::int64_t> most = guarantees.most(object.name, resource.resource);
    if (!write_volcano_resource(in, writer, resource, {deserved, spec[1], spec[7]}, most)) return false;
  }
  if (!write_volcano_others(in, writer, object, {deserved, spec[1], spec[7]}, guarantees)) return false;
  if (!is_reclaimable) writer.raw(R"(,"reclaimable":false)");
  writer.raw("}");
  return true;
}

// Its pods go to nodes of the groups that it names, and to no other ones: as the plugin nodegroup has it, which prefers
// some of them.
bool KubernetesQueues::read_node_groups(KubernetesReading& in, const KubernetesObject& object,
                                        json::JsonValue affinity) {
  static constexpr std::array<std::string_view, 2> kStrengths = {"preferredDuringSchedulingIgnoredDuringExecution",
                                                                 "requiredDuringSchedulingIgnoredDuringExecution"};
  const auto read = [&](std::string_view key, std::array<std::set<std::string_view>, 2>& out) {
    json::JsonValue rule;
    std::array<json::JsonValue, 2> lists;
    if (!in.take(affinity, key, rule) || !in.take(rule, kStrengths, lists)) return false;
    for (std::size_t i = 0; i < lists.size(); ++i) {
      bool has_any = false;
      if (!in.has_elements(lists[i], has_any)) return false;
      if (!has_any) continue;
      for (const json::JsonValue element : lists[i].elements()) {
        std::string_view group;
        if (!in.text(element, group)) return false;
        out[i].insert(group);
      }
    }
    return true;
  };
  std::array<std::set<std::string_view>, 2> wanted, unwanted;  // preferred, required
  if (!read("nodeGroupAffinity", wanted) || !read("nodeGroupAntiAffinity", unwanted)) return false;
  if (wanted[0].empty() && wanted[1].empty() && unwanted[0].empty() && unwanted[1].empty()) return true;
  std::set<std::string_view> groups = wanted[0];
  groups.insert(wanted[1].begin(), wanted[1].end());
  for (const std::string_view group : unwanted[1]) groups.erase(group);
  groups.insert(unwanted[0].begin(), unwanted[0].end());
  if (groups.empty()) {
    held_[object.name] = "the affinity of its queue leaves no group of nodes";
  } else {
    node_groups_[object.name] = label_term(kNodeGroupLabel, {groups.begin(), groups.end()});
  }
  return true;
}

std::string_view KubernetesQueues::parent_of(std::string_view queue) const {
  const auto found = std::ranges::find(parents_, queue, &std::pair<std::string_view, std::string_view>::first);
  return found == parents_.end() ? std::string_view() : found->second;
}

// Where some queue has groups, the nodes of groups are for those queues that name them.
NodeTerm KubernetesQueues::nodes_of(std::string_view queue) const {
  const auto system = systems_.find(queue);
  if (node_groups_.empty() || system == systems_.end() || system->second != System::kVolcano) return {};
  for (int step = 0; step < 64 && !queue.empty(); ++step) {  // parents in a circle end, too
    if (const auto found = node_groups_.find(queue); found != node_groups_.end()) return found->second;
    queue = parent_of(queue);
  }
  return {{kNodeGroupLabel, "DoesNotExist", {}, false}};
}

bool KubernetesQueues::has_any_of_kai() const {
  return std::ranges::any_of(systems_, [](const auto& known) { return known.second == System::kKai; });
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
