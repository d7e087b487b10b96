#include "io/kubernetes/import.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "io/kubernetes/disruption_budget.h"
#include "io/kubernetes/gangs.h"
#include "io/kubernetes/items.h"
#include "io/kubernetes/object/attachments.h"
#include "io/kubernetes/object/documents.h"
#include "io/kubernetes/object/slim.h"
#include "io/kubernetes/owners.h"
#include "io/kubernetes/pod/devices.h"
#include "io/kubernetes/pod/ports.h"
#include "io/kubernetes/pod/rare_ports.h"
#include "io/kubernetes/pod/volumes.h"
#include "io/kubernetes/pod_writer.h"
#include "model/base/require.h"

namespace muster {

namespace {

class Importer {
 public:
  Importer(JsonDocument& document, const KubernetesOptions& options)
      : in_(document), options_(options), gangs_(priorities_, queues_) {
    gangs_.set_default_grace_period(options.grace_period);
    in_.strict = options.strict;
  }

  bool run() {
    if (!collect_items(in_, in_.document.root(), items_)) return false;
    in_.has_namespaces = !items_.of(KubernetesKind::kNamespace).empty();
    return import_cluster() && read_groups() && read_owners() && read_storage() && read_pods() && expand() &&
           finish();
  }

  InputError& error() { return in_.error; }
  ImportedSnapshot take() { return {std::move(line_), in_.remarks.sentences(), std::move(in_.warnings)}; }

 private:
  // Calls `step` with each object of the kind. If it fails, the object is named, and left out unless the failure is an
  // error.
  template <class Step>
  bool each(KubernetesKind kind, Step step) {
    for (const KubernetesObject& object : items_.of(kind)) {
      if (!step(object) && !leave_out(object)) return false;
    }
    return true;
  }

  // The same if `step` writes the object to `text`; if it fails, nothing of that stays.
  template <class Step>
  bool each_written(KubernetesKind kind, std::string& text, Step step) {
    return each(kind, [&](const KubernetesObject& object) {
      const std::size_t before = text.size();
      bool first = text.empty();
      JsonWriter writer(text);
      if (step(object, writer.separate(first))) return true;
      text.resize(before);
      return false;
    });
  }

  bool leave_out(const KubernetesObject& object) {
    if (in_.strict) return fail(object.title());
    in_.warn(object, "it is ignored");
    return true;
  }

  bool fail(const std::string& title) {
    in_.error.message = title + ": " + in_.error.message;
    return false;
  }

  bool import_cluster() {
    nodes_text_.reserve(items_.of(KubernetesKind::kNode).size() * 1024);
    return each_written(KubernetesKind::kPriorityClass, classes_text_,
                        [&](const auto& object, auto& out) { return priorities_.import(in_, object, out); }) &&
           import_budgets() &&
           each(KubernetesKind::kCsiNode,
                [&](const auto& object) { return read_attach_limits(in_, object, in_.attach_limits); }) &&
           each(KubernetesKind::kTopology, [&](const auto& object) { return topologies_.import(in_, object); }) &&
           each_written(KubernetesKind::kKaiQueue, queues_text_,
                        [&](const auto& object, auto& out) { return queues_.import_kai(in_, object, out); }) &&
           each_written(KubernetesKind::kVolcanoQueue, queues_text_,
                        [&](const auto& object, auto& out) { return queues_.import_volcano(in_, object, out); }) &&
           each(KubernetesKind::kLocalQueue,
                [&](const auto& object) { return queues_.kueue().add_local(in_, object); }) &&
           each(KubernetesKind::kClusterQueue,
                [&](const auto& object) { return queues_.kueue().add_cluster(in_, object); }) &&
           check_parents() && import_nodes();
  }

  // A budget that cannot be read is included with its name and selector, and marked unclear.
  bool import_budgets() {
    return each(KubernetesKind::kDisruptionBudget, [&](const KubernetesObject& object) {
      const std::size_t before = budgets_text_.size();
      bool first = budgets_text_.empty();
      JsonWriter writer(budgets_text_);
      if (import_disruption_budget(in_, object, writer.separate(first))) return true;
      if (in_.strict) return false;
      budgets_text_.resize(before);
      first = budgets_text_.empty();
      write_unclear_budget(in_, object, std::exchange(in_.error, {}).message, writer.separate(first));
      return true;
    });
  }

  // A node that cannot be read is there by its name, and unclear.
  bool import_nodes() {
    return each(KubernetesKind::kNode, [&](const KubernetesObject& object) {
      const std::size_t before = nodes_text_.size();
      bool first = nodes_text_.empty();
      JsonWriter writer(nodes_text_);
      node_names_.insert(object.name);
      if (import_node(in_, object, writer.separate(first), nodes_.emplace_back())) return true;
      if (in_.strict) return false;
      nodes_text_.resize(before);
      nodes_.back().labels = {};
      first = nodes_text_.empty();
      writer.separate(first).raw(R"({"name":)").string(object.name);
      writer.raw(R"(,"unclear":)").string(std::exchange(in_.error, {}).message).raw("}");
      return true;
    });
  }

  bool check_parents() {
    const std::string_view orphan = in_.strict ? queues_.without_parent() : std::string_view();
    if (orphan.empty()) return true;
    static_cast<void>(in_.fail(in_.document.root(), "UnknownQueue", "its parent queue is not in the input"));
    return fail("Queue " + std::string(orphan));
  }

  static bool is_known_by_label(KubernetesKind kind) {
    return kind == KubernetesKind::kCoschedulingGroup || kind == KubernetesKind::kCoschedulingSigsGroup;
  }

  template <class Read>
  bool add_groups(KubernetesKind kind, Read read) {
    return each(kind, [&](const auto& object) {
      KubernetesGroup group;
      if (read(object, group)) return gangs_.add(in_, group);
      if (in_.strict || !is_known_by_label(kind)) return false;  // pods of others that do not find theirs are held
      const GroupSystem system = group.system;
      group = {};
      group.system = system;
      group.namespace_name = object.namespace_name;
      group.name = object.name;
      group.held = "its PodGroup cannot be read";
      in_.warn(object, "its pods are held");
      return gangs_.add(in_, group);
    });
  }

  bool read_groups() {
    const auto coscheduling = [&](GroupSystem system) {
      return [this, system](const KubernetesObject& object, KubernetesGroup& group) {
        group.system = system;
        return read_coscheduling_group(in_, object, group);
      };
    };
    return add_groups(
               KubernetesKind::kPodGroup,
               [&](const auto& object, auto& group) { return read_pod_group(in_, object, topologies_, group); }) &&
           each(KubernetesKind::kWorkload,
                [&](const auto& object) {
                  std::vector<KubernetesGroup> groups;
                  if (!read_workload(in_, object, groups)) return false;
                  return std::ranges::all_of(groups, [&](const auto& group) { return gangs_.add(in_, group); });
                }) &&
           add_groups(
               KubernetesKind::kKaiGroup,
               [&](const auto& object, auto& group) {
                 if (!read_kai_group(in_, object, topologies_, group)) return false;
                 if (delay_preemption(group, now())) {
                   in_.remarks.add("a gang is within its preemptionDelay: Muster evicts nothing for it yet", object);
                 }
                 return true;
               }) &&
           add_groups(KubernetesKind::kVolcanoGroup,
                      [&](const auto& object, auto& group) { return read_volcano_group(in_, object, group); }) &&
           add_groups(KubernetesKind::kCoschedulingGroup, coscheduling(GroupSystem::kCoscheduling)) &&
           add_groups(KubernetesKind::kCoschedulingSigsGroup, coscheduling(GroupSystem::kCoschedulingSigs));
  }

  bool read_owners() {
    constexpr std::array<KubernetesKind, 5> kKinds = {KubernetesKind::kDeployment, KubernetesKind::kReplicaSet,
                                                      KubernetesKind::kStatefulSet, KubernetesKind::kJob,
                                                      KubernetesKind::kLeaderWorkerSet};
    return std::ranges::all_of(kKinds, [&](KubernetesKind kind) {
      return each(kind, [&](const auto& object) {
        if (!options_.expand) in_.remarks.add(std::string(object.kind) + " is ignored", object);
        return owners_.add(in_, kind, object);
      });
    });
  }

  bool read_storage() {
    return each(KubernetesKind::kVolumeClaim, [&](const auto& object) { return storage_.add_claim(in_, object); }) &&
           each(KubernetesKind::kVolume, [&](const auto& object) { return storage_.add_volume(in_, object); }) &&
           each(KubernetesKind::kStorageClass, [&](const auto& object) { return storage_.add_class(in_, object); });
  }

  void join(KubernetesPod& pod) {
    if (!pod.words.kueue_queue.empty()) queues_.kueue().use(pod.namespace_name, pod.words.kueue_queue);
    if (!pod.words.kueue_required.empty()) topologies_.add_key(pod.words.kueue_required);
    if (!pod.words.kueue_preferred.empty()) topologies_.add_key(pod.words.kueue_preferred);
    if (pod.reference.system == GroupSystem::kNone && !pod.words.kueue_queue.empty() &&
        queues_.kueue().is_stopped(pod.namespace_name, pod.words.kueue_queue)) {
      pod.hold("its queue is stopped");
    }
    gangs_.join(pod);
  }

  bool expand() {
    made_ = pods_.size();
    if (!options_.expand) return true;
    if (!owners_.expand(in_, pods_, [this](const KubernetesGroup& group) { gangs_.add_made(group); })) return false;
    for (std::size_t i = made_; i < pods_.size(); ++i) join(pods_[i]);
    return true;
  }

  bool read_pods() {
    const bool bound = each(KubernetesKind::kBindRequest, [&](const auto& object) {
      KubernetesBinding binding;
      if (!read_bind_request(in_, object, binding)) return false;
      if (!binding.pod.empty()) bindings_[{binding.namespace_name, binding.pod}] = binding;
      return true;
    });
    if (!bound) return false;
    pods_.reserve(items_.of(KubernetesKind::kPod).size());
    return each(KubernetesKind::kPod, [&](const auto& object) {
      KubernetesPod& pod = pods_.emplace_back();
      if (!read_pod(in_, object, pod)) {
        if (in_.strict) return false;
        read_what_can_be_read(in_, object, std::exchange(in_.error, {}).message, pod);
      }
      bind(pod);
      if (in_.strict && pod.is_on_node() && !node_names_.contains(pod.node)) {
        return in_.fail(object.value, "UnknownNode",
                        "it runs on " + std::string(pod.node) + ", a node that is not in the input");
      }
      owners_.join(pod);
      join(pod);
      return true;
    });
  }

  // A pod with a request that did not fail counts as running there.
  void bind(KubernetesPod& pod) {
    if (bindings_.empty() || !pod.waits() || pod.is_left_out) return;
    const auto found = bindings_.find({pod.namespace_name, pod.name});
    if (found == bindings_.end()) return;
    pod.status = PodStatus::kRunning;
    pod.node = found->second.node;
    const bool shares = pod.gpu.kind == GpuRequestKind::kFraction || pod.gpu.kind == GpuRequestKind::kMemory;
    if (shares && !found->second.gpu_groups.empty()) pod.gpu_groups = found->second.gpu_groups;
  }

  bool finish() {
    std::size_t culprit = 0;
    if (!assign_devices(in_, pods_, culprit)) return fail("Pod " + pods_[culprit].full_name());
    queues_.settle_kueue_names();
    if (!settle_volumes(in_, storage_, pods_, made_)) return false;
    hold_rare_ports(pods_, kMostPortResources);
    for (const KubernetesPod& pod : pods_) gangs_.hold(pod);
    gangs_.finish(pods_, in_.remarks);
    JsonWriter writer(line_);
    line_.reserve(nodes_text_.size() + pods_.size() * 640 + gangs_.size() * 320 + 4096);
    writer.raw(R"({"format":"muster/v1")");
    write_time(writer);
    if (!options_.policy.empty()) writer.raw(R"(,"policy":)").raw(options_.policy);
    write_topology(writer);
    writer.raw(R"(,"nodes":[)").raw(nodes_text_).raw(R"(],"pods":[)");
    bool first = true;
    for (const KubernetesPod& pod : pods_) {
      if (pod.is_left_out) continue;
      const std::size_t before = line_.size();
      if (write_pod(in_, writer.separate(first), pod, gangs_, queues_)) continue;
      if (in_.strict) return fail("Pod " + pod.full_name());
      line_.resize(before + (line_[before] == ',' ? 1 : 0));
      write_name_and_place(writer, pod, std::exchange(in_.error, {}).message);
    }
    writer.raw(R"(],"gangs":[)");
    if (!gangs_.write(in_, writer)) return false;
    writer.raw(R"(],"priorityClasses":[)").raw(classes_text_).raw("]");
    write_queues(writer);
    if (!budgets_text_.empty()) writer.raw(R"(,"disruptionBudgets":[)").raw(budgets_text_).raw("]");
    if (!write_namespaces(writer)) return false;
    write_remarks(writer);
    writer.raw("}");
    return true;
  }

  // The time of the objects as text, if nothing else is known or later.
  bool is_time_of_objects() const {
    if (options_.time) return false;
    return !options_.not_before ||
           (!items_.latest.empty() && *parse_instant(items_.latest) > *options_.not_before);
  }

  Nanoseconds now() const {
    if (!is_time_of_objects()) return options_.time ? *options_.time : *options_.not_before;
    return items_.latest.empty() ? 0 : *parse_instant(items_.latest);
  }

  // A pod of which something cannot be written as the format has it.
  void write_name_and_place(JsonWriter& writer, const KubernetesPod& pod, std::string_view why) const {
    writer.raw(R"({"name":)").string(pod.full_name()).raw(R"(,"namespace":)").string(pod.namespace_name);
    if (pod.gang >= 0) writer.raw(R"(,"gang":)").string(gangs_.name(pod));
    if (!pod.subgroup.empty()) writer.raw(R"(,"subgroup":)").string(pod.subgroup);
    if (!pod.node.empty()) writer.raw(R"(,"node":)").string(pod.node);
    if (pod.status == PodStatus::kReleasing) writer.raw(R"(,"status":"releasing")");
    writer.raw(R"(,"unclear":)").string(why).raw("}");
  }

  void write_time(JsonWriter& writer) const {
    if (!is_time_of_objects()) {
      writer.raw(R"(,"time":)").decimal(now(), kNanosecondsPerSecond);
    } else if (!items_.latest.empty()) {
      writer.raw(R"(,"time":)").string(items_.latest);
    }
  }

  void write_topology(JsonWriter& writer) const {
    const std::vector<std::string_view> levels = topologies_.levels(nodes_);
    if (levels.empty()) return;
    bool first = true;
    writer.raw(R"(,"topology":[)");
    for (const std::string_view level : levels) writer.separate(first).string(level);
    writer.raw("]");
  }

  // Without any queue there is `default`, as the format has it.
  void write_queues(JsonWriter& writer) {
    if (queues_.empty()) return;
    bool first = queues_text_.empty();
    writer.raw(R"(,"queues":[)").raw(queues_text_);
    queues_.kueue().write(writer, first);
    if (queues_.uses_common_queue()) writer.separate(first).raw(R"({"name":)").string(queues_.common_queue()).raw("}");
    writer.raw("]");
  }

  void write_remarks(JsonWriter& writer) const {
    const std::vector<std::string> remarks = in_.remarks.sentences();
    if (remarks.empty()) return;
    bool first = true;
    writer.raw(R"(,"remarks":[)");
    for (const std::string& remark : remarks) writer.separate(first).string(remark);
    writer.raw("]");
  }

  // Their labels, which namespaceSelectors ask for.
  bool write_namespaces(JsonWriter& writer) {
    if (!in_.has_namespaces) return true;
    bool first = true;
    writer.raw(R"(,"namespaces":[)");
    const bool written = each(KubernetesKind::kNamespace, [&](const auto& object) {
      JsonValue labels;
      if (!in_.take(object.metadata, "labels", labels)) return false;
      writer.separate(first).raw(R"({"name":)").string(object.name);
      if (labels) {
        writer.raw(R"(,"labels":)");
        write_json(writer, in_.document, labels);
      }
      writer.raw("}");
      return true;
    });
    writer.raw("]");
    return written;
  }

  using PodName = std::pair<std::string_view, std::string_view>;
  struct PodNameHash {
    std::size_t operator()(const PodName& name) const {
      return std::hash<std::string_view>()(name.first) * 31 + std::hash<std::string_view>()(name.second);
    }
  };

  KubernetesReading in_;
  const KubernetesOptions& options_;
  KubernetesItems items_;
  KubernetesPriorities priorities_;
  KubernetesQueues queues_;
  KubernetesTopologies topologies_;
  KubernetesGangs gangs_;
  KubernetesOwners owners_;
  std::vector<KubernetesNode> nodes_;
  std::unordered_set<std::string_view> node_names_;
  std::unordered_map<PodName, KubernetesBinding, PodNameHash> bindings_;
  KubernetesStorage storage_;
  std::vector<KubernetesPod> pods_;
  std::size_t made_ = 0;  // position of the first pod that does not exist yet
  std::string nodes_text_, queues_text_, classes_text_, budgets_text_, line_;
};

}  // namespace

Result<ImportedSnapshot> import_kubernetes(JsonDocument& document, const KubernetesOptions& options) {
  MUSTER_REQUIRE(holds_kubernetes_objects(document.root()));
  Importer importer(document, options);
  if (!importer.run()) return std::move(importer.error());
  return importer.take();
}

Result<ImportedSnapshot> import_kubernetes_text(std::string text, const KubernetesOptions& options, JsonLimits limits) {
  JsonDocument document;
  std::optional<std::string> slim = slim_objects(text, document, limits.max_depth);
  text = slim ? *std::move(slim) : join_documents(std::move(text));
  if (auto error = document.parse(text, limits)) return *std::move(error);
  if (!holds_kubernetes_objects(document.root())) {
    return InputError{"UnsupportedFormat", "$",
                      "the input contains no Kubernetes objects: apiVersion and kind are missing"};
  }
  return import_kubernetes(document, options);
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
  JsonDocument document;
  if (known == kSections.end() || document.parse(line, {line.size(), 64})) return error;
  for (const JsonMember member : document.root().members()) {
    if (member.key != section) continue;
    for (const JsonValue element : member.value.elements()) {
      if (index-- > 0) continue;
      const JsonValue name = (*element.members().begin()).value;
      error.message = std::string(known->second) + " " + std::string(name.string()) + ": " + error.message;
      return error;
    }
  }
  return error;
}

}  // namespace muster
