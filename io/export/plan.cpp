#include "io/export/plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "io/export/objects.h"

namespace muster::exporting {

namespace {

// A name that the API server accepts as part of a path. The server checks the rest of it.
bool is_object_name(std::string_view name) { return !name.empty() && name.find('/') == std::string_view::npos; }

std::string path_of_entry(std::string_view list, std::size_t position) {
  return std::string("$.").append(list).append("[").append(std::to_string(position)).append("].pod");
}

// One entry of the plan's lists: what becomes of one pod.
struct PlanStep {
  const muster_v1::NamedPlan::Placement* placement = nullptr;  // none: the pod is not placed again
  const muster_v1::NamedPlan::Eviction* eviction = nullptr;    // none: the pod is new
  std::string path;

  bool is_move() const { return placement != nullptr && eviction != nullptr; }
  std::string_view pod() const { return placement == nullptr ? eviction->pod : placement->pod; }
};

class Exporter {
 public:
  Exporter(std::string_view id, const muster_v1::NamedPlan& plan, const ExportCluster& cluster,
           const ExportOptions& options)
      : id_(id),
        plan_(plan),
        cluster_(cluster),
        options_(options),
        groups_(plan, cluster),
        left_out_(plan, cluster, options) {}

  bool run() {
    if (!sort_steps()) return false;
    if (options_.format == ExportFormat::kDeltas) {
      write_deltas();
    } else if (!write_objects()) {
      return false;
    }
    remark();
    return true;
  }

  InputError& error() { return error_; }
  ExportedPlan& result() { return out_; }

 private:
  bool sort_steps();
  bool name(const PlanStep& step, ExportedPod& pod);
  bool write_objects();
  bool write_place(const PlanStep& step, ExportPhase phase);
  bool write_eviction(const PlanStep& step);
  // A new object of the output; writes into its text.
  json::JsonWriter new_object(ExportPhase phase, const ExportedPod& pod);
  void write_deltas();
  void remark();
  void remark(std::size_t count, std::string_view what);
  std::string moves() const;

  bool is_wanted(ExportPhase phase) const { return options_.phase == ExportPhase::kAll || options_.phase == phase; }

  const std::string_view id_;
  const muster_v1::NamedPlan& plan_;
  const ExportCluster& cluster_;
  const ExportOptions& options_;
  // A moved pod is in the last two.
  std::vector<PlanStep> at_once_, evicted_, later_;
  KaiGroups groups_;
  LeftOut left_out_;
  ExportedPlan out_;
  InputError error_;
};

bool Exporter::sort_steps() {
  std::unordered_map<std::string_view, const muster_v1::NamedPlan::Placement*> places;
  std::unordered_map<std::string_view, const muster_v1::NamedPlan::Eviction*> candidates;
  const auto add = [&](const auto& list, auto& by_pod, std::string_view name) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (by_pod.emplace(list[i].pod, &list[i]).second) continue;
      error_ = {ErrorCode::kDuplicateName, path_of_entry(name, i), "duplicate pod in this list"};
      return false;
    }
    return true;
  };
  const auto& [placements, evictions] = plan_;
  if (!add(placements, places, "placements") || !add(evictions, candidates, "evictions")) return false;
  for (std::size_t i = 0; i < placements.size(); ++i) {
    if (left_out_.has(placements[i]) || left_out_.stays(placements[i].pod)) continue;
    const auto eviction = candidates.find(placements[i].pod);
    PlanStep step{&placements[i], eviction == candidates.end() ? nullptr : eviction->second,
                  path_of_entry("placements", i)};
    const bool waits = step.is_move() || !placements[i].after.empty();
    (waits ? later_ : at_once_).push_back(std::move(step));
  }
  const auto by_step = [](const PlanStep& step) { return step.placement->step; };
  std::ranges::stable_sort(at_once_, {}, by_step);
  std::ranges::stable_sort(later_, {}, by_step);
  for (std::size_t i = 0; i < evictions.size(); ++i) {
    if (left_out_.stays(evictions[i].pod)) continue;
    const auto place = places.find(evictions[i].pod);
    evicted_.push_back({place == places.end() ? nullptr : place->second, &evictions[i], path_of_entry("evictions", i)});
  }
  return true;
}

// The namespace is the one in the snapshot, else the part of the name before its first `/`, else `default`.
bool Exporter::name(const PlanStep& step, ExportedPod& pod) {
  const std::string_view full = step.pod();
  const std::size_t slash = full.find('/');
  pod.namespace_name = cluster_.pod_namespace(full);
  if (pod.namespace_name.empty())
    pod.namespace_name = slash == std::string_view::npos ? "default" : full.substr(0, slash);
  pod.name = slash == std::string_view::npos ? full : full.substr(slash + 1);
  pod.uid = cluster_.uid(full);
  if (is_object_name(pod.namespace_name) && is_object_name(pod.name)) return true;
  error_ = {ErrorCode::kInvalidValue, step.path, "\"" + std::string(full) + "\" is not the namespace/name of a pod"};
  return false;
}

// The new place of a moved pod is that of the pod that its owner creates anew: under the same name, if at all, and with
// another uid.
bool Exporter::write_place(const PlanStep& step, ExportPhase phase) {
  ExportedPod pod;
  if (!name(step, pod)) return false;
  if (options_.format == ExportFormat::kKai && step.is_move()) return true;  // what owns a request is one pod, by uid
  if (options_.format == ExportFormat::kKai && pod.uid.empty()) {
    error_ = {ErrorCode::kMissingUid, step.path,
              "a BindRequest needs the uid of this pod, which no Kubernetes object in the snapshot provides"};
    return false;
  }
  const muster_v1::NamedPlan::Placement& placement = *step.placement;
  if (step.is_move()) pod.uid = {};
  json::JsonWriter json = new_object(phase, pod);
  out_.objects.back().node = placement.node;
  out_.objects.back().gang = cluster_.gang(placement.pod);
  switch (options_.format) {
    case ExportFormat::kBindings:
      write_binding(json, pod, placement.node);
      break;
    case ExportFormat::kPatches:
      write_patch(json, pod, {placement.node, cluster_.hostname(placement.node)}, options_.gates);
      break;
    case ExportFormat::kVolcano:
      write_volcano_binding(json, pod, placement, cluster_);
      break;
    case ExportFormat::kKai:
      write_bind_request(json, pod, placement, cluster_, groups_);
      break;
    case ExportFormat::kDeltas:
      break;
  }
  return true;
}

bool Exporter::write_eviction(const PlanStep& step) {
  ExportedPod pod;
  if (!name(step, pod)) return false;
  json::JsonWriter json = new_object(ExportPhase::kEvictions, pod);
  out_.objects.back().node = step.eviction->node;
  out_.objects.back().gang = step.eviction->for_gang;
  out_.objects.back().victim = cluster_.gang(step.eviction->pod);
  exporting::write_eviction(json, pod);
  return true;
}

json::JsonWriter Exporter::new_object(ExportPhase phase, const ExportedPod& pod) {
  ExportedObject& object = out_.objects.emplace_back();
  object.phase = phase;
  object.namespace_name = pod.namespace_name;
  object.name = pod.name;
  object.uid = pod.uid;
  return json::JsonWriter(object.text);
}

bool Exporter::write_objects() {
  const auto write_places = [&](const std::vector<PlanStep>& steps, ExportPhase phase) {
    return !is_wanted(phase) ||
           std::ranges::all_of(steps, [&](const PlanStep& step) { return write_place(step, phase); });
  };
  const bool are_evicted = !is_wanted(ExportPhase::kEvictions);
  return write_places(at_once_, ExportPhase::kNow) &&
         (are_evicted || std::ranges::all_of(evicted_, [&](const PlanStep& step) { return write_eviction(step); })) &&
         write_places(later_, ExportPhase::kAfterEvictions);
}

// A move is one delta, among the evictions.
void Exporter::write_deltas() {
  const auto write = [&](const PlanStep& step, ExportPhase phase) {
    json::JsonWriter json = new_object(phase, {});
    write_delta(json, id_, step.placement, step.eviction);
  };
  if (is_wanted(ExportPhase::kNow)) {
    for (const PlanStep& step : at_once_) write(step, ExportPhase::kNow);
  }
  if (is_wanted(ExportPhase::kEvictions)) {
    for (const PlanStep& step : evicted_) write(step, ExportPhase::kEvictions);
  }
  if (!is_wanted(ExportPhase::kAfterEvictions)) return;
  for (const PlanStep& step : later_) {
    if (!step.is_move()) write(step, ExportPhase::kAfterEvictions);
  }
}

void Exporter::remark(std::size_t count, std::string_view what) {
  if (count > 0) out_.remarks.push_back(std::to_string(count) + " of its " + std::string(what));
}

// The new node of each moved pod, the first few by name.
std::string Exporter::moves() const {
  constexpr std::ptrdiff_t kMostNames = 3;
  std::string text;
  std::ptrdiff_t moves = 0;
  for (const PlanStep& step : later_) {
    if (!step.is_move() || ++moves > kMostNames) continue;
    text.append(moves == 1 ? "" : ", ").append(step.placement->pod).append(" ").append(step.eviction->node);
    text.append(" -> ").append(step.placement->node);
  }
  return moves > kMostNames ? text + " and " + std::to_string(moves - kMostNames) + " more" : text;
}

void Exporter::remark() {
  const std::string moved = moves();
  if (!moved.empty() && options_.phase != ExportPhase::kNow)
    out_.remarks.push_back("moves, each a restart of the pod: " + moved);
  if (!is_wanted(ExportPhase::kNow)) remark(at_once_.size(), "placements wait for nothing: --phase now");
  if (!is_wanted(ExportPhase::kEvictions)) remark(evicted_.size(), "pods are to be evicted: --phase evictions");
  if (!is_wanted(ExportPhase::kAfterEvictions)) {
    remark(later_.size(), "placements wait for evictions: --phase after-evictions");
  }
  if (is_wanted(ExportPhase::kAfterEvictions) && options_.format != ExportFormat::kDeltas) {
    remark(static_cast<std::size_t>(std::ranges::count_if(later_, &PlanStep::is_move)),
           options_.format == ExportFormat::kKai
               ? "pods are moved and not in this phase: plan again after their owners have created them again"
               : "pods are moved: the objects are for a new pod of the same name, which its owner has to create");
  }
  for (const std::string& what : left_out_.remarks()) out_.remarks.push_back(what);
}

}  // namespace

std::string ExportedPlan::text() const {
  std::string text;
  for (const ExportedObject& object : objects) text.append(object.text).append("\n");
  return text;
}

Result<ExportedPlan> export_plan(std::string_view id, const muster_v1::NamedPlan& plan, const ExportCluster& cluster,
                                 const ExportOptions& options) {
  Exporter exporter(id, plan, cluster, options);
  if (!exporter.run()) return std::move(exporter.error());
  return std::move(exporter.result());
}

namespace {

std::string counted(std::size_t gangs, std::string_view why) {
  return std::to_string(gangs) + (gangs == 1 ? " of its gangs is left out: " : " of its gangs are left out: ") +
         std::string(why);
}

bool shares_devices(const ExportCluster& cluster, const muster_v1::NamedPlan::Placement& placement) {
  if (placement.devices.empty()) return false;
  const PodSpec* spec = cluster.spec(placement.pod);
  if (spec != nullptr) return spec->gpu.kind != GpuRequestKind::kWhole;
  return std::ranges::any_of(placement.devices,
                             [](const muster_v1::NamedPlan::Device& device) { return device.share != "1"; });
}

// The scheduler that the plan is for: the one that places most of its pods, of several the first by name. Empty: the
// pods' schedulers are not known, or there is only one.
std::string_view scheduler_of_plan(const muster_v1::NamedPlan& plan, const ExportCluster& cluster) {
  std::map<std::string_view, std::int64_t> pods;
  for (const muster_v1::NamedPlan::Placement& placement : plan.placements) {
    const std::string_view scheduler = cluster.scheduler(placement.pod);
    if (!scheduler.empty()) ++pods[scheduler];
  }
  if (pods.size() < 2) return {};
  return std::ranges::max_element(pods, {}, [](const auto& entry) { return entry.second; })->first;
}

template <class Needs>
std::unordered_set<std::string_view> gangs_where(const muster_v1::NamedPlan& plan, const ExportCluster& cluster,
                                                 Needs needs) {
  std::unordered_set<std::string_view> gangs;
  for (const muster_v1::NamedPlan::Placement& placement : plan.placements) {
    if (needs(placement)) gangs.insert(cluster.gang(placement.pod));
  }
  return gangs;
}

}  // namespace

LeftOut::LeftOut(const muster_v1::NamedPlan& plan, const ExportCluster& cluster, const ExportOptions& options)
    : cluster_(cluster) {
  const bool binds = options.format == ExportFormat::kBindings || options.format == ExportFormat::kVolcano;
  if (binds) leave_out_what_a_binding_lacks(plan, options);
  if (binds || options.format == ExportFormat::kKai) leave_to_other_schedulers(plan);
  if (options.own_nodes_only) leave_out_shared_nodes(plan);
  const std::size_t first = gangs_.size();
  if (first == 0) return;
  follow(plan);
  if (gangs_.size() > first) {
    remarks_.push_back(counted(gangs_.size() - first, "they wait for pods that are not evicted in this phase"));
  }
}

void LeftOut::leave_out_what_a_binding_lacks(const muster_v1::NamedPlan& plan, const ExportOptions& options) {
  // Volcano's annotations reserve devices.
  const auto has_no_device = [&](const muster_v1::NamedPlan::Placement& placement) {
    const bool reserves = options.format == ExportFormat::kVolcano && cluster_.names_devices(placement);
    return !reserves && shares_devices(cluster_, placement);
  };
  const auto sharing = gangs_where(plan, cluster_, has_no_device);
  if (options.shared == SharedDevices::kLeaveOut && !sharing.empty()) {
    remarks_.push_back(counted(sharing.size(),
                               "they share devices, which a Binding does not reserve; use --format kai, or "
                               "--allow-shared if something else reserves them"));
    gangs_.insert(sharing.begin(), sharing.end());
  } else if (!sharing.empty()) {
    remarks_.push_back("the Bindings of " + std::to_string(sharing.size()) +
                       " of its gangs name no device: a Binding has no field for it, so what reserves the devices may "
                       "choose others than the plan");
  }
  const auto unbound =
      gangs_where(plan, cluster_, [&](const auto& placement) { return cluster_.has_unbound_volumes(placement.pod); });
  if (!unbound.empty()) {
    remarks_.push_back(counted(unbound.size(),
                               "a scheduler has to bind their volume claims (WaitForFirstConsumer), which a Binding "
                               "does not do; use --format patches or kai"));
  }
  gangs_.insert(unbound.begin(), unbound.end());
}

// Two schedulers that place one pod race: the plan's binds its own pods only.
void LeftOut::leave_to_other_schedulers(const muster_v1::NamedPlan& plan) {
  const std::string_view own = scheduler_of_plan(plan, cluster_);
  if (own.empty()) return;
  std::map<std::string_view, std::set<std::string_view>> others;
  for (const muster_v1::NamedPlan::Placement& placement : plan.placements) {
    const std::string_view scheduler = cluster_.scheduler(placement.pod);
    if (scheduler != own) others[scheduler].insert(cluster_.gang(placement.pod));
  }
  for (const auto& [scheduler, gangs] : others) {
    remarks_.push_back(counted(gangs.size(), "scheduler " + std::string(scheduler) + " places their pods, and " +
                                                 std::string(own) + " most pods of the plan; plan and export the " +
                                                 "pods of one scheduler with --scheduler-name"));
    gangs_.insert(gangs.begin(), gangs.end());
  }
}

void LeftOut::leave_out_shared_nodes(const muster_v1::NamedPlan& plan) {
  const std::unordered_set<std::string_view> nodes = cluster_.nodes_of_others();
  const auto shared =
      gangs_where(plan, cluster_, [&](const auto& placement) { return nodes.contains(placement.node); });
  if (shared.empty()) return;
  remarks_.push_back(counted(shared.size(),
                             "pods of another scheduler run on their nodes, and two schedulers would "
                             "overcommit these; keep the others away by a taint"));
  gangs_.insert(shared.begin(), shared.end());
}

// If a move is left out, the pod stays where it is; this does not affect the rest of its gang.
void LeftOut::follow(const muster_v1::NamedPlan& plan) {
  for (bool found = true; found;) {
    found = false;
    for (const muster_v1::NamedPlan::Eviction& eviction : plan.evictions) {
      const bool is_move = eviction.reason == EvictionReason::kConsolidate;
      if (gangs_.contains(eviction.for_gang) || (is_move && gangs_.contains(cluster_.gang(eviction.pod)))) {
        kept_.insert(eviction.pod);
      }
    }
    for (const muster_v1::NamedPlan::Placement& placement : plan.placements) {
      const bool waits_in_vain =
          std::ranges::any_of(placement.after, [&](const std::string& pod) { return kept_.contains(pod); });
      if (waits_in_vain && !kept_.contains(placement.pod)) {
        found = gangs_.insert(cluster_.gang(placement.pod)).second || found;
      }
    }
  }
}

}  // namespace muster::exporting
