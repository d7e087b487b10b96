#include "io/kubernetes/kueue.h"

#include <algorithm>
#include <limits>

#include "model/base/require.h"

namespace muster::kubernetes {

namespace {

struct KueueResource {
  std::string_view resource, key;
  QuantityUnit unit;
  std::int64_t scale;
};
constexpr std::array<KueueResource, 3> kResources = {{{"nvidia.com/gpu", "gpu", QuantityUnit::kOne, 1},
                                                      {"cpu", "cpu", QuantityUnit::kThousandth, 1000},
                                                      {"memory", "memory", QuantityUnit::kOne, 1}}};

std::int64_t capped_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

bool read_stop(KubernetesReading& in, json::JsonValue value, bool& out) {
  std::string_view policy;
  if (!in.text(value, policy)) return false;
  out = !policy.empty() && policy != "None";
  return true;
}

}  // namespace

bool KueueQueues::add_local(KubernetesReading& in, const KubernetesObject& object) {
  MUSTER_REQUIRE(!is_used_);
  static constexpr std::array<std::string_view, 2> kKeys = {"clusterQueue", "stopPolicy"};
  std::array<json::JsonValue, 2> found;
  Local local;
  if (!in.take(object.spec, kKeys, found) || !in.text(found[0], local.cluster_queue) ||
      !read_stop(in, found[1], local.is_stopped)) {
    return false;
  }
  if (local.cluster_queue.empty()) return in.fail_missing(object.spec ? object.spec : object.value, "clusterQueue");
  locals_[{object.namespace_name, object.name}] = local;
  return true;
}

// Total quota over all flavors. Without a cohort nothing is borrowed; without a borrowing limit, all that it lends.
bool KueueQueues::read_flavor(KubernetesReading& in, json::JsonValue flavor, Queue& out) const {
  static constexpr std::array<std::string_view, 4> kKeys = {"borrowingLimit", "lendingLimit", "name", "nominalQuota"};
  json::JsonValue resources;
  bool has_any = false;
  if (!in.expect(flavor, json::JsonKind::kObject) || !in.take(flavor, "resources", resources) ||
      !in.has_elements(resources, has_any)) {
    return false;
  }
  if (!has_any) return true;
  for (const json::JsonValue element : resources.elements()) {
    std::array<json::JsonValue, 4> found;
    std::string_view name;
    if (!in.expect(element, json::JsonKind::kObject) || !in.take(element, kKeys, found) || !in.text(found[2], name)) {
      return false;
    }
    const auto known = std::ranges::find(kResources, name, &KueueResource::resource);
    if (known == kResources.end()) continue;
    Amounts& amounts = out.amounts[static_cast<std::size_t>(known - kResources.begin())];
    std::int64_t nominal = 0, borrowed = 0;
    if (found[3] && !in.read_amount(found[3], {known->unit, Rounding::kDown}, nominal)) return false;
    if (found[0] && !in.read_amount(found[0], {known->unit, Rounding::kDown}, borrowed)) return false;
    amounts.nominal = capped_sum(amounts.nominal, nominal);
    if (!out.cohort.empty() && !found[0]) amounts.limit.reset();
    if (amounts.limit)
      amounts.limit = capped_sum(*amounts.limit, capped_sum(nominal, out.cohort.empty() ? 0 : borrowed));
  }
  return true;
}

bool KueueQueues::read_groups(KubernetesReading& in, json::JsonValue groups, Queue& out) const {
  bool has_groups = false;
  if (!in.has_elements(groups, has_groups)) return false;
  if (!has_groups) return true;
  for (const json::JsonValue group : groups.elements()) {
    json::JsonValue flavors;
    bool has_flavors = false;
    if (!in.expect(group, json::JsonKind::kObject) || !in.take(group, "flavors", flavors) ||
        !in.has_elements(flavors, has_flavors)) {
      return false;
    }
    if (!has_flavors) continue;
    for (const json::JsonValue flavor : flavors.elements()) {
      if (!read_flavor(in, flavor, out)) return false;
    }
  }
  return true;
}

bool KueueQueues::add_cluster(KubernetesReading& in, const KubernetesObject& object) {
  MUSTER_REQUIRE(!is_used_);
  static constexpr std::array<std::string_view, 5> kKeys = {"cohort", "cohortName", "fairSharing", "resourceGroups",
                                                            "stopPolicy"};
  std::array<json::JsonValue, 5> found;
  json::JsonValue weight;
  Queue queue;
  queue.is_known = true;
  if (!in.take(object.spec, kKeys, found) || !in.text(found[0], queue.cohort) || !in.text(found[1], queue.cohort) ||
      !in.take(found[2], "weight", weight) || !read_groups(in, found[3], queue) ||
      !read_stop(in, found[4], queue.is_stopped)) {
    return false;
  }
  std::int64_t thousandths = 1000;
  if (weight && !in.read_amount(weight, {QuantityUnit::kThousandth, Rounding::kDown}, thousandths)) return false;
  queue.weight = static_cast<double>(thousandths) / 1000;
  if (!queue.cohort.empty()) {
    Queue& cohort = cohorts_[queue.cohort];
    cohort.is_known = true;
    for (std::size_t i = 0; i < kResources.size(); ++i) {
      cohort.amounts[i].nominal = capped_sum(cohort.amounts[i].nominal, queue.amounts[i].nominal);
      cohort.amounts[i].limit = cohort.amounts[i].nominal;
    }
  }
  queues_[object.name] = queue;
  return true;
}

std::string_view KueueQueues::cluster_queue(std::string_view namespace_name, std::string_view queue) const {
  const auto local = locals_.find({namespace_name, queue});
  return local == locals_.end() ? queue : local->second.cluster_queue;
}

void KueueQueues::use(std::string_view namespace_name, std::string_view queue) {
  is_used_ = true;
  queues_.try_emplace(cluster_queue(namespace_name, queue));
}

std::string_view KueueQueues::name_of(std::string_view namespace_name, std::string_view queue) const {
  const auto found = queues_.find(cluster_queue(namespace_name, queue));
  MUSTER_REQUIRE(found != queues_.end() && !found->second.name.empty());
  return found->second.name;
}

bool KueueQueues::is_stopped(std::string_view namespace_name, std::string_view queue) const {
  const auto local = locals_.find({namespace_name, queue});
  if (local != locals_.end() && local->second.is_stopped) return true;
  const auto cluster = queues_.find(cluster_queue(namespace_name, queue));
  return cluster != queues_.end() && cluster->second.is_stopped;
}

void KueueQueues::write(json::JsonWriter& writer, bool& first) const {
  for (const auto* queues : {&cohorts_, &queues_}) {
    for (const auto& [key, queue] : *queues) {
      writer.separate(first).raw(R"({"name":)").string(queue.name);
      if (!queue.cohort.empty()) writer.raw(R"(,"parent":)").string(cohorts_.find(queue.cohort)->second.name);
      for (std::size_t i = 0; i < kResources.size() && queue.is_known; ++i) {
        const Amounts& amounts = queue.amounts[i];
        writer.raw(",").string(kResources[i].key).raw(R"(:{"quota":)").decimal(amounts.nominal, kResources[i].scale);
        if (amounts.limit) writer.raw(R"(,"limit":)").decimal(*amounts.limit, kResources[i].scale);
        writer.raw(R"(,"weight":)").number(queue.weight).raw("}");
      }
      writer.raw("}");
    }
  }
}

}  // namespace muster::kubernetes
