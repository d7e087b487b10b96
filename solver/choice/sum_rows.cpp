#include "solver/choice/sum_rows.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "model/base/saturating.h"
#include "model/base/tuning.h"

namespace muster::choice {
namespace {

constexpr std::int64_t kMillionths = 1'000'000;

std::string name(const char* kind, std::size_t a, std::size_t b) {
  return kind + std::to_string(a) + "_" + std::to_string(b);
}

}  // namespace

SumRows::SumRows(const Problem& problem, const formulation::Demand& demand, const formulation::Supply& supply,
                 const ClusterState& base, formulation::Formulation& formulation)
    : problem_(problem),
      demand_(demand),
      supply_(supply),
      formulation_(formulation),
      model_(formulation.model()),
      anchored_(problem, demand, base, formulation),
      pool_of_(supply.rooms.size(), 0) {}

void SumRows::add() {
  make_pools();
  make_shapes();
  divide_shapes();
  for (std::size_t pool = 0; pool < pools_.size(); ++pool) {
    add_resources(pool);
    add_devices(pool);
    add_sizes(pool);
  }
}

// --- pools and shapes

// Merging rooms that take different classes only makes the rows weaker: all of a zone are one pool if there would be
// too many columns.
void SumRows::make_pools() {
  std::map<std::pair<formulation::ZoneIndex, std::vector<formulation::DemandIndex>>, std::size_t> index;
  const auto collect = [&](bool by_demands) {
    index.clear();
    pools_.clear();
    for (const formulation::ResidualClassIndex room : supply_.rooms.indices()) {
      const formulation::ResidualClass& r = supply_.rooms[room];
      const auto [found, is_new] =
          index.try_emplace({r.zone, by_demands ? r.demands : std::vector<formulation::DemandIndex>{}}, pools_.size());
      if (is_new) pools_.push_back({{}, std::vector<Amount>(problem_.resource_count, 0), {}, {}});
      pool_of_[room] = found->second;
      pools_[found->second].rooms.push_back(room);
    }
  };
  collect(true);
  if (pools_.size() * formulation_.asked().size() > kTuning.listing.most_columns) collect(false);
  for (Pool& pool : pools_)
    for (const formulation::ResidualClassIndex room : pool.rooms) {
      const formulation::ResidualClass& r = supply_.rooms[room];
      for (std::size_t i = 0; i < r.free.size(); ++i)
        pool.free[i] = saturating_add(pool.free[i], saturating_multiply(r.count(), std::max<Amount>(0, r.free[i])));
      const DeviceUnits millionth = problem_.node_classes[r.node_class].device_capacity() / kMillionths;
      std::int64_t anchored = 0;
      for (const NodeIndex node : r.nodes)
        if (anchored_.is_anchored(node)) {
          pool.anchored.push_back(node);
          ++anchored;
        }
      for (const DeviceUnits free : r.free_devices) {
        const std::int64_t part = (free + millionth - 1) / millionth;
        pool.devices[part] += part == kMillionths ? r.count() - anchored : r.count();
      }
    }
}

void SumRows::make_shapes() {
  Indexed<formulation::DemandIndex, std::set<std::pair<formulation::ZoneIndex, std::size_t>>> taken_by(
      demand_.classes.size());
  for (const formulation::ResidualClassIndex room : supply_.rooms.indices())
    for (const formulation::DemandIndex d : supply_.rooms[room].demands)
      taken_by[d].emplace(supply_.rooms[room].zone, pool_of_[room]);
  using Key =
      std::tuple<std::vector<Amount>, GpuRequestKind, std::int32_t, std::int64_t, std::vector<std::size_t>, bool>;
  std::map<Key, std::size_t> index;
  for (const formulation::AskedPods& asked : formulation_.asked()) {
    std::vector<std::size_t> pools;
    for (const auto& [zone, pool] : taken_by[asked.demand])
      if (asked.zone.is_none() || asked.zone == zone) pools.push_back(pool);
    const PodClass& pod_class = problem_.pod_classes[demand_.classes[asked.demand].pod_class];
    const GpuRequest& gpu = pod_class.gpu;
    const bool is_anchored = AnchoredRows::is_anchored(demand_, asked.demand);
    const auto [found, is_new] =
        index.try_emplace(Key{pod_class.request, gpu.kind, gpu.devices, gpu.share, pools, is_anchored}, shapes_.size());
    if (is_new) shapes_.push_back({&pod_class, is_anchored, pools, {}, 0});
    shapes_[found->second].asked.add(asked.pods);
    shapes_[found->second].most += demand_.classes[asked.demand].count;
  }
}

std::int64_t SumRows::most_in(const Pool& pool, const Shape& shape) const {
  std::int64_t most = 0;
  for (const formulation::ResidualClassIndex room : pool.rooms) {
    const formulation::ResidualClass& r = supply_.rooms[room];
    most = saturating_add(
        most, saturating_multiply(r.count(), most_alone(*shape.pod_class, problem_.node_classes[r.node_class], r)));
  }
  return std::min(most, shape.most);
}

// The least that one takes of a device of the pool.
std::int64_t SumRows::share_in(const Pool& pool, const PodClass& pod_class) const {
  if (pod_class.gpu.kind == GpuRequestKind::kWhole) return kMillionths;
  std::int64_t share = kMillionths;
  for (const formulation::ResidualClassIndex room : pool.rooms) {
    const NodeClass& node_class = problem_.node_classes[supply_.rooms[room].node_class];
    share = std::min(share, share_units(pod_class, node_class) / (node_class.device_capacity() / kMillionths));
  }
  return share;
}

void SumRows::divide_shapes() {
  parts_.resize(pools_.size());
  for (const Shape& shape : shapes_) {
    if (shape.pools.empty()) {  // fits nowhere
      model_.add_constraint(shape.asked, -lp::kInfinity, 0, "nowhere");
      continue;
    }
    lp::LinearExpression rest = shape.asked;
    for (const std::size_t g : shape.pools) {
      const std::int64_t most = most_in(pools_[g], shape);
      Part part{&shape, share_in(pools_[g], *shape.pod_class), shape.asked, most};
      if (shape.pools.size() > 1) {
        part.pods = {};
        part.pods.add(model_.add_column(0, static_cast<double>(most), false, name("f", g, parts_[g].size())), 1);
        rest.add(part.pods, -1);
      } else if (most < shape.most) {
        model_.add_constraint(shape.asked, -lp::kInfinity, static_cast<double>(most), "most");
      }
      parts_[g].push_back(std::move(part));
    }
    if (shape.pools.size() > 1) model_.add_constraint(rest, 0, 0, "shape");
  }
}

// --- rows of a pool

void SumRows::add_resources(std::size_t pool) {
  for (std::size_t r = 0; r < problem_.resource_count; ++r) {
    lp::LinearExpression used;
    Amount most = 0;
    for (const Part& part : parts_[pool]) {
      const Amount request = part.shape->pod_class->request[r];
      used.add(part.pods, request);
      most = saturating_add(most, saturating_multiply(request, part.most));
    }
    if (most > pools_[pool].free[r])
      model_.add_constraint(used, -lp::kInfinity, static_cast<double>(pools_[pool].free[r]), name("sum", pool, r));
  }
}

void SumRows::add_devices(std::size_t pool) {
  lp::LinearExpression whole, all;
  for (const Part& part : parts_[pool]) {
    const std::int32_t devices = part.shape->pod_class->gpu.devices;
    all.add(part.pods, devices * part.share);
    if (devices > 0 && part.share >= kMillionths) whole.add(part.pods, devices);
  }
  std::int64_t capacity = 0, idle = 0;
  for (const auto& [free, count] : pools_[pool].devices) {
    capacity += free * count;
    if (free == kMillionths) idle = count;
  }
  for (const NodeIndex node : pools_[pool].anchored) capacity += idle_devices(node) * kMillionths;
  if (!all.terms.empty()) model_.add_constraint(all, -lp::kInfinity, static_cast<double>(capacity), "devices");
  lp::LinearExpression shared;  // devices that may be shared
  if (pools_[pool].anchored.empty()) {
    shared.constant = idle;
    shared.add(whole, -1);
  } else {
    add_anchored(pool, shared);
  }
  add_patterns(pool, std::move(shared));
}

std::int64_t SumRows::idle_devices(NodeIndex node) const {
  const formulation::ResidualClass& room = supply_.rooms[supply_.room_of[node]];
  return std::ranges::count(room.free_devices, problem_.device_capacity(node));
}

// Whole devices by size: what stays is in the rows of its node, the rest needs places on some node.
void SumRows::add_anchored(std::size_t pool, lp::LinearExpression& shared) {
  std::map<std::int32_t, lp::LinearExpression> supply;
  for (const Part& part : parts_[pool])
    if (part.share >= kMillionths && part.shape->pod_class->gpu.devices > 0 && !part.shape->is_anchored)
      supply[part.shape->pod_class->gpu.devices].add(part.pods, -1);
  std::map<std::int32_t, lp::LinearExpression> whole;
  for (const auto& [size, asked] : supply) whole[size] = {};
  for (const NodeIndex node : pools_[pool].anchored) anchored_.add(node, idle_devices(node), whole, shared);
  const auto idle = pools_[pool].devices.find(kMillionths);  // of the other nodes
  if (idle != pools_[pool].devices.end() && idle->second > 0) {
    lp::LinearExpression used;
    for (auto& [size, pods] : whole) {
      std::int64_t most = 0;
      for (const formulation::ResidualClassIndex room : pools_[pool].rooms)
        for (const NodeIndex node : supply_.rooms[room].nodes)
          if (!anchored_.is_anchored(node)) most += idle_devices(node) / size;
      const std::int32_t column =
          model_.add_column(0, static_cast<double>(most), true, "y" + std::to_string(model_.columns()));
      used.add(column, size);
      pods.add(column, 1);
    }
    const std::int32_t opened =
        model_.add_column(0, static_cast<double>(idle->second), true, "h" + std::to_string(model_.columns()));
    used.add(opened, 1);
    shared.add(opened, 1);
    model_.add_constraint(used, -lp::kInfinity, static_cast<double>(idle->second), "others");
  }
  for (auto& [size, asked] : supply) {
    asked.add(whole[size]);
    model_.add_constraint(asked, 0, lp::kInfinity, "places");
  }
}

// `idle`: idle devices that are left for sharers.
void SumRows::add_patterns(std::size_t pool, lp::LinearExpression idle) {
  std::map<std::int64_t, lp::LinearExpression> sharers;  // less what patterns hold; by share
  DevicePatterns::Sizes stock;
  lp::LinearExpression all;
  for (const Part& part : parts_[pool]) {
    const std::int32_t devices = part.shape->pod_class->gpu.devices;
    if (devices == 0 || part.share >= kMillionths || part.share == 0) continue;
    sharers[part.share].add(part.pods, devices);
    stock[part.share] += part.most * devices;
    all.add(part.pods, devices * part.share);
  }
  DevicePatterns patterns(stock, kTuning.listing.few);
  patterns.add(kMillionths);
  for (const auto& [free, count] : pools_[pool].devices) patterns.add(free);
  if (!patterns.is_complete()) {
    all.add(idle, -kMillionths);
    for (const auto& [free, count] : pools_[pool].devices)
      if (free != kMillionths) all.constant -= free * count;
    model_.add_constraint(all, -lp::kInfinity, 0, "shares");
    model_.add_constraint(idle, 0, lp::kInfinity, "idle");
    return;
  }
  const auto add_kind = [&](std::int64_t free, lp::LinearExpression left, std::int64_t most) {
    for (const DevicePatterns::Pattern& pattern : patterns.of(free)) {
      const std::int32_t column =
          model_.add_column(0, static_cast<double>(most), true, "p" + std::to_string(model_.columns()));
      left.add(column, -1);
      for (const auto& [share, held] : pattern) sharers[share].add(column, -held);
    }
    if (!left.terms.empty()) model_.add_constraint(left, 0, lp::kInfinity, name("kind", pool, 0));
  };
  std::int64_t most = 0;
  for (const formulation::ResidualClassIndex room : pools_[pool].rooms)
    for (const NodeIndex node : supply_.rooms[room].nodes) most += idle_devices(node);
  add_kind(kMillionths, std::move(idle), most);
  for (const auto& [free, count] : pools_[pool].devices)
    if (free != kMillionths) add_kind(free, {count, {}}, count);
  for (const auto& [share, expression] : sharers) model_.add_constraint(expression, -lp::kInfinity, 0, "share");
}

// Pods of at least w devices take whole parts of w devices of a node.
void SumRows::add_sizes(std::size_t pool) {
  std::set<std::int32_t> sizes;
  for (const Part& part : parts_[pool])
    if (part.share >= kMillionths && part.shape->pod_class->gpu.devices > 1)
      sizes.insert(part.shape->pod_class->gpu.devices);
  for (const std::int32_t size : sizes) {
    lp::LinearExpression used;
    std::int64_t parts = 0;
    for (const Part& part : parts_[pool])
      if (part.share >= kMillionths) used.add(part.pods, part.shape->pod_class->gpu.devices / size);
    for (const formulation::ResidualClassIndex room : pools_[pool].rooms) {
      const formulation::ResidualClass& r = supply_.rooms[room];
      const DeviceUnits capacity = problem_.node_classes[r.node_class].device_capacity();
      parts += r.count() * (std::ranges::count(r.free_devices, capacity) / size);
    }
    model_.add_constraint(used, -lp::kInfinity, static_cast<double>(parts), "size");
  }
}

}  // namespace muster::choice
