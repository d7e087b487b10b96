#include "solver/decode.h"

#include <algorithm>
#include <map>
#include <optional>

#include "heuristics/groups.h"

namespace muster {
namespace {

// A place for one pod of a demand class that the solution has opened and nobody has taken yet.
struct Slot {
  NodeIndex node;
  std::vector<std::int32_t> devices;  // positions on the node
};

class Decoder {
 public:
  Decoder(const DecodeInput& input, const FormulationSolution& solution, ClusterState& state)
      : in_(input), solution_(solution), state_(state), slots_(input.demand.classes.size()) {
    for (auto& by_atom : slots_) by_atom.resize(input.supply.atom_count);
    open_slots();
  }

  std::int64_t run() {
    // Gangs that are tied to atoms take theirs before those that may go anywhere.
    for (const bool tied : {true, false})
      for (GangClassIndex index : in_.demand.gang_classes.indices())
        if (is_tied(index) == tied) place_class(index);
    return missed_;
  }

 private:
  void open_slots() {
    for (RoomClassIndex room : in_.supply.rooms.indices()) {
      std::size_t next = 0;
      for (const auto& [position, nodes] : solution_.configurations[room.value()])
        for (std::int64_t n = 0; n < nodes; ++n)
          open_node(room, in_.supply.rooms[room].nodes[next++], in_.configurations[room][position]);
    }
    for (auto& by_atom : slots_)
      for (auto& list : by_atom) std::reverse(list.begin(), list.end());  // taken from the back: lowest node first
  }

  void open_node(RoomClassIndex room, NodeIndex node, const Configuration& configuration) {
    const std::vector<std::int32_t> positions = device_positions(state_, node);
    for (const Configuration::Step& step : configuration.steps) {
      Slot slot{node, {}};
      for (std::int32_t device : step.devices) slot.devices.push_back(positions[static_cast<std::size_t>(device)]);
      std::sort(slot.devices.begin(), slot.devices.end());
      slots_[step.demand][in_.supply.rooms[room].atom.value()].push_back(std::move(slot));
    }
  }

  bool is_tied(GangClassIndex index) const {
    const GangClass& gang_class = in_.demand.gang_classes[index];
    return std::any_of(gang_class.cells.begin(), gang_class.cells.end(),
                       [&](CellIndex cell) { return !solution_.by_atom[cell].empty(); });
  }

  void place_class(GangClassIndex index) {
    const GangClass& gang_class = in_.demand.gang_classes[index];
    const std::int64_t gangs = std::min(solution_.gangs[index.value()], gang_class.size());
    if (gang_class.minimum == 0) {
      if (gangs > 0) place_single(gang_class);
      return;
    }
    const CellIndex cell = gang_class.cells[0];
    std::int64_t elastic = solution_.pods[cell] - gangs * gang_class.minimum;
    for (std::int64_t g = 0; g < gangs; ++g) {
      const GangIndex gang = gang_class.gangs[static_cast<std::size_t>(g)];
      const std::int64_t extra = std::min(elastic, in_.demand.cells[cell].count() - gang_class.minimum);
      elastic -= extra;
      place_gang(gang, {{cell, pending_pods(gang), gang_class.minimum + extra, AtomIndex::none()}});
    }
  }

  struct Share {
    CellIndex cell;
    std::vector<PodIndex> pods;
    std::int64_t count;
    AtomIndex atom;  // none: anywhere
  };

  void place_single(const GangClass& gang_class) {
    std::vector<Share> shares;
    for (CellIndex cell : gang_class.cells) {
      const std::vector<PodIndex>& pods = in_.demand.cells[cell].pods;
      if (solution_.by_atom[cell].empty()) {
        shares.push_back({cell, pods, solution_.pods[cell], AtomIndex::none()});
        continue;
      }
      std::size_t first = 0;
      for (std::size_t atom = 0; atom < solution_.by_atom[cell].size(); ++atom) {
        // A rounded solution may ask for more pods than there are.
        const std::int64_t count =
            std::min(solution_.by_atom[cell][atom], static_cast<std::int64_t>(pods.size() - first));
        if (count <= 0) continue;
        shares.push_back(
            {cell, {pods.begin() + static_cast<std::ptrdiff_t>(first), pods.end()}, count, AtomIndex(atom)});
        first += static_cast<std::size_t>(count);
      }
    }
    place_gang(gang_class.gangs[0], shares);
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
        if (place_pod(share.pods[static_cast<std::size_t>(i)], in_.demand.cells[share.cell].demand, share.atom, taken))
          ++placed;
    }
    missed_ += wanted - placed;
    if (placed > 0 && (!is_satisfied(state_, gang) || !keeps_topology(gang))) {
      missed_ += placed;
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
        const DomainIndex domain = in_.problem.nodes[state_.place_of(pod).node].domains[level.value()];
        is_together = is_together && !domain.is_none() && (is_first || domain == common);
        common = domain;
        is_first = false;
      });
      if (!is_together) return false;
    }
    return true;
  }

  bool place_pod(PodIndex pod, DemandIndex demand, AtomIndex atom,
                 std::vector<std::pair<std::vector<Slot>*, Slot>>& taken) {
    for (std::size_t a = 0; a < slots_[demand].size(); ++a) {
      if (!atom.is_none() && a != atom.value()) continue;
      std::vector<Slot>& list = slots_[demand][a];
      while (!list.empty()) {
        Slot slot = std::move(list.back());
        list.pop_back();
        if (!may_take(pod, slot)) continue;
        state_.put(pod, slot.node, slot.devices);
        taken.emplace_back(&list, std::move(slot));
        return true;
      }
    }
    return false;
  }

  // The fit test, on the devices that the solution chose.
  bool may_take(PodIndex pod, const Slot& slot) const {
    if (!can_place(state_, in_.bounds, pod, slot.node)) return false;
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
  Indexed<DemandIndex, std::vector<std::vector<Slot>>> slots_;  // by atom
  std::int64_t missed_ = 0;
};

}  // namespace

std::vector<std::int32_t> device_positions(const ClusterState& state, NodeIndex node) {
  const auto free = state.free_devices(node);
  std::vector<std::int32_t> positions;
  for (std::size_t i = 0; i < free.size(); ++i)
    if (free[i] > 0) positions.push_back(static_cast<std::int32_t>(i));
  std::stable_sort(positions.begin(), positions.end(), [&](std::int32_t a, std::int32_t b) {
    return free[static_cast<std::size_t>(a)] < free[static_cast<std::size_t>(b)];
  });
  return positions;
}

std::int64_t decode(const DecodeInput& input, const FormulationSolution& solution, ClusterState& state) {
  return Decoder(input, solution, state).run();
}

}  // namespace muster
