#include "cli/answers/submission.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/answers/answers.h"
#include "cli/line/documents.h"
#include "cli/line/line_options.h"
#include "cli/terminal/console.h"
#include "cli/terminal/terminal.h"
#include "io/json/json_writer.h"
#include "io/kubernetes/grouping/topology.h"
#include "io/kubernetes/manifest.h"
#include "io/kubernetes/object/documents.h"
#include "io/snapshot_reader/snapshot_reader.h"
#include "model/base/words.h"

namespace muster::cli {
namespace {

using Names = std::unordered_set<std::string_view>;
using Objects = std::vector<kubernetes::ManifestObject>;

bool has_kind(const Objects& objects, std::string_view kind) {
  return std::ranges::find(objects, kind, &kubernetes::ManifestObject::kind) != objects.end();
}

bool has_object(const Objects& objects, std::string_view title) {
  return std::ranges::find(objects, title, &kubernetes::ManifestObject::title) != objects.end();
}

// The priority classes and topology levels of a snapshot that was not made of objects, as objects: what the names in a
// manifest refer to. Those that the manifest defines come from there.
std::string definitions_of(const Snapshot& snapshot, const Objects& manifest) {
  std::string text;
  json::JsonWriter json(text);
  for (const SnapshotPriorityClass& one : snapshot.definitions.priority_classes) {
    if (has_object(manifest, fmt::format("PriorityClass {}", one.name))) continue;
    json.object().member("apiVersion", "scheduling.k8s.io/v1").member("kind", "PriorityClass");
    json.key("metadata").object().member("name", one.name).end().member("value", one.value);
    if (one.preemption_policy == PreemptionPolicy::kNever) json.member("preemptionPolicy", "Never");
    json.end().raw("\n");
  }
  if (has_kind(manifest, "Topology")) return text;
  for (const SnapshotTopology& topology : snapshot.definitions.topologies) {
    json.object().member("apiVersion", "kai.scheduler/v1alpha1").member("kind", "Topology").key("metadata").object();
    json.member("name", topology.name.empty() ? kubernetes::KubernetesTopologies::kAnyName : topology.name).end();
    json.key("spec").object().key("levels").array();
    for (const std::string_view level : topology.levels) json.object().member("nodeLabel", level).end();
    json.end().end().end().raw("\n");
  }
  return text;
}

// Kinds that are set up once for all workloads; applying them again is no mistake.
bool is_definition(std::string_view kind) {
  constexpr std::array<std::string_view, 14> kKinds = {
      "ClusterQueue",        "ClusterTrainingRuntime", "Cohort", "LocalQueue",     "Namespace",    "Node",
      "PodDisruptionBudget", "PriorityClass",          "Queue",  "ResourceFlavor", "RuntimeClass", "Topology",
      "TrainingRuntime",     "WorkloadPriorityClass"};
  return std::ranges::find(kKinds, kind) != kKinds.end();
}

// The first object of a workload that the cluster has already, by what the import of both together has warned of.
const kubernetes::ManifestObject* known_in_cluster(const Objects& manifest, const Snapshot& both) {
  std::set<std::string> twice;  // as a title, but for the case of its first letter
  for (const Warning& warning : both.anomalies.warnings) {
    if (warning.code == ErrorCode::kDuplicateName) twice.insert(warning.object + " " + warning.name);
  }
  const auto is_known = [&](const kubernetes::ManifestObject& object) {
    std::string title = object.title;
    title[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(title[0])));
    return !is_definition(object.kind) && twice.contains(title);
  };
  const auto found = std::ranges::find_if(manifest, is_known);
  return found == manifest.end() ? nullptr : &*found;
}

// Leaves what only `both` has.
void remove_known(const Snapshot& cluster, Snapshot& both) {
  Names pods, gangs, warnings;
  for (const SnapshotPod& pod : cluster.pods) pods.insert(pod.name);
  for (const SnapshotGang& gang : cluster.gangs) gangs.insert(gang.name);
  for (const Warning& warning : cluster.anomalies.warnings) warnings.insert(warning.message);
  both.nodes.clear();
  both.pods.erase_if([&](const SnapshotPod& pod) { return pods.contains(pod.name); });
  std::erase_if(both.gangs, [&](const SnapshotGang& gang) { return gangs.contains(gang.name); });
  std::erase_if(both.anomalies.warnings, [&](const Warning& warning) { return warnings.contains(warning.message); });
}

// A queue that only pods name is none, if the cluster has queues: that its pods could run there would be wrong. Gangs
// without a queue are in `default`, or `kubernetes`, as docs/kubernetes.md says.
void remove_unknown_queues(const Snapshot& cluster, const Objects& manifest, Snapshot& workload) {
  if (cluster.queues.empty()) return;
  std::erase_if(workload.queues, [&](const SnapshotQueue& queue) {
    const std::string_view name = queue.name.substr(0, queue.name.find('@'));
    return name != "default" && name != "kubernetes" && !has_object(manifest, fmt::format("Queue {}", name)) &&
           !has_object(manifest, fmt::format("ClusterQueue {}", name));
  });
}

// The question is what happens once it may be scheduled.
void open_gates(Submission& submission) {
  const std::vector<std::string_view>& gangs = submission.workload.anomalies.held_gangs;
  const std::unordered_set<std::string_view> held(gangs.begin(), gangs.end());
  std::int64_t opened = 0;
  for (SnapshotPod& pod : submission.workload.pods) {
    const bool is_held = !pod.notes.held.empty() || held.contains(pod.gang);
    if (pod.status != PodStatus::kGated || is_held) continue;
    pod.status = PodStatus::kPending;
    ++opened;
  }
  if (opened == 0) return;
  submission.remarks.push_back(fmt::format("{} {} suspended or gated; the answer is for when {} may be scheduled",
                                           counted(opened, "pod"), opened == 1 ? "is" : "are",
                                           opened == 1 ? "it" : "they"));
}

std::vector<std::string> names_of_gangs(const Snapshot& workload) {
  std::vector<std::string> names;
  Names known;
  for (const SnapshotPod& pod : workload.pods) {
    const std::string_view name = pod.gang.empty() ? pod.name : pod.gang;
    if (known.insert(name).second) names.emplace_back(name);
  }
  return names;
}

int complain(const std::string& file, const std::string& message, int exit_code) {
  write_all(STDERR_FILENO, fmt::format("muster: --submit: {}: {}\n", escaped(file), message));
  return exit_code;
}

int complain(const std::string& file, const InputError& error) {
  return complain(file, failure_words(error), error.code == ErrorCode::kNoInput ? kExitNoInput : kExitNoValidLine);
}

std::string nothing_to_submit(const std::vector<std::string>& remarks) {
  std::string text = "it makes no pod that the cluster does not have already";
  for (const std::string& remark : remarks) text += "; " + escaped(remark);
  return text;
}

}  // namespace

std::variant<Submission, int> read_submission(const std::string& file, const ClusterInput& cluster,
                                              const Settings& settings) {
  std::string text;
  if (const auto error = read_documents(file, text)) return complain(file, *error);
  muster_v1::ReaderOptions options = reader_options(settings);
  const Result<Objects> manifest = kubernetes::manifest_objects(text, {options.max_line_bytes, options.max_depth});
  if (!manifest) return complain(file, manifest.error());

  options.kubernetes.expand = true;
  options.kubernetes.time = cluster.snapshot.time;
  for (const kubernetes::ManifestObject& object : *manifest) options.kubernetes.expand_only.push_back(object.title);
  const std::string before = cluster.is_kubernetes ? cluster.objects : definitions_of(cluster.snapshot, *manifest);
  muster_v1::SnapshotReader reader(options);
  Result<Snapshot> both = reader.read(kubernetes::join_documents(before + "\n" + text));
  if (!both) return complain(file, both.error());
  if (const kubernetes::ManifestObject* known = known_in_cluster(*manifest, *both))
    return complain(file, escaped(known->title) + " is already in the cluster", kExitNoValidLine);

  Submission submission{std::move(*both), {}, {}, {}};
  for (const kubernetes::ManifestObject& object : *manifest) {
    if (object.is_read && !is_definition(object.kind)) submission.objects.push_back(object.title);
  }
  if (cluster.is_kubernetes) remove_known(cluster.snapshot, submission.workload);
  remove_unknown_queues(cluster.snapshot, *manifest, submission.workload);
  for (const Warning& warning : submission.workload.anomalies.warnings)
    submission.remarks.push_back(warning.object == kImportRemark ? warning.message : warning_text(warning));
  if (submission.workload.pods.empty()) return complain(file, nothing_to_submit(submission.remarks), kExitNoValidLine);
  open_gates(submission);
  submission.gangs = names_of_gangs(submission.workload);
  return submission;
}

}  // namespace muster::cli
