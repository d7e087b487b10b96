#include "solver/formulation/decode.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>

#include "heuristics/state/groups.h"
#include "solver/formulation/departures.h"

namespace muster::formulation {
namespace {

// A place for one pod of a demand class that the solution has opened and no pod has taken yet.
struct Slot {
  NodeIndex node;
  std::vector<std::int32_t> devices;  // positions on the node
};

class Decoder {
 public:
  Decoder(const DecodeInput& input, const FormulationSolution& solution, ClusterState& state)
      : in_(input), solution_(solution), state_(state), slots_(input.demand.classes.size()) {
    for (auto& by_zone : slots_) by_zone.resize(input.supply.zone_count);
    left_in_part_ = solution.by_part;
    open_slots();
    let_go();
    reserved_ = Indexed<DemandIndex, std::vector<std::int64_t>>(input.demand.classes.size(),
                                                                std::vector<std::int64_t>(input.supply.zone_count, 0));
    for (CellIndex cell : input.demand.cells.indices())
      for (std::size_t zone = 0; zone < solution.by_zone[cell].size(); ++zone)
        reserved_[input.demand.cells[cell].demand][zone] += solution.by_zone[cell][zone];
    leaving_ = Indexed<RunningCellIndex, std::vector<PodIndex>>(input.demand.running.size());
    for (RunningCellIndex cell : input.demand.running.indices())
      for (PodIndex pod : input.demand.running[cell].pods)
        if (!state.is_present(pod)) leaving_[cell].push_back(pod);
  }

  Decoded run() {
    // Gangs that are tied to zones take theirs before those that may go anywhere; then higher priorities, in case a
    // rounded solution has opened too little for all.
    std::vector<GangClassIndex> order;
    for (GangClassIndex index : in_.demand.gang_classes.indices()) order.push_back(index);
    const auto rank = [&](GangClassIndex index) {
      return std::pair(!is_tied(index), -static_cast<std::int64_t>(in_.demand.gang_classes[index].priority));
    };
    std::ranges::stable_sort(order, {}, rank);
    for (const GangClassIndex index : order) place_class(index);
    decoded_.evictions =
        explain_departures({in_.problem, in_.demand, in_.channels}, solution_.evicted, leaving_, state_);
    return std::move(decoded_);
  }

 private:
  // A node that no configuration is chosen for stays as it is.
  void open_slots() {
    for (ResidualClassIndex residual : in_.supply.residuals.indices()) {
      const std::vector<NodeIndex>& nodes = in_.supply.residuals[residual].nodes;
      std::size_t next = 0;
      for (const auto& [position, count] : solution_.configurations[residual.value()])
        for (std::int64_t n = 0; n < count; ++n)
          open_node(residual, nodes[next++], in_.configurations[residual][position]);
      for (; next < nodes.size(); ++next)
        for (PodIndex pod : in_.supply.residents[nodes[next]]) put_back(pod);
    }
    for (auto& by_zone : slots_)
      for (auto& list : by_zone) std::reverse(list.begin(), list.end());  // taken from the back: lowest node first
  }

  // If supply is an inequality, configurations may hold more residents than the solution lets stay: this would split a
  // gang that leaves as a whole.
  void let_go() {
    for (RunningCellIndex index : in_.demand.running.indices()) {
      const RunningCell& cell = in_.demand.running[index];
      std::int64_t staying = cell.count();
      for (const auto& [channel, pods] : solution_.evicted[index]) staying -= pods;
      if (!cell.move.is_none()) staying -= solution_.pods[cell.move];
      for (const PodIndex pod : cell.pods)
        if (state_.is_present(pod) && --staying < 0) state_.take(pod);
    }
  }

  void put_back(PodIndex pod) {
    const Place place = snapshot_place(in_.problem, pod);
    state_.put(pod, place.node, place.devices);
  }

  void open_node(ResidualClassIndex residual, NodeIndex node, const Configuration& configuration) {
    const std::vector<std::int32_t> positions = let_stay(node, configuration);
    for (const Configuration::Step& step : configuration.steps) {
      if (!in_.demand.classes[step.demand].stays.is_none() || !is_open(step.demand, residual)) continue;
      Slot slot{node, {}};
      for (std::int32_t device : step.devices) slot.devices.push_back(positions[static_cast<std::size_t>(device)]);
      std::sort(slot.devices.begin(), slot.devices.end());
      slots_[step.demand][in_.supply.residuals[residual].zone.value()].push_back(std::move(slot));
    }
  }

  // If supply is an inequality, configurations may hold more than the pods of their part.
  bool is_open(DemandIndex demand, ResidualClassIndex residual) {
    if (left_in_part_.empty() || left_in_part_[demand].empty()) return true;
    return --left_in_part_[demand][in_.supply.residuals[residual].part.value()] >= 0;
  }

  // Puts back the residents that stay; returns the devices by position in ResidualClass::free_devices. If whole devices
  // are interchangeable, those of the configuration's steps swap with those of the staying residents.
  std::vector<std::int32_t> let_stay(NodeIndex node, const Configuration& configuration) {
    std::vector<std::int32_t> positions = in_.supply.devices[node];
    std::vector<PodIndex> residents = in_.supply.residents[node];
    for (const Configuration::Step& step : configuration.steps) {
      const RunningCellIndex cell = in_.demand.classes[step.demand].stays;
      if (cell.is_none()) continue;
      const auto at = step.resident >= 0 ? residents.begin() + step.resident
                                         : std::find_if(residents.begin(), residents.end(), [&](PodIndex pod) {
                                             return in_.demand.running_cell_of[pod] == cell && !state_.is_present(pod);
                                           });
      put_back(*at);
      if (step.resident >= 0) continue;
      const std::vector<std::int32_t>& own = state_.place_of(*at).devices;
      for (std::size_t i = 0; i < own.size(); ++i) {
        const auto wanted = static_cast<std::size_t>(step.devices[i]);
        const auto other = std::find(positions.begin(), positions.end(), own[i]) - positions.begin();
        std::swap(positions[wanted], positions[static_cast<std::size_t>(other)]);
      }
    }
    if (!in_.supply.residuals[in_.supply.residual_of[node]].pinned) use_devices_of(node, configuration, positions);
    return positions;
  }

  // No resident may leave in vain: if pods that come to the node use whole devices, as many residents as possible lose
  // one of theirs to them.
  void use_devices_of(NodeIndex node, const Configuration& configuration, std::vector<std::int32_t>& positions) const {
    std::vector<std::int32_t> spare, idle;  // devices that one fewer resident needs; one of each with all of its own
    for (const Configuration::Step& step : configuration.steps)
      if (in_.demand.classes[step.demand].stays.is_none())
        for (const std::int32_t device : step.devices)
          if (const std::int32_t own = positions[static_cast<std::size_t>(device)]; is_whole(node, own))
            spare.push_back(own);
    std::ranges::sort(spare);
    const auto repeated = std::ranges::unique(spare);
    spare.erase(repeated.begin(), repeated.end());
    for (const PodIndex pod : in_.supply.residents[node]) {
      const std::span<const std::int32_t> own = in_.problem.devices_of(pod);
      if (state_.is_present(pod) || own.empty()) continue;
      const auto lost = std::ranges::find_first_of(spare, own);
      if (lost != spare.end())
        spare.erase(lost);
      else
        idle.push_back(own.front());
    }
    for (std::size_t i = 0; i < std::min(spare.size(), idle.size()); ++i)
      std::iter_swap(std::ranges::find(positions, spare[i]), std::ranges::find(positions, idle[i]));
  }

  bool is_whole(NodeIndex node, std::int32_t device) const {
    return state_.free_devices(node)[static_cast<std::size_t>(device)] == in_.problem.device_capacity(node);
  }

  bool is_tied(GangClassIndex index) const {
    const GangClass& gang_class = in_.demand.gang_classes[index];
    return std::any_of(gang_class.cells.begin(), gang_class.cells.end(),
                       [&](CellIndex cell) { return !solution_.by_zone[cell].empty(); });
  }

  void place_class(GangClassIndex index) {
    const GangClass& gang_class = in_.demand.gang_classes[index];
    if (gang_class.is_singles) return move_singles(gang_class);
    const std::int64_t gangs = std::min(solution_.gangs[index.value()], gang_class.size());
    if (gang_class.minimum == 0) {
      if (gangs > 0) place_single(gang_class);
      return;
    }
    const CellIndex cell = gang_class.cells[0];
    std::int64_t elastic = solution_.pods[cell] - gangs * gang_class.minimum;
    std::vector<std::int64_t> by_zone = solution_.by_zone[cell];  // not yet taken
    for (std::int64_t g = 0; g < gangs; ++g) {
      const GangIndex gang = gang_class.gangs[static_cast<std::size_t>(g)];
      const std::int64_t extra = std::min(elastic, in_.demand.cells[cell].count() - gang_class.minimum);
      elastic -= extra;
      place_gang(gang, shares_of(cell, pending_pods(gang), gang_class.minimum + extra, by_zone));
    }
  }

  void move_singles(const GangClass& gang_class) {
    if (gang_class.cells.empty()) return;
    const CellIndex cell = gang_class.cells.front();
    const std::vector<PodIndex>& pods = leaving_[gang_class.running.front()];
    std::vector<std::pair<ZoneIndex, std::int64_t>> moves;  // target zones, and how many
    for (std::size_t zone = 0; zone < solution_.by_zone[cell].size(); ++zone)
      moves.emplace_back(ZoneIndex(zone), solution_.by_zone[cell][zone]);
    if (moves.empty()) moves.emplace_back(ZoneIndex::none(), solution_.pods[cell]);
    std::size_t next = 0;
    for (const auto& [zone, count] : moves)
      for (std::int64_t n = 0; n < count && next < pods.size(); ++n, ++next)
        place_gang(in_.problem.pods[pods[next]].gang, {{cell, {pods[next]}, 1, zone}});
  }

  struct Share {
    CellIndex cell;
    std::vector<PodIndex> pods;
    std::int64_t count;
    ZoneIndex zone;  // none: anywhere
  };

  // This many pods of the cell, from the zones where the solution has some left.
  std::vector<Share> shares_of(CellIndex cell, std::vector<PodIndex> pods, std::int64_t count,
                               std::vector<std::int64_t>& by_zone) const {
    if (by_zone.empty()) return {{cell, std::move(pods), count, ZoneIndex::none()}};
    std::vector<Share> shares;
    auto next = pods.begin();
    for (std::size_t zone = 0; zone < by_zone.size(); ++zone) {
      const std::int64_t here = std::min({count, by_zone[zone], static_cast<std::int64_t>(pods.end() - next)});
      if (here <= 0) continue;
      shares.push_back({cell, {next, next + here}, here, ZoneIndex(zone)});
      next += here;
      by_zone[zone] -= here;
      count -= here;
    }
    return shares;
  }

  void place_single(const GangClass& gang_class) {
    std::vector<Share> shares;
    for (CellIndex cell : gang_class.cells) {
      const RunningCellIndex moves = in_.demand.cells[cell].moves;
      const std::vector<PodIndex>& pods = moves.is_none() ? in_.demand.cells[cell].pods : leaving_[moves];
      if (solution_.by_zone[cell].empty()) {
        shares.push_back({cell, pods, solution_.pods[cell], ZoneIndex::none()});
        continue;
      }
      std::size_t first = 0;
      for (std::size_t zone = 0; zone < solution_.by_zone[cell].size(); ++zone) {
        // A rounded solution may ask for more pods than there are.
        const std::int64_t count =
            std::min(solution_.by_zone[cell][zone], static_cast<std::int64_t>(pods.size() - first));
        if (count <= 0) continue;
        shares.push_back(
            {cell, {pods.begin() + static_cast<std::ptrdiff_t>(first), pods.end()}, count, ZoneIndex(zone)});
        first += static_cast<std::size_t>(count);
      }
    }
    place_gang(gang_class.gangs[0], shares);
  }

  using Taken = std::vector<std::pair<std::vector<Slot>*, Slot>>;

  // Binds in one round the pods that depend on other pods of their gang; repeats until a round binds none. Returns the
  // number.
  std::int64_t place_rest(const std::vector<Share>& shares, Taken& taken) {
    std::int64_t placed = 0, before = -1;
    while (before != placed) {
      before = placed;
      for (const Share& share : shares) {
        for (std::int64_t i = 0; i < share.count && static_cast<std::size_t>(i) < share.pods.size(); ++i) {
          const PodIndex pod = share.pods[static_cast<std::size_t>(i)];
          if (state_.is_present(pod) || !in_.problem.class_of(pod).has_ordered_rules()) continue;
          if (place_pod(pod, in_.demand.cells[share.cell].demand, ZoneIndex::none(), taken)) ++placed;
        }
      }
    }
    return placed;
  }

  std::vector<PodIndex> pending_pods(GangIndex gang) const {
    std::vector<PodIndex> pods;
    for (PodIndex pod : in_.problem.gangs[gang].pods)
      if (in_.problem.pods[pod].status == PodStatus::kPending && !state_.is_present(pod)) pods.push_back(pod);
    return pods;
  }

  void place_gang(GangIndex gang, const std::vector<Share>& shares) {
    const ClusterState::Checkpoint before = state_.checkpoint();
    std::vector<std::pair<std::vector<Slot>*, Slot>> taken;
    std::int64_t wanted = 0, placed = 0;
    for (const Share& share : shares) {
      wanted += share.count;
      for (std::int64_t i = 0; i < share.count && static_cast<std::size_t>(i) < share.pods.size(); ++i)
        if (place_pod(share.pods[static_cast<std::size_t>(i)], in_.demand.cells[share.cell].demand, share.zone, taken))
          ++placed;
    }
    if (placed > 0 && placed < wanted && in_.problem.has_ordered_rules()) placed += place_rest(shares, taken);
    decoded_.missed += wanted - placed;
    if (placed > 0 && (!is_satisfied(state_, gang) || !keeps_topology(gang))) {
      decoded_.missed += placed;
      state_.rollback(before);
      for (auto entry = taken.rbegin(); entry != taken.rend(); ++entry)
        entry->first->push_back(std::move(entry->second));
    }
  }

  // Required topology: what is present of a group lies in one domain of its level. A rounded solution may tear it
  // apart.
  bool keeps_topology(GangIndex gang) const {
    for (const GroupIndex group : in_.problem.gangs[gang].groups) {
      const TopologyLevelIndex level = in_.problem.groups[group].required_level;
      if (level.is_none()) continue;
      DomainIndex common = DomainIndex::none();
      bool is_first = true, is_together = true;
      for_each_pod(in_.problem, group, [&](PodIndex pod) {
        if (!state_.is_present(pod)) return;
        const DomainIndex domain = in_.problem.nodes[state_.node_of(pod)].domains[level.value()];
        is_together = is_together && !domain.is_none() && (is_first || domain == common);
        common = domain;
        is_first = false;
      });
      if (!is_together) return false;
    }
    return true;
  }

  bool place_pod(PodIndex pod, DemandIndex demand, ZoneIndex zone,
                 std::vector<std::pair<std::vector<Slot>*, Slot>>& taken) {
    if (!zone.is_none()) {
      --reserved_[demand][zone.value()];
      return take_slot(pod, slots_[demand][zone.value()], taken);
    }
    // Preferably where no other cell is tied to what is there.
    for (const bool sparing : {true, false})
      for (std::size_t a = 0; a < slots_[demand].size(); ++a) {
        std::vector<Slot>& list = slots_[demand][a];
        const bool is_spare = static_cast<std::int64_t>(list.size()) > reserved_[demand][a];
        if (is_spare == sparing && take_slot(pod, list, taken)) return true;
      }
    return false;
  }

  bool take_slot(PodIndex pod, std::vector<Slot>& list, std::vector<std::pair<std::vector<Slot>*, Slot>>& taken) {
    // A place that other pods have to open first is kept for later.
    const bool may_open_later = in_.problem.class_of(pod).has_ordered_rules();
    for (std::size_t left = list.size(); left > 0; --left) {
      Slot slot = list[left - 1];
      const bool fits = may_take(pod, slot);
      if (fits || !may_open_later) list.erase(list.begin() + static_cast<std::ptrdiff_t>(left - 1));
      if (!fits) continue;
      state_.put(pod, slot.node, slot.devices);
      taken.emplace_back(&list, std::move(slot));
      return true;
    }
    return false;
  }

  // The fit test, on the devices that the solution chose.
  bool may_take(PodIndex pod, const Slot& slot) const {
    const auto fits = in_.in_some_order ? can_place_in_some_order : can_place;
    if (!fits(state_, in_.bounds, pod, slot.node)) return false;
    const PodClass& pod_class = in_.problem.class_of(pod);
    if (pod_class.gpu.kind == GpuRequestKind::kNone) return true;
    const DeviceUnits units = share_units(pod_class, in_.problem.class_of(slot.node));
    const auto free = state_.free_devices(slot.node);
    return std::all_of(slot.devices.begin(), slot.devices.end(),
                       [&](std::int32_t device) { return free[static_cast<std::size_t>(device)] >= units; });
  }

  const DecodeInput& in_;
  const FormulationSolution& solution_;
  ClusterState& state_;
  Indexed<DemandIndex, std::vector<std::vector<Slot>>> slots_;    // by zone
  Indexed<DemandIndex, std::vector<std::int64_t>> reserved_;      // by zone: slots that tied pods are still to take
  Indexed<DemandIndex, std::vector<std::int64_t>> left_in_part_;  // of FormulationSolution::by_part
  Indexed<RunningCellIndex, std::vector<PodIndex>> leaving_;      // pods that do not stay where they run
  Decoded decoded_;
};

}  // namespace

Decoded decode(const DecodeInput& input, const FormulationSolution& solution, ClusterState& state) {
  return Decoder(input, solution, state).run();
}

}  // namespace muster::formulation
