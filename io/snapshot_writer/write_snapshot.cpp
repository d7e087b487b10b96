#include "io/snapshot_writer/write_snapshot.h"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "io/snapshot_writer/records.h"
#include "model/base/require.h"

namespace muster::snapshot_writer {

namespace {

constexpr std::int32_t kDefaultQueuePriority = 100;
constexpr Nanoseconds kDefaultGracePeriod = 60 * kNanosecondsPerSecond;
constexpr std::string_view kDefaultQueue = "default";
constexpr std::int64_t kMillion = 1'000'000;

bool is_one(double weight) { return !(weight < 1) && !(weight > 1); }

class SnapshotWriter {
 public:
  SnapshotWriter(const Snapshot& snapshot, std::string& out) : snapshot_(snapshot), writer_(out) {}

  void write(Notes notes) {
    writer_.raw(R"({"format":"muster/v1","id":)").string(snapshot_.id);
    if (snapshot_.time != 0) write_seconds(writer_, "time", snapshot_.time);
    write_policy(snapshot_.policy);
    write_topologies(writer_, snapshot_.definitions.topologies);
    write_section("nodes", snapshot_.nodes, [this](const SnapshotNode& node) { write_node(node); });
    write_section("namespaces", snapshot_.definitions.namespaces, [this](const SnapshotNamespace& one) {
      writer_.raw(R"({"name":)").string(one.name);
      write_labels(writer_, "labels", one.labels);
    });
    write_section("queues", snapshot_.queues, [this](const SnapshotQueue& queue) { write_queue(queue); });
    write_section("priorityClasses", snapshot_.definitions.priority_classes,
                  [this](const SnapshotPriorityClass& one) { write_priority_class(one); });
    write_templates();
    write_section("gangs", snapshot_.gangs, [this](const SnapshotGang& gang) { write_gang(gang); });
    write_section("pods", snapshot_.pods, [this](const SnapshotPod& pod) { write_pod(pod); });
    write_section("disruptionBudgets", snapshot_.disruption_budgets,
                  [this](const SnapshotDisruptionBudget& budget) { write_budget(budget); });
    if (notes == Notes::kWritten) write_notes(snapshot_.anomalies);
    writer_.raw("}");
  }

 private:
  // A list of objects; `write_one` begins each, and does not end it. Nothing if the list is empty.
  template <class Items, class Write>
  void write_section(std::string_view key, const Items& items, const Write& write_one) {
    if (items.empty()) return;
    bool first = true;
    writer_.raw(",\"").raw(key).raw("\":[");
    for (const auto& item : items) {
      writer_.separate(first);
      write_one(item);
      writer_.raw("}");
    }
    writer_.raw("]");
  }

  // The name of the template, without quotes.
  json::JsonWriter& write_template_name(std::size_t spec) {
    return writer_.raw("t").integer(static_cast<std::int64_t>(spec));
  }

  void write_flag(std::string_view key, bool value) { writer_.raw(",\"").raw(key).raw(value ? "\":true" : "\":false"); }

  // All members that are not their defaults, or nothing. The object is written with a comma before each member, and the
  // first comma is dropped.
  void write_policy(const Policy& policy) {
    MUSTER_REQUIRE(policy.protect.size() <= 1);
    std::string text;
    json::JsonWriter members(text);
    write_actions(members, policy.actions);
    if (policy.placement == PlacementPolicy::kSpread) write_text(members, "placement", "spread");
    if (!policy.whole_nodes) members.raw(R"(,"wholeNodes":false)");
    if (!policy.non_preemptible_within_quota) members.raw(R"(,"nonPreemptibleWithinQuota":false)");
    write_number(members, "maxMoves", policy.max_moves);
    for (const LabelSelector& selector : policy.protect) write_selector(members, "protect", selector);
    write_texts(members, "schedulers", policy.schedulers);
    if (policy.aging_interval != 0) write_seconds(members, "agingInterval", policy.aging_interval);
    if (policy.expected_workload) write_expected(members, *policy.expected_workload);
    write_over_time(members, policy.over_time);
    write_seconds(members, "budget", policy.budget);
    if (!text.empty()) writer_.raw(R"(,"policy":{)").raw(std::string_view(text).substr(1)).raw("}");
  }

  static void write_over_time(json::JsonWriter& members, const OverTime& over_time) {
    std::string text;
    json::JsonWriter own(text);
    if (over_time.order == SeniorityRule::kWaited) write_text(own, "order", "waited");
    if (over_time.reserve_after == kNever) {
      write_text(own, "reserveAfter", "never");
    } else if (over_time.reserve_after != OverTime{}.reserve_after) {
      write_seconds(own, "reserveAfter", over_time.reserve_after);
    }
    if (over_time.holds != OverTime{}.holds) write_number(own, "holds", over_time.holds);
    if (over_time.eviction_price) own.raw(R"(,"evictionPrice":)").number(*over_time.eviction_price);
    if (!is_one(over_time.usage_factor)) own.raw(R"(,"usageFactor":)").number(over_time.usage_factor);
    if (!text.empty()) members.raw(R"(,"overTime":{)").raw(std::string_view(text).substr(1)).raw("}");
    if (over_time.expected_durations) write_duration_histories(members, *over_time.expected_durations);
  }

  static void write_actions(json::JsonWriter& members, const Actions& actions) {
    if (actions == Actions{}) return;
    const std::pair<std::string_view, bool> names[] = {{"place", actions.place},
                                                       {"consolidate", actions.consolidate},
                                                       {"reclaim", actions.reclaim},
                                                       {"preempt", actions.preempt},
                                                       {"stale", actions.stale}};
    bool first = true;
    members.raw(R"(,"actions":[)");
    for (const auto& [name, is_on] : names) {
      if (is_on) members.separate(first).string(name);
    }
    members.raw("]");
  }

  void write_expected(json::JsonWriter& members, const std::vector<ExpectedPod>& pods) const {
    bool first = true;
    members.raw(R"(,"expectedWorkload":[)");
    for (const ExpectedPod& expected : pods) {
      members.separate(first).raw(R"({"pod":{"template":"t)").integer(expected.spec.value()).raw("\"");
      write_own_constraints(members, snapshot_.pod_specs[expected.spec]);
      members.raw("}");
      if (!is_one(expected.weight)) members.raw(R"(,"weight":)").number(expected.weight);
      members.raw("}");
    }
    members.raw("]");
  }

  void write_node(const SnapshotNode& node) {
    writer_.raw(R"({"name":)").string(node.name).raw(",");
    write_resources(writer_, snapshot_.resource_names, node.resources, kDefaultNodePods);
    write_devices(writer_, node);
    write_labels(writer_, "labels", node.labels);
    write_taints(node.taints);
    if (node.unschedulable) write_flag("unschedulable", true);
  }

  void write_taints(const std::vector<Taint>& taints) {
    write_section("taints", taints, [this](const Taint& taint) {
      writer_.raw(R"({"key":)").string(taint.key);
      write_text(writer_, "effect", taint_effect_name(taint.effect));
      write_text(writer_, "value", taint.value);
    });
  }

  void write_queue(const SnapshotQueue& queue) {
    writer_.raw(R"({"name":)").string(queue.name);
    write_text(writer_, "parent", queue.parent);
    if (queue.priority != kDefaultQueuePriority) write_number(writer_, "priority", queue.priority);
    write_queue_resource("gpu", queue.gpu, kMillion);
    if (is_set(queue.cpu)) write_queue_resource("cpu", queue.cpu, 1000);
    if (is_set(queue.memory)) write_queue_resource("memory", queue.memory, 1);
    write_other_resources(queue.other_resources);
    write_seconds(writer_, "preemptMinRuntime", queue.preempt_min_runtime);
    write_seconds(writer_, "reclaimMinRuntime", queue.reclaim_min_runtime);
    if (!queue.reclaimable) write_flag("reclaimable", false);
  }

  static bool is_set(const QueueResource& resource) {
    return resource.quota != kUnlimited || resource.limit != kUnlimited || !is_one(resource.weight) || resource.usage;
  }

  void write_queue_resource(std::string_view key, const QueueResource& resource, std::int64_t scale) {
    writer_.raw(",\"").raw(key).raw(R"(":{"weight":)").number(resource.weight);
    if (resource.quota != kUnlimited) writer_.raw(R"(,"quota":)").decimal(resource.quota, scale);
    if (resource.limit != kUnlimited) writer_.raw(R"(,"limit":)").decimal(resource.limit, scale);
    if (resource.usage) writer_.raw(R"(,"usage":)").decimal(static_cast<Amount>(*resource.usage), scale);
    writer_.raw("}");
  }

  void write_other_resources(const std::vector<OtherQueueResource>& resources) {
    if (resources.empty()) return;
    bool first = true;
    writer_.raw(R"(,"resources":{)");
    for (const OtherQueueResource& resource : resources) {
      std::string text;
      json::JsonWriter members(text);
      if (resource.quota != kUnlimited) write_number(members, "quota", resource.quota);
      if (resource.limit != kUnlimited) write_number(members, "limit", resource.limit);
      writer_.separate(first).string(snapshot_.resource_names[resource.resource]).raw(":{");
      if (!text.empty()) writer_.raw(std::string_view(text).substr(1));
      writer_.raw("}");
    }
    writer_.raw("}");
  }

  void write_priority_class(const SnapshotPriorityClass& one) {
    writer_.raw(R"({"name":)").string(one.name).raw(R"(,"value":)").integer(one.value);
    GangTerms terms;
    terms.preemptible = one.preemptible;
    terms.preemption_policy = one.preemption_policy;
    write_rank(writer_, terms);
  }

  void write_templates() {
    if (snapshot_.pod_specs.empty()) return;
    bool first = true;
    writer_.raw(R"(,"podTemplates":{)");
    for (const PodSpecIndex spec : snapshot_.pod_specs.indices()) {
      writer_.separate(first).raw("\"");
      write_template_name(spec.value()).raw("\":");
      write_template(writer_, snapshot_.resource_names, snapshot_.pod_specs[spec]);
    }
    writer_.raw("}");
  }

  // `created` is a gang's, or that of the pod which is one by itself.
  void write_terms(const GangTerms& terms, std::optional<Nanoseconds> created) {
    if (terms.queue != kDefaultQueue) write_text(writer_, "queue", terms.queue);
    write_rank(writer_, terms);
    write_seconds(writer_, "created", created);
    write_seconds(writer_, "timeout", terms.timeout);
    write_seconds(writer_, "expectedDuration", terms.expected_duration);
    write_seconds(writer_, "expectedEnd", terms.expected_end);
    write_seconds(writer_, "checkpointed", terms.checkpointed);
    if (!is_one(terms.weight)) writer_.raw(R"(,"weight":)").number(terms.weight);
  }

  void write_gang(const SnapshotGang& gang) {
    writer_.raw(R"({"name":)").string(gang.name);
    write_terms(gang.terms, gang.terms.created);
    write_minimum(writer_, gang.min_member, gang.min_subgroups);
    write_subgroups(writer_, gang.subgroups);
    if (gang.has_min_resources) write_min_resources(gang);
    write_topology_request(writer_, gang.topology);
    write_disruption(writer_, gang.disruption);
    if (gang.staleness_grace_period == kNever) {
      write_text(writer_, "stalenessGracePeriod", "never");
    } else if (gang.staleness_grace_period != kDefaultGracePeriod) {
      write_seconds(writer_, "stalenessGracePeriod", gang.staleness_grace_period);
    }
    write_seconds(writer_, "staleSince", gang.stale_since);
  }

  void write_min_resources(const SnapshotGang& gang) {
    bool first = true;
    writer_.raw(R"(,"minResources":{)");
    if (gang.min_resources_gpu != 0) writer_.separate(first).raw(R"("gpu":)").decimal(gang.min_resources_gpu, kMillion);
    for (const ResourceAmount& resource : gang.min_resources)
      write_resource(writer_.separate(first), snapshot_.resource_names, resource);
    writer_.raw("}");
  }

  void write_pod(const SnapshotPod& pod) {
    writer_.raw(R"({"name":)").string(pod.name).raw(R"(,"template":")");
    write_template_name(pod.spec.value()).raw("\"");
    write_text(writer_, "gang", pod.gang);
    write_text(writer_, "subgroup", pod.subgroup);
    const bool has_terms = pod.gang.empty() && pod.own_gang >= 0;
    write_terms(has_terms ? snapshot_.own_gang_terms[static_cast<std::size_t>(pod.own_gang)] : GangTerms{},
                pod.created);
    write_own_constraints(writer_, snapshot_.pod_specs[pod.spec]);
    write_pod_place(writer_, pod);
    write_seconds(writer_, "started", pod.started);
    write_text(writer_, "namespace", pod.namespace_name);
    write_text(writer_, "nominatedNode", pod.nominated_node);
    write_text(writer_, "schedulerName", pod.scheduler.name);
    write_text(writer_, "owner", pod.notes.owner);
    write_labels(writer_, "labels", pod.labels);
    if (pod.scheduler.binds_volumes) write_flag("unboundVolumes", true);
  }

  void write_budget(const SnapshotDisruptionBudget& budget) {
    writer_.raw(R"({"name":)").string(budget.name);
    write_text(writer_, "namespace", budget.namespace_name);
    if (budget.selector) write_selector(writer_, "selector", *budget.selector);
    write_number(writer_, "allowed", budget.allowed);
    if (budget.exclusive) write_flag("exclusive", true);
  }

  // What is inconsistent in the objects and was settled is a remark of the line, which has it settled.
  void write_notes(const Anomalies& anomalies) {
    std::vector<std::string> remarks;
    for (const Warning& warning : anomalies.warnings) {
      if (!is_unread(warning)) remarks.push_back(told(warning));
    }
    if (anomalies.more > 0) remarks.push_back(std::to_string(anomalies.more) + " more warnings");
    write_texts(writer_, "remarks", std::vector<std::string_view>(remarks.begin(), remarks.end()));
    write_unread(writer_, anomalies.unread);
  }

  static std::string told(const Warning& warning) {
    return is_remark(warning) ? warning.message : warning.object + " " + warning.name + ": " + warning.message;
  }

  const Snapshot& snapshot_;
  json::JsonWriter writer_;
};

}  // namespace

void write_snapshot(const Snapshot& snapshot, std::string& out, Notes notes) {
  SnapshotWriter(snapshot, out).write(notes);
}

}  // namespace muster::snapshot_writer
