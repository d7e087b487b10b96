#include "cli/agent/extender/plan_view.h"

#include <algorithm>

#include <fmt/format.h>

namespace muster::cli {
namespace {

std::string key_of(const exporting::ExportedObject& object) { return object.namespace_name + "/" + object.name; }

}  // namespace

PlanView::PlanView(const exporting::ExportedPlan& exported, const std::vector<PendingPod>& pending,
                   const std::vector<WaitingGangNote>& waiting, Time made)
    : made_(made) {
  for (const PendingPod& pod : pending) pods_[pod.name].gang = gang_at(pod.gang);
  std::vector<bool> waits_for_room(gangs_.size());
  for (const exporting::ExportedObject& object : exported.objects) {
    if (object.phase == exporting::ExportPhase::kEvictions) {
      const auto gang = gang_of_name_.find(object.gang);
      if (gang != gang_of_name_.end()) gangs_[gang->second].victims[object.node].push_back(object.uid);
      continue;
    }
    const auto pod = pods_.find(key_of(object));
    if (pod == pods_.end()) continue;
    pod->second.uid = object.uid;
    pod->second.node = object.node;
    if (object.phase == exporting::ExportPhase::kNow)
      pod->second.binding = object.text;
    else
      waits_for_room[pod->second.gang] = true;
  }
  for (const WaitingGangNote& note : waiting) {
    const auto gang = gang_of_name_.find(note.gang);
    if (gang != gang_of_name_.end()) gangs_[gang->second].waits = fmt::format("{}: {}", note.reason, note.note);
  }
  for (auto& [name, pod] : pods_) {
    ViewedGang& gang = gangs_[pod.gang];
    if (waits_for_room[pod.gang]) {
      gang.waits = "it starts once pods have left its nodes";
      pod.binding.clear();
    }
    if (pod.starts()) gang.starting.push_back(name);
  }
  for (ViewedGang& gang : gangs_) {
    std::ranges::sort(gang.starting);
    if (!gang.starting.empty())
      gang.waits.clear();
    else if (gang.waits.empty())
      gang.waits = "the plan does not start it";
  }
}

std::size_t PlanView::gang_at(const std::string& name) {
  const auto [at, is_new] = gang_of_name_.emplace(name, gangs_.size());
  if (is_new) gangs_.push_back({name, {}, {}, {}});
  return at->second;
}

const ViewedPod* PlanView::find(std::string_view pod) const {
  const auto found = pods_.find(std::string(pod));
  return found == pods_.end() ? nullptr : &found->second;
}

}  // namespace muster::cli
