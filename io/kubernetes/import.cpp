#include "io/kubernetes/import.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "io/kubernetes/import/cluster.h"
#include "io/kubernetes/import/finished_gangs.h"
#include "io/kubernetes/import/pod_writer.h"
#include "io/kubernetes/import/workload.h"
#include "io/kubernetes/object/instants.h"
#include "io/kubernetes/object/slim.h"
#include "io/snapshot_writer/records.h"
#include "model/base/large_pages.h"
#include "model/base/require.h"

namespace muster::kubernetes {

namespace {

class Importer {
 public:
  explicit Importer(const KubernetesOptions& options) : options_(options), visitor_(in_, items_) {
    configure(options, in_);
  }

  Result<ImportedSnapshot> run(json::JsonValue root) { return finish(collect_items(in_, root, items_)); }
  Result<ImportedSnapshot> run(const KeptObjects& objects) { return finish(collect_kept(in_, objects, items_)); }

 private:
  Result<ImportedSnapshot> finish(bool is_collected) {
    if (!is_collected || !read_and_write()) return std::move(in_.error);
    std::vector<std::string> all = remarks();
    for (const UnreadKey& key : in_.unread.entries()) all.push_back(remark_text(unread_warning(key)));
    return ImportedSnapshot{std::move(line_), std::move(all), std::move(in_.warnings)};
  }

  bool read_and_write() {
    in_.has_namespaces = !items_.of(KubernetesKind::kNamespace).empty();
    const ImportInstant now(options_.time, options_.not_before, items_.latest);
    ImportedCluster cluster;
    if (!cluster.read(visitor_)) return false;
    ImportedWorkload workload(cluster, now.value());
    workload.set_default_grace_period(options_.grace_period);
    if (options_.awaits_groups) workload.await_groups();
    workload.expand_only(options_.expand_only);
    if (options_.expand) remark_on_unknown_makers();
    using Templates = ImportedWorkload::Templates;
    const Templates unexpanded = options_.remark_on_templates ? Templates::kIgnore : Templates::kPassOver;
    return workload.read(visitor_, options_.expand ? Templates::kExpand : unexpanded) && workload.settle(visitor_) &&
           write(now, cluster, workload);
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

  bool write(const ImportInstant& now, ImportedCluster& cluster, const ImportedWorkload& workload) {
    json::JsonWriter writer(line_);
    line_.reserve(cluster.size() + workload.pods().size() * 1024 + workload.gangs().size() * 320 + 4096);
    ask_for_large_pages(line_);
    writer.raw(R"({"format":"muster/v1")");
    now.write(writer);
    write_policy(writer, durations_of_finished(workload.pods(), now.value(), in_.remarks));
    cluster.write_topology(writer);
    if (!cluster.write_nodes(in_, writer) || !write_pods(writer, cluster.queues(), workload)) return false;
    writer.raw(R"(,"gangs":[)");
    if (!workload.gangs().write(in_, writer)) return false;
    writer.raw("]");
    cluster.write_priority_classes(writer);
    cluster.write_queues(writer);
    cluster.write_budgets(writer);
    if (!write_namespaces(writer)) return false;
    write_remarks(writer);
    snapshot_writer::write_unread(writer, in_.unread.entries());
    writer.raw("}");
    return true;
  }

  void write_policy(json::JsonWriter& writer, const std::vector<DurationHistory>& histories) const {
    std::string members = options_.policy.empty() ? "" : options_.policy.substr(1, options_.policy.size() - 2);
    if (!histories.empty()) {
      json::JsonWriter more(members);
      snapshot_writer::write_duration_histories(more, histories);
    }
    if (members.starts_with(',')) members.erase(0, 1);
    if (!members.empty()) writer.raw(R"(,"policy":{)").raw(members).raw("}");
  }

  bool write_pods(json::JsonWriter& writer, KubernetesQueues& queues, const ImportedWorkload& workload) {
    bool first = true;
    PodTemplates templates;
    writer.raw(R"(,"pods":[)");
    for (const KubernetesPod& pod : workload.pods()) {
      if (pod.state.is_left_out) continue;
      const std::size_t before = line_.size();
      if (write_pod(in_, writer.separate(first), pod, workload.gangs(), queues, templates)) continue;
      if (in_.strict) return visitor_.fail("Pod " + pod.full_name());
      line_.resize(before + (line_[before] == ',' ? 1 : 0));
      write_unclear_pod(writer, pod, workload.gangs(), std::exchange(in_.error, {}).message);
    }
    writer.raw("]");
    templates.write(writer);
    return true;
  }

  std::vector<std::string> remarks() const {
    std::vector<std::string> all = options_.remarks;
    const std::vector<std::string> own = in_.remarks.sentences();
    all.insert(all.end(), own.begin(), own.end());
    if (in_.unread.omitted() > 0)
      all.push_back(std::to_string(in_.unread.omitted()) + " more keys of known systems are not known to Muster");
    return all;
  }

  void write_remarks(json::JsonWriter& writer) const {
    const std::vector<std::string> all = remarks();
    if (all.empty()) return;
    bool first = true;
    writer.raw(R"(,"remarks":[)");
    for (const std::string& remark : all) writer.separate(first).string(remark);
    writer.raw("]");
  }

  // Their labels, which namespaceSelectors ask for.
  bool write_namespaces(json::JsonWriter& writer) {
    if (!in_.has_namespaces) return true;
    bool first = true;
    writer.raw(R"(,"namespaces":[)");
    const bool written = visitor_.each(KubernetesKind::kNamespace, [&](const auto& object) {
      json::JsonValue labels;
      if (!in_.take(object.metadata, "labels", labels)) return false;
      writer.separate(first).raw(R"({"name":)").string(object.name);
      if (labels) {
        writer.raw(R"(,"labels":)");
        write_json(writer, in_.numbers, labels);
      }
      writer.raw("}");
      return true;
    });
    writer.raw("]");
    return written;
  }

  KubernetesReading in_;
  const KubernetesOptions& options_;
  KubernetesItems items_;
  ObjectVisitor visitor_;
  std::string line_;
};

}  // namespace

Result<ImportedSnapshot> import_kubernetes(json::JsonValue root, const KubernetesOptions& options) {
  MUSTER_REQUIRE(holds_kubernetes_objects(root));
  return Importer(options).run(root);
}

Result<ImportedSnapshot> import_kept(const KeptObjects& objects, const KubernetesOptions& options) {
  MUSTER_REQUIRE(options.time.has_value());
  MUSTER_REQUIRE(std::ranges::all_of(objects, [&](const auto& object) { return object->is_read_as(options); }));
  return Importer(options).run(objects);
}

Result<ImportedSnapshot> import_kubernetes_text(const json::JsonText& text, const KubernetesOptions& options,
                                                json::JsonLimits limits) {
  SlimDocument document;
  if (auto error = document.parse(text, limits)) return *std::move(error);
  return import_kubernetes(document.root(), options);
}

InputError name_imported(InputError error, std::string_view line) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kSections = {
      {{"nodes", "Node"},
       {"pods", "Pod"},
       {"gangs", "gang"},
       {"queues", "Queue"},
       {"priorityClasses", "PriorityClass"},
       {"disruptionBudgets", "PodDisruptionBudget"}}};
  const std::size_t bracket = error.path.find('[');
  if (bracket == std::string::npos || bracket < 2) return error;
  const std::string_view section(error.path.data() + 2, bracket - 2);
  std::size_t index = 0;
  std::from_chars(error.path.data() + bracket + 1, error.path.data() + error.path.size(), index);
  const auto known = std::ranges::find(kSections, section, &std::pair<std::string_view, std::string_view>::first);
  json::JsonDocument document;
  if (known == kSections.end() || document.parse(line, {line.size(), 64})) return error;
  for (const json::JsonMember member : document.root().members()) {
    if (member.key != section) continue;
    for (const json::JsonValue element : member.value.elements()) {
      if (index-- > 0) continue;
      const json::JsonValue name = (*element.members().begin()).value;
      error.message = std::string(known->second) + " " + std::string(name.string()) + ": " + error.message;
      return error;
    }
  }
  return error;
}

}  // namespace muster::kubernetes
