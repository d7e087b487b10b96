#include "solver/column_generation/aggregate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "solver/column_generation/demand_side.h"

namespace muster {
namespace {

constexpr double kSmallerPart = 0.9;  // of the sums, if demand fits into all of them

// The total capacity of the rooms of one class.
struct Heap {
  RoomClassIndex room;                // one of them: atom, part and device memory are the same for all
  std::vector<double> free;           // by ResourceIndex
  double idle = 0;                    // devices
  double partial = 0;                 // units of devices that are used in part
  Indexed<DemandIndex, double> most;  // pods, by what each room could take of them alone
};

DeviceUnits device_capacity(const NodeClass& node_class) {
  return (node_class.device_memory_mib == 0 ? 1 : node_class.device_memory_mib) * 1'000'000;
}

std::vector<Heap> heaps_of(const Problem& problem, const Demand& demand, const Supply& supply) {
  std::map<std::tuple<AtomIndex, PartIndex, std::int64_t, std::int64_t>, Heap> heaps;
  for (const RoomClassIndex index : supply.rooms.indices()) {
    const RoomClass& room = supply.rooms[index];
    const NodeClass& node_class = problem.node_classes[room.node_class];
    const DeviceUnits capacity = device_capacity(node_class);
    const auto idle = std::ranges::count(room.free_devices, capacity);
    Heap& heap = heaps[{room.atom, room.part, node_class.device_memory_mib, idle}];
    heap.room = index;
    heap.free.resize(room.free.size(), 0);
    const auto nodes = static_cast<double>(room.count());
    for (std::size_t r = 0; r < room.free.size(); ++r)
      heap.free[r] += nodes * std::max(0.0, static_cast<double>(room.free[r]));
    heap.idle += nodes * static_cast<double>(idle);
    for (const DeviceUnits free : room.free_devices)
      if (free < capacity) heap.partial += nodes * static_cast<double>(free);
    heap.most.resize(demand.classes.size());
    for (std::size_t at = 0; at < room.demands.size(); ++at)
      heap.most[room.demands[at]] += nodes * static_cast<double>(room.most[at]);
  }
  std::vector<Heap> result;
  for (auto& [key, heap] : heaps) result.push_back(std::move(heap));
  return result;
}

// Rows of a part of one aggregate, and its columns. Amounts are in thousandths of the aggregate's total, devices in
// devices.
void add_heap(const Subproblem& sub, const Heap& heap, double part, DemandSide& side) {
  const Problem& problem = sub.configuration_input.problem;
  const NodeClass& node_class = problem.node_classes[sub.supply.rooms[heap.room].node_class];
  Milp& milp = side.milp;
  std::vector<std::pair<std::size_t, std::int32_t>> resource_rows;
  for (std::size_t r = 0; r < heap.free.size(); ++r)
    if (heap.free[r] > 0) resource_rows.emplace_back(r, milp.add_row(-kInfinity, 1000 * part));
  const auto capacity = static_cast<double>(device_capacity(node_class));
  const std::int32_t whole_row = milp.add_row(-kInfinity, heap.idle * part);
  const std::int32_t shared_row = milp.add_row(-kInfinity, heap.partial / capacity * part);
  milp.add_column({0, 0, heap.idle, false}, {{whole_row, 1}, {shared_row, -1}});  // devices that are shared
  for (const DemandIndex d : heap.most.indices()) {
    const double most = heap.most[d];
    if (most == 0) continue;
    const PodClass& pod_class = problem.pod_classes[sub.demand.classes[d].pod_class];
    std::vector<Entry> entries{{side.row_of(sub.formulation->supply_row(d, heap.room)), -1}};
    for (const auto& [r, row] : resource_rows)
      if (pod_class.request[r] > 0)
        entries.push_back({row, 1000 * static_cast<double>(pod_class.request[r]) / heap.free[r]});
    if (pod_class.gpu.kind == GpuRequestKind::kWhole) {
      entries.push_back({whole_row, static_cast<double>(pod_class.gpu.devices)});
    } else if (pod_class.gpu.devices > 0) {
      const auto units = static_cast<double>(share_units(pod_class, node_class));
      entries.push_back({shared_row, pod_class.gpu.devices * units / capacity});
    }
    milp.add_column({0, 0, most, false}, entries);
  }
}

MilpAnswer solve_in_sum(const Subproblem& sub, const PricingTask& task, const std::vector<Heap>& heaps, double part,
                        DemandSide side, Backend& backend) {
  for (const Heap& heap : heaps) add_heap(sub, heap, part, side);
  MilpRequest request;
  request.relax = true;
  request.deadline = task.deadline.after(1);
  request.work = task.deadline.work();
  return backend.open_lp(side.milp, request);
}

// Whether the solution asks anything for any pod.
bool has_prices(const Subproblem& sub, const std::vector<double>& whole_prices) {
  for (const RoomClassIndex room : sub.supply.rooms.indices())
    for (const DemandIndex d : sub.supply.rooms[room].demands)
      if (std::abs(whole_prices[static_cast<std::size_t>(sub.formulation->supply_row(d, room))]) > 1e-9)
        return true;
  return false;
}

}  // namespace

std::vector<double> prices_in_sum(const Subproblem& sub, const PricingTask& task, Backend& backend) {
  const DemandSide side(sub, task);
  const std::vector<Heap> heaps = heaps_of(sub.configuration_input.problem, sub.demand, sub.supply);
  std::vector<double> price;
  for (const double part : {1.0, kSmallerPart}) {
    const MilpAnswer answer = solve_in_sum(sub, task, heaps, part, side, backend);
    if (answer.status != SolveStatus::kOptimal) return price;
    price = side.whole_prices(answer.row_price);
    if (has_prices(sub, price)) break;
  }
  return price;
}

std::vector<double> prices_of_pods(const Subproblem& sub, const PricingTask& task, const std::vector<double>& pods,
                                   Backend& backend) {
  DemandSide side(sub, task);
  std::set<std::int32_t> rows;
  for (const RoomClassIndex room : sub.supply.rooms.indices())
    for (const DemandIndex d : sub.supply.rooms[room].demands) {
      const std::int32_t row = sub.formulation->supply_row(d, room);
      if (!rows.insert(row).second) continue;
      side.milp.add_column({-pods[d.value()], 0, kInfinity, false}, {{side.row_of(row), -1}});
    }
  MilpRequest request;
  request.relax = true;
  request.deadline = task.deadline.after(1);
  request.work = task.deadline.work();
  const MilpAnswer answer = backend.open_lp(side.milp, request);
  if (answer.status != SolveStatus::kOptimal) return {};
  return side.whole_prices(answer.row_price);
}

}  // namespace muster
