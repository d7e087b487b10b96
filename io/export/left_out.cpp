#include "io/export/left_out.h"

#include <algorithm>
#include <map>
#include <set>

namespace muster::exporting {

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
