#include "io/kubernetes/import/queues.h"

#include <algorithm>
#include <limits>
#include <set>

#include "io/kubernetes/grouping/groups.h"
#include "io/kubernetes/pod/node_cards.h"

namespace muster::kubernetes {

namespace {

using muster_v1::SnapshotInput;

// How a number of a KAI queue becomes an amount: devices, thousandths of a core, 10^6 bytes.
struct KaiResource {
  std::string_view key;
  QueueResource SnapshotQueue::*member;
  std::int32_t power_of_ten;  // of its number's unit in devices, cores, bytes
  QuantityUnit unit;          // of the amount
};
constexpr std::array<KaiResource, 3> kKaiResources = {{{"cpu", &SnapshotQueue::cpu, -3, QuantityUnit::kThousandth},
                                                       {"gpu", &SnapshotQueue::gpu, 0, QuantityUnit::kMillionth},
                                                       {"memory", &SnapshotQueue::memory, 6, QuantityUnit::kOne}}};

// -1 is unlimited; absent is 0.
bool read_kai_amount(KubernetesReading& in, const KaiResource& resource, json::JsonValue value, Amount& out) {
  out = 0;
  if (!value) return true;
  Quantity quantity;
  if (!in.read_quantity(value, quantity)) return false;
  if (quantity.negative) {
    quantity.negative = false;
    const auto magnitude = count_units(quantity, QuantityUnit::kOne, Rounding::kRefuse);
    if (!magnitude || *magnitude != 1) return in.fail_value(value, "must be at least 0, or -1 for no limit");
    out = kUnlimited;
    return true;
  }
  quantity.power_of_ten += resource.power_of_ten;
  const auto units = count_units(quantity, resource.unit, Rounding::kDown);
  if (!units) return in.fail_value(value, units.error().message);
  out = *units;
  return true;
}

bool read_weight(KubernetesReading& in, json::JsonValue value, double absent, double& out) {
  out = absent;
  return !value || in.read_weight(value, json::Reading::Zero::kAllowed, out);
}

bool read_kai_resource(KubernetesReading& in, const KaiResource& resource, json::JsonValue value, QueueResource& out) {
  static constexpr std::array<std::string_view, 3> kKeys = {"limit", "overQuotaWeight", "quota"};
  std::array<json::JsonValue, 3> found;
  return in.take(value, kKeys, found) && read_kai_amount(in, resource, found[2], out.quota) &&
         read_kai_amount(in, resource, found[0], out.limit) && read_weight(in, found[1], 0, out.weight);
}

bool read_duration(KubernetesReading& in, json::JsonValue value, std::optional<Nanoseconds>& out) {
  return !value || in.read_duration(value, out.emplace());
}

bool read_head(KubernetesReading& in, const KubernetesObject& object, std::string_view parent, json::JsonValue priority,
               SnapshotInput& out, SnapshotQueue& queue) {
  std::optional<std::int32_t> value;
  if (!in.priority(priority, value)) return false;
  queue.name = out.keep(object.name);
  queue.parent = out.keep(parent);
  if (value) queue.priority = *value;
  return true;
}

struct VolcanoResource {
  std::string_view resource;
  QueueResource SnapshotQueue::*member;
  QuantityUnit unit;  // of the amount
};
constexpr std::array<VolcanoResource, 3> kVolcanoResources = {
    {{"cpu", &SnapshotQueue::cpu, QuantityUnit::kThousandth},
     {"memory", &SnapshotQueue::memory, QuantityUnit::kOne},
     {"nvidia.com/gpu", &SnapshotQueue::gpu, QuantityUnit::kMillionth}}};

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

Amount in_millionths(std::int64_t devices) {
  constexpr std::int64_t kMillion = 1'000'000;
  return std::min(devices, std::numeric_limits<std::int64_t>::max() / kMillion) * kMillion;
}

// `most`: less than the limit, or as much; none: the limit is all.
bool read_volcano_resource(KubernetesReading& in, const VolcanoResource& resource, const VolcanoAmounts& all,
                           std::optional<std::int64_t> most, QueueResource& out) {
  json::JsonValue quota, limit;
  if (!in.take(all.quota, resource.resource, quota) || !in.take(all.limit, resource.resource, limit)) return false;
  const bool is_gpu = resource.unit == QuantityUnit::kMillionth;
  if (!is_gpu && is_zero(in, limit)) limit = {};  // Volcano takes no cpu or memory for no bound
  out.quota = 0;
  if (quota && !in.read_amount(quota, {resource.unit, Rounding::kDown}, out.quota)) return false;
  if (limit && !in.read_amount(limit, {resource.unit, Rounding::kDown}, out.limit)) return false;
  if (most) out.limit = is_gpu ? in_millionths(*most) : *most;
  return read_weight(in, all.weight, 1, out.weight);
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
bool read_volcano_others(KubernetesReading& in, const KubernetesObject& object, const VolcanoAmounts& all,
                         const VolcanoGuarantees& guarantees, SnapshotInput& out, SnapshotQueue& queue) {
  std::set<std::string_view> names = guarantees.resources();
  for (const VolcanoResource& resource : kVolcanoResources) names.erase(resource.resource);
  if (!add_others(in, all.quota, names) || !add_others(in, all.limit, names)) return false;
  for (const std::string_view name : names) {
    json::JsonValue quota, limit;
    const std::optional<std::int64_t> most = guarantees.most(object.name, name);
    if (!in.take(all.quota, name, quota) || !in.take(all.limit, name, limit)) return false;
    if (!quota && !limit && !most) continue;
    if (const ShareDialect* dialect = dialect_of_resource(name); dialect != nullptr && !dialect->keeps_resources) {
      in.remarks.add("a bound of a Queue on " + std::string(name) + " is ignored: its pods may have more of it",
                     object);
      continue;
    }
    OtherQueueResource other;
    if (quota && !in.read_amount(quota, {QuantityUnit::kOne, Rounding::kDown}, other.quota)) return false;
    if (limit && !in.read_amount(limit, {QuantityUnit::kOne, Rounding::kDown}, other.limit)) return false;
    if (most) other.limit = *most;
    if (!out.find_resource(name, object.value, other.resource)) return false;
    queue.other_resources.push_back(other);
  }
  std::ranges::sort(queue.other_resources, {}, &OtherQueueResource::resource);
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
                                  SnapshotInput& out, SnapshotQueue& queue) {
  static constexpr std::array<std::string_view, 5> kSpec = {"parentQueue", "preemptMinRuntime", "priority",
                                                            "reclaimMinRuntime", "resources"};
  std::array<json::JsonValue, 5> spec;
  std::string_view parent;
  if (!in.take(object.spec, kSpec, spec) || !in.text(spec[0], parent)) return false;
  if (!add(in, object, System::kKai, parent) || !read_head(in, object, parent, spec[2], out, queue)) return false;
  for (const KaiResource& resource : kKaiResources) {
    json::JsonValue amounts;
    if (!in.take(spec[4], resource.key, amounts)) return false;
    if (!read_kai_resource(in, resource, amounts, queue.*resource.member)) return false;
  }
  json::JsonValue labels, label;
  std::string_view pool;
  if (!in.take(object.metadata, "labels", labels) || !in.take(labels, kKaiPoolLabel, label) || !in.text(label, pool))
    return false;
  pools.add_queue(object.name, pool);
  const bool has_default = parent.empty();  // queues below inherit it
  const json::JsonValue preempt = spec[1] || !has_default ? spec[1] : pools.preempt_min_runtime(pool);
  const json::JsonValue reclaim = spec[3] || !has_default ? spec[3] : pools.reclaim_min_runtime(pool);
  return read_duration(in, preempt, queue.preempt_min_runtime) && read_duration(in, reclaim, queue.reclaim_min_runtime);
}

bool KubernetesQueues::import_volcano(KubernetesReading& in, const KubernetesObject& object,
                                      const VolcanoGuarantees& guarantees, SnapshotInput& out, SnapshotQueue& queue) {
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
  const VolcanoAmounts all{deserved, spec[1], spec[7]};
  if (!read_head(in, object, parent, spec[5], out, queue)) return false;
  for (const VolcanoResource& resource : kVolcanoResources) {
    const std::optional<std::int64_t> most = guarantees.most(object.name, resource.resource);
    if (!read_volcano_resource(in, resource, all, most, queue.*resource.member)) return false;
  }
  queue.reclaimable = is_reclaimable;
  return read_volcano_others(in, object, all, guarantees, out, queue);
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
