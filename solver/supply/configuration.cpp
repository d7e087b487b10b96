#include "solver/supply/configuration.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "model/base/tuning.h"
#include "model/objective/evaluation.h"
#include "model/objective/levels.h"

namespace muster::formulation {
namespace {

// Breadth-first over "one more pod", demand classes in ascending order, so that every multiset of pods is met once for
// each essentially different way of using the devices.
class Enumeration {
 public:
  Enumeration(const ConfigurationInput& input, const ResidualClass& residual, std::size_t& left,
              const std::function<bool()>& stop)
      : in_(input),
        residual_(residual),
        node_class_(input.problem.node_classes[residual.node_class]),
        left_(left),
        size_(1 + residual.free_devices.size() / kTuning.listing.state_devices),
        stop_(stop) {}

  std::optional<std::vector<Configuration>> run() {
    states_.push_back(
        {NodeResidual(in_.problem, residual_), {}, std::vector<std::int32_t>(residual_.demands.size(), 0), 0, 0});
    for (std::size_t at = 0; at < states_.size(); ++at) {
      for (std::size_t d = states_[at].last; d < residual_.demands.size() && !are_too_many(states_.size()); ++d)
        extend(at, d);
      if (are_too_many(states_.size()) || is_to_stop(at)) return std::nullopt;
    }
    left_ -= size_ * states_.size();
    return best_of_each_count();
  }

 private:
  struct State {
    NodeResidual space;
    std::vector<Configuration::Step> steps;
    std::vector<std::int32_t> counts;  // by position in residual.demands
    std::size_t last = 0;              // no class before this one is added any more
    std::size_t next_resident = 0;     // of a pinned residual class: no resident before this one is added any more
  };
  // The free part of a device, and its absent residents, by class of stay and identity.
  using DeviceView = std::pair<DeviceUnits, std::vector<std::pair<DemandIndex, std::int32_t>>>;

  // A state of a node with many devices counts as several, since its cost and size are those of its devices.
  bool are_too_many(std::size_t states) const { return size_ * states > left_; }

  const PodClass& class_of(std::size_t d) const {
    return in_.problem.pod_classes[in_.demand.classes[residual_.demands[d]].pod_class];
  }

  bool clashes(const State& state, std::size_t d) const {
    const PodClassIndex added = in_.demand.classes[residual_.demands[d]].pod_class;
    for (std::size_t other = 0; other < state.counts.size(); ++other)
      if (state.counts[other] > 0 &&
          in_.anti_affinity.conflict(added, in_.demand.classes[residual_.demands[other]].pod_class,
                                     residual_.nodes.front()))
        return true;
    return false;
  }

  void extend(std::size_t at, std::size_t d) {
    const PodClass& pod_class = class_of(d);
    if (states_[at].counts[d] >= residual_.stock[d]) return;
    if (is_stay(d) && residual_.pinned) return add_residents(at, d);
    // Pods that run next to each other may continue, whatever their anti-affinity, and even beyond what the node
    // reports.
    if (!is_stay(d) && (!states_[at].space.has_resources(pod_class) || clashes(states_[at], d))) return;
    for (const std::vector<std::int32_t>& devices : device_choices(states_[at], pod_class))
      add(at, d, devices, states_[at].next_resident, -1);
  }

  bool is_stay(std::size_t d) const { return !in_.demand.classes[residual_.demands[d]].stays.is_none(); }

  // Residents that share devices stay on their own; they have all been there together, so they fit.
  void add_residents(std::size_t at, std::size_t d) {
    for (std::size_t r = states_[at].next_resident; r < residual_.residents.size(); ++r)
      if (residual_.residents[r].stay == residual_.demands[d])
        add(at, d, residual_.residents[r].devices, r + 1, static_cast<std::int32_t>(r));
  }

  void add(std::size_t at, std::size_t d, const std::vector<std::int32_t>& devices, std::size_t next_resident,
           std::int32_t resident) {
    State next = states_[at];
    next.space.add_on(class_of(d), devices);
    next.steps.push_back({residual_.demands[d], devices, resident});
    ++next.counts[d];
    next.last = d;
    next.next_resident = next_resident;
    std::vector<DeviceView> key = devices_of(next);
    if (resident < 0) std::sort(key.begin(), key.end());
    if (seen_.insert({next.counts, next_resident, std::move(key)}).second) states_.push_back(std::move(next));
  }

  // All that distinguishes the devices of a state: devices with equal free capacity and the same absent residents are
  // equivalent. A resident that uses several devices equals no other.
  std::vector<DeviceView> devices_of(const State& state) const {
    std::vector<DeviceView> devices;
    for (const DeviceUnits free : state.space.free_devices()) devices.push_back({free, {}});
    if (!residual_.pinned) return devices;
    std::vector<bool> is_there(residual_.residents.size(), false);
    for (const Configuration::Step& step : state.steps)
      if (step.resident >= 0) is_there[static_cast<std::size_t>(step.resident)] = true;
    for (std::size_t r = 0; r < residual_.residents.size(); ++r) {
      const ResidualClass::Resident& resident = residual_.residents[r];
      const bool on_one = resident.devices.size() == 1;
      for (std::int32_t device : resident.devices)
        if (!is_there[r])
          devices[static_cast<std::size_t>(device)].second.emplace_back(resident.stay,
                                                                        on_one ? -1 : static_cast<std::int32_t>(r));
    }
    return devices;
  }

  // One choice for each multiset of devices, as devices_of distinguishes them.
  std::vector<std::vector<std::int32_t>> device_choices(const State& state, const PodClass& pod_class) const {
    if (pod_class.gpu.kind == GpuRequestKind::kNone) return {{}};
    const DeviceUnits units = share_units(pod_class, node_class_);
    const std::vector<DeviceView> devices = devices_of(state);
    Levels levels;
    for (std::size_t i = 0; i < devices.size(); ++i)
      if (devices[i].first >= units) levels[devices[i]].push_back(static_cast<std::int32_t>(i));
    std::vector<std::vector<std::int32_t>> choices;
    std::vector<std::int32_t> chosen;
    choose(levels, levels.begin(), static_cast<std::size_t>(pod_class.gpu.devices), chosen, choices);
    return choices;
  }

  using Levels = std::map<DeviceView, std::vector<std::int32_t>>;
  void choose(const Levels& levels, Levels::const_iterator level, std::size_t missing,
              std::vector<std::int32_t>& chosen, std::vector<std::vector<std::int32_t>>& choices) const {
    if (are_too_many(choices.size())) return;
    if (missing == 0) {
      choices.push_back(chosen);
      std::sort(choices.back().begin(), choices.back().end());
      return;
    }
    if (level == levels.end()) return;
    const std::size_t before = chosen.size();
    for (std::size_t take = 0;; ++take) {
      choose(levels, std::next(level), missing - take, chosen, choices);
      if (take == std::min(missing, level->second.size())) break;
      chosen.push_back(level->second[take]);
    }
    chosen.resize(before);
  }

  // The clock is read once for this many states.
  bool is_to_stop(std::size_t at) const {
    constexpr std::size_t kStatesALook = 64;
    return stop_ && size_ * at % kStatesALook < size_ && stop_();
  }

  std::optional<std::vector<Configuration>> best_of_each_count() {
    using Key = std::tuple<std::vector<std::int32_t>, std::vector<DemandIndex>, std::vector<DemandIndex>>;
    std::map<Key, Configuration> best;
    for (std::size_t at = 0; at < states_.size(); ++at) {
      if (is_to_stop(at)) return std::nullopt;
      State& state = states_[at];
      const std::int64_t value =
          last_level_of(in_.problem, {residual_.node_class, state.space.free(), state.space.free_devices()});
      std::vector<DemandIndex> more = could_stay(state, false), by_right = could_stay(state, true);
      const auto [found, is_new] = best.try_emplace({state.counts, more, by_right});
      if (!is_new && found->second.last_level <= value) continue;
      found->second = {std::move(state.steps), {}, std::move(more), value, std::move(by_right)};
      for (std::size_t d = 0; d < state.counts.size(); ++d)
        if (state.counts[d] > 0) found->second.counts.emplace_back(residual_.demands[d], state.counts[d]);
    }
    std::vector<Configuration> result;
    for (auto& [key, configuration] : best) result.push_back(std::move(configuration));
    return result;
  }

  std::vector<DemandIndex> could_stay(const State& state, bool by_right) const {
    std::vector<DemandIndex> classes;
    for (std::size_t d = 0; d < residual_.demands.size() && is_stay(d); ++d) {
      if (state.counts[d] >= residual_.stock[d]) continue;
      const bool all_count = !by_right || std::ranges::all_of(state.steps, [&](const Configuration::Step& step) {
        return !is_arrival(step) || may_displace(step.demand, residual_.demands[d]);
      });
      const std::optional<State> part = all_count ? std::nullopt : std::optional(part_by_right(state, d));
      const State& counted = part ? *part : state;
      if (fits_beside(counted, d) && has_devices(counted, d) && !is_kept_out(counted, d))
        classes.push_back(residual_.demands[d]);
    }
    return classes;
  }

  bool is_arrival(const Configuration::Step& step) const { return in_.demand.classes[step.demand].stays.is_none(); }
  bool may_displace(DemandIndex arriving, DemandIndex stay) const {
    return in_.displacers == nullptr || in_.displacers->may_displace(arriving, stay);
  }

  // Without the arriving pods for which residents of the class need not leave.
  State part_by_right(const State& state, std::size_t d) const {
    State part{NodeResidual(in_.problem, residual_),
               {},
               std::vector<std::int32_t>(residual_.demands.size(), 0),
               state.last,
               state.next_resident};
    for (const Configuration::Step& step : state.steps) {
      if (is_arrival(step) && !may_displace(step.demand, residual_.demands[d])) continue;
      part.space.add_on(in_.problem.pod_classes[in_.demand.classes[step.demand].pod_class], step.devices);
      part.steps.push_back(step);
      ++part.counts[static_cast<std::size_t>(std::ranges::find(residual_.demands, step.demand) -
                                             residual_.demands.begin())];
    }
    return part;
  }

  // If the running pods exceed what the node reports, a resident takes no more than before, unless an arriving pod asks
  // for the same resource.
  bool fits_beside(const State& state, std::size_t d) const {
    const std::vector<Amount>& free = state.space.free();
    for (std::size_t r = 0; r < free.size(); ++r) {
      if (class_of(d).request[r] == 0 || class_of(d).request[r] <= free[r]) continue;
      for (std::size_t other = 0; other < state.counts.size(); ++other)
        if (state.counts[other] > 0 && !is_stay(other) && class_of(other).request[r] > 0) return false;
    }
    return true;
  }

  // For one more resident of the class: its own devices if these matter.
  bool has_devices(const State& state, std::size_t d) const {
    const PodClass& pod_class = class_of(d);
    if (pod_class.gpu.kind == GpuRequestKind::kNone) return true;
    if (!residual_.pinned) {
      const std::int64_t absent = residual_.stock[d] - state.counts[d];
      return absent > devices_in_use(state) && !device_choices(state, pod_class).empty();
    }
    const DeviceUnits units = share_units(pod_class, node_class_);
    for (std::size_t r = 0; r < residual_.residents.size(); ++r) {
      const auto position = static_cast<std::int32_t>(r);
      const bool is_there = std::any_of(state.steps.begin(), state.steps.end(),
                                        [&](const Configuration::Step& step) { return step.resident == position; });
      const std::vector<std::int32_t>& devices = residual_.residents[r].devices;
      if (residual_.residents[r].stay == residual_.demands[d] && !is_there &&
          std::all_of(devices.begin(), devices.end(), [&](std::int32_t device) {
            return state.space.free_devices()[static_cast<std::size_t>(device)] >= units;
          }))
        return true;
    }
    return false;
  }

  // Whole devices that arriving pods use. Each of them may be that of a different absent resident: decoding chooses
  // among equal devices.
  std::int64_t devices_in_use(const State& state) const {
    std::set<std::int32_t> used;
    for (const Configuration::Step& step : state.steps)
      if (in_.demand.classes[step.demand].stays.is_none()) used.insert(step.devices.begin(), step.devices.end());
    return std::ranges::count_if(used, [&](std::int32_t device) {
      return residual_.free_devices[static_cast<std::size_t>(device)] == residual_.free_devices.back();
    });
  }

  // By the anti-affinity of what is newly placed here.
  bool is_kept_out(const State& state, std::size_t d) const {
    for (std::size_t other = 0; other < state.counts.size(); ++other)
      if (state.counts[other] > 0 && !is_stay(other) &&
          in_.anti_affinity.conflict(in_.demand.classes[residual_.demands[d]].pod_class,
                                     in_.demand.classes[residual_.demands[other]].pod_class, residual_.nodes.front()))
        return true;
    return false;
  }

  const ConfigurationInput& in_;
  const ResidualClass& residual_;
  const NodeClass& node_class_;
  std::size_t& left_;
  std::size_t size_;  // of a state
  const std::function<bool()>& stop_;
  std::vector<State> states_;
  std::set<std::tuple<std::vector<std::int32_t>, std::size_t, std::vector<DeviceView>>> seen_;
};

}  // namespace

void Displacers::find(DemandIndex stay) {
  std::vector<bool>& may = of_stay_[stay];
  may.assign(demand_.classes.size(), false);
  const GangIndex victim = demand_.gang_classes[demand_.running[demand_.classes[stay].stays].gang_class].gangs.front();
  const Actions& actions = problem_.snapshot->policy.actions;
  for (const Cell& cell : demand_.cells) {
    const GangIndex claimant = demand_.gang_classes[cell.gang_class].gangs.front();
    may[cell.demand.value()] = may[cell.demand.value()] || !cell.moves.is_none() || claimant == victim ||
                               (actions.preempt && rules_.may_preempt(claimant, victim)) ||
                               (actions.reclaim && rules_.may_reclaim(before_, claimant, victim));
  }
}

bool surely_has_more(const ConfigurationInput& input, const ResidualClass& residual, std::size_t limit) {
  constexpr std::int64_t kDifferent = 4;
  const NodeClass& node_class = input.problem.node_classes[residual.node_class];
  const auto fits_four_times = [&](DemandIndex d) {
    const PodClass& pod_class = input.problem.pod_classes[input.demand.classes[d].pod_class];
    if (!pod_class.anti_affinity_owned.empty() || !pod_class.anti_affinity_matched.empty()) return false;
    for (std::size_t r = 0; r < residual.free.size(); ++r)
      if (kDifferent * pod_class.request[r] > residual.free[r]) return false;
    if (pod_class.gpu.kind == GpuRequestKind::kNone) return true;
    const DeviceUnits units = share_units(pod_class, node_class);
    return std::ranges::count_if(residual.free_devices, [&](DeviceUnits free) { return free >= units; }) >=
           kDifferent * pod_class.gpu.devices;
  };
  const auto small = static_cast<double>(std::ranges::count_if(residual.demands, fits_four_times));
  return small >= kDifferent && small * (small - 1) * (small - 2) * (small - 3) / 24 > static_cast<double>(limit);
}

std::optional<std::vector<Configuration>> enumerate_configurations(const ConfigurationInput& input,
                                                                   const ResidualClass& residual, std::size_t& states,
                                                                   const std::function<bool()>& stop) {
  return Enumeration(input, residual, states, stop).run();
}

}  // namespace muster::formulation
