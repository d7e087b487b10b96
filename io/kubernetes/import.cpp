#include "io/kubernetes/import.h"

#include <algorithm>
#include <utility>

#include "io/kubernetes/import/cluster.h"
#include "io/kubernetes/import/finished_gangs.h"
#include "io/kubernetes/import/snapshot_pods.h"
#include "io/kubernetes/import/unreadable_kinds.h"
#include "io/kubernetes/import/workload.h"
#include "io/kubernetes/object/instants.h"
#include "io/kubernetes/object/slim.h"
#include "io/muster_v1/snapshot_input.h"
#include "io/snapshot_writer/write_snapshot.h"
#include "model/base/require.h"
#include "model/build/repair_snapshot.h"

namespace muster::kubernetes {

namespace {

class Importer {
 public:
  explicit Importer(const KubernetesOptions& options)
      : options_(options), unreadable_(options.unreadable), out_(false, snapshot_) {
    configure(options, in_);
    if (!options.unreadable.empty()) in_.unreadable = &unreadable_;
    snapshot_.anomalies.strict = options.strict;
    out_.nulls_are_absent = true;
  }

  Result<Snapshot> run(json::JsonValue root) { return finish(collect_items(in_, root, items_)); }
  Result<Snapshot> run(const KeptObjects& objects) { return finish(collect_kept(in_, objects, items_)); }

 private:
  Result<Snapshot> finish(bool is_collected) {
    if (!is_collected || !read()) return std::move(out_.error.code == ErrorCode::kNone ? in_.error : out_.error);
    tell();
    return std::move(snapshot_);
  }

  bool read() {
    in_.has_namespaces = !items_.of(KubernetesKind::kNamespace).empty();
    snapshot_.time = import_time(options_.time, options_.not_before, items_.latest);
    ObjectVisitor visitor(in_, items_, out_);
    ImportedCluster cluster;
    if (!cluster.read(visitor)) return false;
    ImportedWorkload workload(cluster, snapshot_.time);
    workload.set_default_grace_period(options_.grace_period);
    if (options_.awaits_groups) workload.await_groups();
    workload.expand_only(options_.expand_only);
    if (options_.expand) remark_on_unknown_makers();
    using Templates = ImportedWorkload::Templates;
    const Templates unexpanded = options_.remark_on_templates ? Templates::kIgnore : Templates::kPassOver;
    return workload.read(visitor, options_.expand ? Templates::kExpand : unexpanded) && workload.settle(visitor) &&
           read_policy(durations_of_finished(workload.pods(), snapshot_.time, in_.remarks)) &&
           fill(visitor, cluster, workload);
  }

  // Objects of kinds that are not read may make pods, unless they are of one of these groups.
  void remark_on_unknown_makers() {
    constexpr std::string_view kWithoutPods =
        "  admissionregistration.k8s.io apiextensions.k8s.io autoscaling cert-manager.io certificates.k8s.io "
        "coordination.k8s.io discovery.k8s.io events.k8s.io flowcontrol.apiserver.k8s.io gateway.networking.k8s.io "
        "kai.scheduler karpenter.sh kueue.x-k8s.io monitoring.coreos.com networking.k8s.io node.k8s.io policy "
        "rbac.authorization.k8s.io resource.k8s.io scheduling.k8s.io scheduling.koordinator.sh scheduling.run.ai "
        "scheduling.sigs.k8s.io scheduling.volcano.sh scheduling.x-k8s.io storage.k8s.io topology.volcano.sh ";
    for (const KubernetesObject& object : items_.others) {
      const bool is_expanded = options_.expand_only.empty() ||
                               std::ranges::find(options_.expand_only, object.title()) != options_.expand_only.end();
      if (!is_expanded || kWithoutPods.find(" " + std::string(object.group) + " ") != std::string_view::npos) continue;
      in_.remarks.add(std::string(object.kind) + " cannot be expanded: Muster does not know which pods it makes",
                      object);
    }
  }

  // The sections in which all objects have a say. Names of queues are settled when all that name one are known.
  bool fill(ObjectVisitor& visitor, ImportedCluster& cluster, const ImportedWorkload& workload) {
    cluster.add_topologies(snapshot_);
    return cluster.settle_nodes(visitor) && fill_pods(visitor, cluster.queues(), workload) &&
           workload.gangs().add_to(out_) && cluster.add_queues(out_) && fill_namespaces(visitor);
  }

  bool fill_pods(ObjectVisitor& visitor, KubernetesQueues& queues, const ImportedWorkload& workload) {
    SnapshotPods pods(in_, out_, workload.gangs(), queues);
    for (const KubernetesPod& pod : workload.pods()) {
      if (!pod.state.is_left_out && !pods.add(pod)) return visitor.fail("Pod " + pod.full_name());
    }
    return true;
  }

  bool read_policy(const std::vector<DurationHistory>& histories) {
    if (!options_.policy.empty()) {
      json::JsonDocument policy;
      if (auto error = policy.parse(options_.policy, {options_.policy.size(), json::JsonLimits().max_depth})) {
        in_.error = *std::move(error);
        return false;
      }
      if (!muster_v1::read_policy(out_, policy.root())) return false;
    }
    if (histories.empty()) return true;
    for (DurationHistory history : histories) {
      if (!snapshot_.policy.over_time.expected_durations) snapshot_.policy.over_time.expected_durations.emplace();
      history.queue = out_.keep(history.queue);
      snapshot_.policy.over_time.expected_durations->push_back(history);
    }
    return true;
  }

  // Unread keys and remarks come first, so that no number of odd objects displaces them.
  void tell() {
    Anomalies found = std::exchange(snapshot_.anomalies, {});
    Anomalies& all = snapshot_.anomalies;
    all.strict = found.strict;
    all.held_gangs = std::move(found.held_gangs);
    for (const UnreadKey& key : in_.unread.entries()) all.tell(key);
    for (std::string& remark : remarks()) all.remark(std::move(remark));
    for (std::vector<Warning>* warnings : {&found.warnings, &in_.warnings}) {
      for (Warning& warning : *warnings) all.tell(std::move(warning));
    }
    all.more += found.more;
  }

  std::vector<std::string> remarks() const {
    std::vector<std::string> all = options_.remarks;
    const std::vector<std::string> own = in_.remarks.sentences();
    all.insert(all.end(), own.begin(), own.end());
    if (in_.unread.omitted() > 0)
      all.push_back(std::to_string(in_.unread.omitted()) + " more keys of known systems are not known to Muster");
    return all;
  }

  // Their labels, which namespaceSelectors ask for.
  bool fill_namespaces(ObjectVisitor& visitor) {
    return visitor.each_added(KubernetesKind::kNamespace, snapshot_.definitions.namespaces,
                              [&](const auto& object, SnapshotNamespace& entry) {
                                json::JsonValue labels;
                                entry.name = out_.keep(object.name);
                                return in_.take(object.metadata, "labels", labels) &&
                                       (!labels || out_.read_labels(labels, entry.labels));
                              });
  }

  const KubernetesOptions& options_;
  const UnreadableKinds unreadable_;
  KubernetesReading in_;
  KubernetesItems items_;
  Snapshot snapshot_;
  muster_v1::SnapshotInput out_;
};

}  // namespace

Result<Snapshot> import_kubernetes(json::JsonValue root, const KubernetesOptions& options) {
  MUSTER_REQUIRE(holds_kubernetes_objects(root));
  return Importer(options).run(root);
}

Result<Snapshot> import_kept(const KeptObjects& objects, const KubernetesOptions& options) {
  MUSTER_REQUIRE(options.time.has_value());
  MUSTER_REQUIRE(std::ranges::all_of(objects, [&](const auto& object) { return object->is_read_as(options); }));
  return Importer(options).run(objects);
}

Result<Snapshot> import_kubernetes_text(const json::JsonText& text, const KubernetesOptions& options,
                                        json::JsonLimits limits) {
  SlimDocument document;
  if (auto error = document.parse(text, limits)) return *std::move(error);
  return import_kubernetes(document.root(), options);
}

std::string line_of(Snapshot snapshot) {
  std::string line;
  hold_gangs(snapshot);
  snapshot_writer::write_snapshot(snapshot, line, snapshot_writer::Notes::kWritten);
  return line;
}

}  // namespace muster::kubernetes
