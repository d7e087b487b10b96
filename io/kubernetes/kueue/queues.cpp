#include "io/kubernetes/kueue/queues.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "model/base/require.h"

namespace muster::kubernetes {

namespace {

constexpr std::string_view kGpuName = "nvidia.com/gpu", kCpuName = "cpu", kMemoryName = "memory";

bool is_main(std::string_view resource) {
  return resource == kGpuName || resource == kCpuName || resource == kMemoryName;
}

bool read_stop(KubernetesReading& in, json::JsonValue value, bool& out) {
  std::string_view policy;
  if (!in.text(value, policy)) return false;
  out = !policy.empty() && policy != "None";
  return true;
}

// Whether the condition `Active` is False: the ClusterQueue misses something, and admits nothing.
bool read_inactive(KubernetesReading& in, json::JsonValue status, bool& out) {
  static constexpr std::array<std::string_view, 2> kKeys = {"status", "type"};
  json::JsonValue conditions;
  bool has_any = false;
  if (!in.take(status, "conditions", conditions) || !in.has_elements(conditions, has_any)) return false;
  if (!has_any) return true;
  for (const json::JsonValue condition : conditions.elements()) {
    std::array<json::JsonValue, 2> found;
    std::string_view is_true, type;
    if (!in.expect(condition, json::JsonKind::kObject) || !in.take(condition, kKeys, found) ||
        !in.text(found[0], is_true) || !in.text(found[1], type)) {
      return false;
    }
    out = out || (type == "Active" && is_true == "False");
  }
  return true;
}

bool read_policy(KubernetesReading& in, json::JsonValue preemption, KueueQueue& out) {
  static constexpr std::array<std::string_view, 2> kKeys = {"reclaimWithinCohort", "withinClusterQueue"};
  std::array<json::JsonValue, 2> found;
  KueuePolicy read;
  if (!in.take(preemption, kKeys, found) || !in.text(found[0], read.reclaim) || !in.text(found[1], read.within_queue))
    return false;
  if (preemption) out.policy = read;
  return true;
}

std::int64_t capped_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::int64_t>::max() : product;
}

}  // namespace

bool KueueQueues::add_local(KubernetesReading& in, const KubernetesObject& object) {
  MUSTER_REQUIRE(!is_settled_);
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

// Kueue writes the status only if fair sharing is on.
bool KueueQueues::read_weight(KubernetesReading& in, json::JsonValue spec, json::JsonValue status, KueueQueue& out) {
  json::JsonValue weight, shared;
  std::int64_t thousandths = 0;
  if (!in.take(spec, "weight", weight) || !in.take(status, "fairSharing", shared)) return false;
  shares_fairly_ = shares_fairly_ || spec || shared;
  if (!weight) return true;
  if (!in.read_amount(weight, {QuantityUnit::kThousandth, Rounding::kDown}, thousandths)) return false;
  out.weight = static_cast<double>(thousandths) / 1000;
  return true;
}

bool KueueQueues::add_cluster(KubernetesReading& in, const KubernetesObject& object) {
  MUSTER_REQUIRE(!is_settled_);
  static constexpr std::array<std::string_view, 7> kKeys = {
      "cohort", "cohortName", "fairSharing", "namespaceSelector", "preemption", "resourceGroups", "stopPolicy"};
  std::array<json::JsonValue, 7> found;
  KueueQueue queue;
  bool is_stopped = false, is_inactive = false;
  queue.is_known = true;
  if (!in.take(object.spec, kKeys, found) || !in.text(found[0], queue.parent) || !in.text(found[1], queue.parent) ||
      !read_weight(in, found[2], object.status, queue) || !read_policy(in, found[4], queue) ||
      !read_kueue_quotas(in, found[5], queue.quotas) || !read_stop(in, found[6], is_stopped) ||
      !read_inactive(in, object.status, is_inactive)) {
    return false;
  }
  if (found[3] && !in.expect(found[3], json::JsonKind::kObject)) return false;
  queue.namespaces = found[3];
  if (!found[3]) {
    in.remarks.add("a ClusterQueue without namespaceSelector counts as open to all: Kueue admits nothing in it",
                   object);
  }
  if (is_inactive) queue.held = "its ClusterQueue is not active";
  if (is_stopped) queue.held = "its queue is stopped";
  if (!queue.parent.empty()) cohorts_.try_emplace(queue.parent).first->second.is_cohort = true;
  queues_[object.name] = std::move(queue);
  return true;
}

bool KueueQueues::add_cohort(KubernetesReading& in, const KubernetesObject& object) {
  MUSTER_REQUIRE(!is_settled_);
  static constexpr std::array<std::string_view, 4> kKeys = {"fairSharing", "parent", "parentName", "resourceGroups"};
  std::array<json::JsonValue, 4> found;
  KueueQueue cohort;
  cohort.is_known = cohort.is_cohort = true;
  if (!in.take(object.spec, kKeys, found) || !read_weight(in, found[0], object.status, cohort) ||
      !in.text(found[1], cohort.parent) || !in.text(found[2], cohort.parent) ||
      !read_kueue_quotas(in, found[3], cohort.quotas)) {
    return false;
  }
  if (!cohort.parent.empty()) cohorts_.try_emplace(cohort.parent).first->second.is_cohort = true;
  cohorts_[object.name] = std::move(cohort);
  return true;
}

void KueueQueues::settle_trees(KubernetesRemarks& remarks) {
  is_settled_ = true;
  for (Queues* queues : {&cohorts_, &queues_}) {
    for (auto& [name, queue] : *queues) queue.node = tree_.add(queue.quotas);
  }
  for (const Queues* queues : {&cohorts_, &queues_}) {
    for (const auto& [name, queue] : *queues) {
      if (!queue.parent.empty()) tree_.set_parent(queue.node, cohorts_.find(queue.parent)->second.node);
    }
  }
  tree_.settle();
  for (Queues* queues : {&cohorts_, &queues_}) {
    for (auto& [name, queue] : *queues) {
      if (!tree_.is_in_circle(queue.node)) continue;
      queue.parent = {};
      queue.held = "the cohorts of its ClusterQueue are a circle";
    }
  }
  for (const auto& [name, queue] : queues_) remark_on(queue, "ClusterQueue " + std::string(name), remarks);
}

void KueueQueues::remark_on(const KueueQueue& queue, const std::string& title, KubernetesRemarks& remarks) const {
  const auto& quotas = queue.quotas.by_flavor;
  const bool has_several = std::ranges::any_of(quotas, [&](const auto& entry) {
    return entry.second.nominal > 0 && queue.quotas.flavors_of(entry.first.second) > 1;
  });
  const bool has_slices =
      std::ranges::any_of(quotas, [](const auto& entry) { return mig_thousandths(entry.first.second) > 0; });
  if (has_several) {
    remarks.add(
        "the quotas of several ResourceFlavors of a ClusterQueue are added up, and flavorFungibility is ignored: gangs "
        "may start on more of one flavor than its quota, or on several flavors at once",
        title);
  }
  if (tree_.shares_limited_loan(queue.node))
    remarks.add("lendingLimit bounds each ClusterQueue that borrows, but not all of them together", title);
  if (!queue.policy) {
    remarks.add(
        "a ClusterQueue has no spec.preemption, which an API server always writes: Muster may evict for its gangs, "
        "Kueue by default may not",
        title);
  }
  if (has_slices && queue.quotas.covers(kGpuName)) {
    remarks.add("quotas of whole GPUs and of MIG slices are added up: one may start within the quota of the other",
                title);
  }
}

std::string_view KueueQueues::cluster_queue(std::string_view namespace_name, std::string_view queue) const {
  const auto local = locals_.find({namespace_name, queue});
  return local == locals_.end() ? queue : local->second.cluster_queue;
}

std::string_view KueueQueues::local_queue_to(std::string_view namespace_name, std::string_view name) const {
  for (auto local = locals_.lower_bound({namespace_name, {}});
       local != locals_.end() && local->first.first == namespace_name; ++local) {
    if (local->second.cluster_queue == name) return local->first.second;
  }
  return {};
}

void KueueQueues::use(std::string_view namespace_name, std::string_view queue, const RequestedAmounts& requests) {
  MUSTER_REQUIRE(is_settled_);
  KueueQueue& used = queues_.try_emplace(cluster_queue(namespace_name, queue)).first->second;
  for (const RequestedAmount& requested : requests) used.asked.insert(requested.resource);
}

std::string_view KueueQueues::name_of(std::string_view namespace_name, std::string_view queue) const {
  const auto found = queues_.find(cluster_queue(namespace_name, queue));
  MUSTER_REQUIRE(found != queues_.end() && !found->second.name.empty());
  return found->second.name;
}

const KueueQueue* KueueQueues::find(std::string_view namespace_name, std::string_view queue) const {
  const auto found = queues_.find(cluster_queue(namespace_name, queue));
  return found == queues_.end() || !found->second.is_known ? nullptr : &found->second;
}

std::string_view KueueQueues::held(std::string_view namespace_name, std::string_view queue) const {
  const auto local = locals_.find({namespace_name, queue});
  if (local != locals_.end() && local->second.is_stopped) return "its queue is stopped";
  const KueueQueue* cluster = find(namespace_name, queue);
  return cluster == nullptr ? std::string_view() : cluster->held;
}

// Without fair sharing Kueue gives nothing above the quota a right to room that others use. A weight stands for what
// has no quota to be right by: of a ClusterQueue that only borrows the resource, and below a cohort with its own quota.
double KueueQueues::weight_of(const KueueQueue& queue, std::string_view resource) const {
  if (queue.weight || shares_fairly_ || queue.is_cohort) return queue.weight.value_or(1);
  if (!queue.policy) return 1;
  const auto cohort = cohorts_.find(queue.parent);
  const bool has_inner_pool =
      cohort != cohorts_.end() && !cohort->second.parent.empty() && cohort->second.quotas.nominal(resource) > 0;
  return has_inner_pool || (resource != kGpuName && queue.quotas.nominal(resource) == 0) ? 1 : 0;
}

// MIG slices count as parts of a GPU (docs/semantics.md).
QueueResource KueueQueues::gpus_of(const KueueQueue& queue) const {
  constexpr std::int64_t kThousand = 1000;
  const KueueQuotaTree::Bounds gpus = tree_.bounds(queue.node, kGpuName);
  std::int64_t quota = capped_product(gpus.quota, kThousand);  // in thousandths, as the limit is
  std::int64_t limit = gpus.limit ? capped_product(*gpus.limit, kThousand) : kUnlimited;
  for (const std::string_view resource : tree_.resources(queue.node)) {
    const std::int64_t thousandths = mig_thousandths(resource);
    if (thousandths == 0) continue;
    const KueueQuotaTree::Bounds slices = tree_.bounds(queue.node, resource);
    quota = capped_sum(quota, capped_product(slices.quota, thousandths));
    const bool is_limited = limit != kUnlimited && slices.limit;
    limit = is_limited ? capped_sum(limit, capped_product(*slices.limit, thousandths)) : kUnlimited;
  }
  if (limit != kUnlimited) limit = capped_product(limit, kThousand);
  return {capped_product(quota, kThousand), limit, weight_of(queue, kGpuName), std::nullopt};
}

QueueResource KueueQueues::resource_of(const KueueQueue& queue, std::string_view resource) const {
  const KueueQuotaTree::Bounds bounds = tree_.bounds(queue.node, resource);
  return {bounds.quota, bounds.limit.value_or(kUnlimited), weight_of(queue, resource), std::nullopt};
}

// Resources that have a limit only. What its pods ask for and no group covers is never admitted.
bool KueueQueues::add_others(const KueueQueue& queue, muster_v1::SnapshotInput& out, SnapshotQueue& entry) const {
  std::set<std::string_view> resources = tree_.resources(queue.node);
  if (!queue.is_cohort) resources.insert(queue.asked.begin(), queue.asked.end());
  std::erase_if(resources, is_main);
  for (const std::string_view resource : resources) {
    const KueueQuotaTree::Bounds bounds = tree_.bounds(queue.node, resource);
    OtherQueueResource other;
    if (bounds.limit) other.limit = *bounds.limit;
    if (tree_.parent(queue.node) && bounds.quota > 0) other.quota = bounds.quota;
    if (!out.find_resource(resource, {}, other.resource)) return false;
    entry.other_resources.push_back(other);
  }
  std::ranges::sort(entry.other_resources, {}, &OtherQueueResource::resource);
  return true;
}

bool KueueQueues::add_to(muster_v1::SnapshotInput& out) const {
  for (const Queues* queues : {&cohorts_, &queues_}) {
    for (const auto& [key, queue] : *queues) {
      SnapshotQueue& entry = out.snapshot.queues.emplace_back();
      entry.name = out.keep(queue.name);
      if (!queue.parent.empty()) entry.parent = out.keep(cohorts_.find(queue.parent)->second.name);
      if (!queue.is_known && !queue.is_cohort) continue;
      entry.gpu = gpus_of(queue);
      entry.cpu = resource_of(queue, kCpuName);
      entry.memory = resource_of(queue, kMemoryName);
      if (add_others(queue, out, entry)) continue;
      Anomalies& anomalies = out.snapshot.anomalies;
      if (anomalies.strict) return false;
      const InputError error = std::exchange(out.error, {});
      anomalies.tell({error.code, "queue", queue.name, error.message + "; it is ignored, and its gangs wait"});
      out.snapshot.queues.pop_back();
    }
  }
  return true;
}

}  // namespace muster::kubernetes
