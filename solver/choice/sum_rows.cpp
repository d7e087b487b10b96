#include "solver/choice/sum_rows.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "model/base/saturating.h"
#include "model/base/tuning.h"
#include "solver/lp/fillings.h"

namespace muster::choice {
namespace {

std::string name(const char* kind, std::size_t a, std::size_t b) {
  return kind + std::to_string(a) + "_" + std::to_string(b);
}

}  // namespace

SumRows::SumRows(const Problem& problem, const formulation::Demand& demand, const formulation::Supply& supply,
                 const formulation::AntiAffinityRules& anti_affinity, const ClusterState& base,
                 formulation::Formulation& formulation)
    : problem_(problem),
      demand_(demand),
      supply_(supply),
      anti_affinity_(anti_affinity),
      base_(base),
      formulation_(formulation),
      model_(formulation.model()),
      anchored_(problem, demand, base, formulation),
      pool_of_(supply.residuals.size(), 0) {}

void SumRows::add() {
  make_pools();
  make_shapes();
  divide_shapes();
  add_one_a_node();
  for (std::size_t pool = 0; pool < pools_.size(); ++pool) {
    add_resources(pool);
    add_devices(pool);
    add_sizes(pool);
  }
}

// --- pools and shapes

// Merging residual classes that take different classes only makes the rows weaker: all of a zone are one pool if there
// would be too many columns.
void SumRows::make_pools() {
  std::map<std::pair<formulation::ZoneIndex, std::vector<formulation::DemandIndex>>, std::size_t> index;
  const auto collect = [&](bool by_demands) {
    index.clear();
    pools_.clear();
    for (const formulation::ResidualClassIndex residual : supply_.residuals.indices()) {
      const formulation::ResidualClass& r = supply_.residuals[residual];
      const auto [found, is_new] =
          index.try_emplace({r.zone, by_demands ? r.demands : std::vector<formulation::DemandIndex>{}}, pools_.size());
      if (is_new) pools_.push_back({{}, std::vector<Amount>(problem_.resource_count, 0), 0, {}, {}});
      pool_of_[residual] = found->second;
      pools_[found->second].residuals.push_back(residual);
    }
  };
  collect(true);
  if (pools_.size() * formulation_.asked().size() > kTuning.listing.most_columns) collect(false);
  for (Pool& pool : pools_)
    for (const formulation::ResidualClassIndex residual : pool.residuals) {
      const formulation::ResidualClass& r = supply_.residuals[residual];
      for (std::size_t i = 0; i < r.free.size(); ++i)
        pool.free[i] = saturating_add(pool.free[i], saturating_multiply(r.count(), std::max<Amount>(0, r.free[i])));
      const DeviceUnits whole = problem_.node_classes[r.node_class].device_capacity();
      std::int64_t others = 0;
      for (const NodeIndex node : r.nodes) {
        if (!anchored_.is_anchored(node)) {
          ++others;
          continue;
        }
        pool.anchored.push_back(node);
        std::int32_t device = 0;
        for (const DeviceUnits free : base_.free_devices(node))
          if (!anchored_.is_shared(node, device++) && free < whole) ++pool.devices[millionths_of(free, whole)];
      }
      if (others == 0) continue;
      for (const DeviceUnits free : r.free_devices) pool.devices[millionths_of(free, whole)] += others;
    }
  add_shared_ports();
}

// Pods that run on one node may go on sharing a host port. Of other resources no node is exceeded (see
// pooled_supply.h).
void SumRows::add_shared_ports() {
  const std::size_t first = problem_.resource_count - problem_.host_port_count();
  std::map<std::pair<NodeIndex, std::size_t>, Amount> held;
  for (const formulation::RunningCell& cell : demand_.running)
    for (std::size_t r = first; r < problem_.resource_count; ++r)
      if (problem_.class_of(cell.pods.front()).request[r] > 0)
        for (const PodIndex pod : cell.pods) ++held[{problem_.pods[pod].node, r}];
  for (const auto& [at, pods] : held) {
    const auto& [node, r] = at;
    const Amount beyond = pods - std::max<Amount>(0, base_.free(node)[r]);
    if (beyond <= 0) continue;
    Pool& pool = pools_[pool_of_[supply_.residual_of[node]]];
    pool.free[r] += beyond;
    pool.beyond += beyond;
  }
}

void SumRows::make_shapes() {
  Indexed<formulation::DemandIndex, std::set<std::pair<formulation::ZoneIndex, std::size_t>>> taken_by(
      demand_.classes.size());
  for (const formulation::ResidualClassIndex residual : supply_.residuals.indices())
    for (const formulation::DemandIndex d : supply_.residuals[residual].demands)
      taken_by[d].emplace(supply_.residuals[residual].zone, pool_of_[residual]);
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
    shape_of_.push_back(found->second);
    if (is_new) shapes_.push_back({&pod_class, is_anchored, pools, {}, 0});
    shapes_[found->second].asked.add(asked.pods);
    shapes_[found->second].most += demand_.classes[asked.demand].count;
  }
}

std::int64_t SumRows::most_in(const Pool& pool, const Shape& shape) const {
  std::int64_t most = pool.beyond;
  for (const formulation::ResidualClassIndex residual : pool.residuals) {
    const formulation::ResidualClass& r = supply_.residuals[residual];
    most = saturating_add(
        most, saturating_multiply(r.count(), most_alone(*shape.pod_class, problem_.node_classes[r.node_class], r)));
  }
  return std::min(most, shape.most);
}

// The least that one takes of a device of the pool.
std::int64_t SumRows::share_in(const Pool& pool, const PodClass& pod_class) const {
  if (pod_class.gpu.kind == GpuRequestKind::kWhole) return kMillionths;
  std::int64_t share = kMillionths;
  for (const formulation::ResidualClassIndex residual : pool.residuals) {
    const NodeClass& node_class = problem_.node_classes[supply_.residuals[residual].node_class];
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
        const std::int32_t first = model_.columns();
        part.pods.add(model_.add_column(0, static_cast<double>(most), false, name("f", g, parts_[g].size())), 1);
        part.column = first;
        own(first, g);
        rest.add(part.pods, -1);
      } else if (most < shape.most) {
        model_.add_constraint(shape.asked, -lp::kInfinity, static_cast<double>(most), "most");
      }
      parts_[g].push_back(std::move(part));
    }
    if (shape.pools.size() > 1) model_.add_constraint(rest, 0, 0, "shape");
  }
}

std::vector<std::pair<std::int32_t, std::int64_t>> SumRows::decisions_of(
    const std::vector<formulation::PlanColumns::Place>& places) const {
  std::map<std::pair<formulation::DemandIndex, formulation::ZoneIndex>, std::size_t> shapes;
  for (std::size_t i = 0; i < shape_of_.size(); ++i)
    shapes[{formulation_.asked()[i].demand, formulation_.asked()[i].zone}] = shape_of_[i];
  std::map<std::pair<const Shape*, std::size_t>, std::int64_t> pods;  // by shape and pool
  for (const formulation::PlanColumns::Place& place : places) {
    const formulation::ResidualClassIndex residual = supply_.residual_of[place.node];
    const auto found = shapes.find({place.demand, place.zone});
    if (!residual.is_none() && found != shapes.end()) ++pods[{&shapes_[found->second], pool_of_[residual]}];
  }
  std::vector<std::pair<std::int32_t, std::int64_t>> decisions;
  for (std::size_t pool = 0; pool < pools_.size(); ++pool)
    for (const Part& part : parts_[pool]) {
      if (part.column < 0) continue;
      const auto found = pods.find({part.shape, pool});
      decisions.emplace_back(part.column, found == pods.end() ? 0 : found->second);
    }
  return decisions;
}

// The columns from `first` on are about the zone of the pool.
void SumRows::own(std::int32_t first, std::size_t pool) {
  const formulation::ZoneIndex zone = supply_.residuals[pools_[pool].residuals.front()].zone;
  formulation_.set_owner(first, {formulation::GangClassIndex::none(), NodeIndex::none(), zone});
}

void SumRows::add_one_a_node() {
  Indexed<formulation::DemandIndex, std::map<formulation::ZoneIndex, std::int64_t>> nodes(demand_.classes.size());
  for (const formulation::ResidualClassIndex residual : supply_.residuals.indices()) {
    const formulation::ResidualClass& r = supply_.residuals[residual];
    for (const formulation::DemandIndex d : r.demands) {
      const PodClassIndex pod_class = demand_.classes[d].pod_class;
      const bool one_a_node = anti_affinity_.conflict(pod_class, pod_class, r.nodes.front());
      std::int64_t& most = nodes[d][r.zone];
      most = saturating_add(most, one_a_node ? r.count() : demand_.classes[d].count);
    }
  }
  for (const formulation::AskedPods& asked : formulation_.asked()) {
    if (!demand_.classes[asked.demand].stays.is_none()) continue;
    std::int64_t most = 0;
    for (const auto& [zone, count] : nodes[asked.demand])
      if (asked.zone.is_none() || asked.zone == zone) most = saturating_add(most, count);
    if (most < demand_.classes[asked.demand].count)
      model_.add_constraint(asked.pods, -lp::kInfinity, static_cast<double>(most), "one_a_node");
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
  for (const NodeIndex node : pools_[pool].anchored) {
    const DeviceUnits whole_device = problem_.device_capacity(node);
    std::int32_t device = 0;
    for (const DeviceUnits free : base_.free_devices(node))
      if (anchored_.is_shared(node, device++) || free == whole_device) capacity += millionths_of(free, whole_device);
  }
  if (!all.terms.empty()) model_.add_constraint(all, -lp::kInfinity, static_cast<double>(capacity), "devices");
  AnchoredRows::Offer offer;
  if (pools_[pool].anchored.empty()) {
    offer.opened.constant = idle;
    offer.opened.add(whole, -1);
  } else {
    offer = offer_of(pool);
  }
  add_patterns(pool, offer);
}

std::int64_t SumRows::idle_devices(NodeIndex node) const {
  const formulation::ResidualClass& residual = supply_.residuals[supply_.residual_of[node]];
  return std::ranges::count(residual.free_devices, problem_.device_capacity(node));
}

// Whole devices by size: what stays is in the rows of its node, the rest needs places on some node.
AnchoredRows::Offer SumRows::offer_of(std::size_t pool) {
  std::map<std::int32_t, lp::LinearExpression> supply;
  for (const Part& part : parts_[pool])
    if (part.share >= kMillionths && part.shape->pod_class->gpu.devices > 0 && !part.shape->is_anchored)
      supply[part.shape->pod_class->gpu.devices].add(part.pods, -1);
  AnchoredRows::Offer offer;
  for (const auto& [size, asked] : supply) offer.whole[size] = {};
  for (const NodeIndex node : pools_[pool].anchored) anchored_.add(node, idle_devices(node), offer);
  const auto idle = pools_[pool].devices.find(kMillionths);  // of the other nodes
  if (idle != pools_[pool].devices.end() && idle->second > 0) {
    lp::LinearExpression used;
    for (auto& [size, pods] : offer.whole) {
      std::int64_t most = 0;
      for (const formulation::ResidualClassIndex residual : pools_[pool].residuals)
        for (const NodeIndex node : supply_.residuals[residual].nodes)
          if (!anchored_.is_anchored(node)) most += idle_devices(node) / size;
      const std::int32_t column =
          model_.add_column(0, static_cast<double>(most), true, "y" + std::to_string(model_.columns()));
      own(column, pool);
      used.add(column, size);
      pods.add(column, 1);
    }
    const std::int32_t opened =
        model_.add_column(0, static_cast<double>(idle->second), true, "h" + std::to_string(model_.columns()));
    own(opened, pool);
    used.add(opened, 1);
    offer.opened.add(opened, 1);
    model_.add_constraint(used, -lp::kInfinity, static_cast<double>(idle->second), "others");
  }
  for (auto& [size, asked] : supply) {
    asked.add(offer.whole[size]);
    model_.add_constraint(asked, 0, lp::kInfinity, "places");
  }
  return offer;
}

// Sharers that stay on their device are in what it offers.
void SumRows::add_patterns(std::size_t pool, const AnchoredRows::Offer& offer) {
  std::map<std::int64_t, lp::LinearExpression> sharers;  // less what patterns hold; by share
  std::map<std::int64_t, std::int64_t, std::greater<>> stock;
  lp::LinearExpression all;
  for (const Part& part : parts_[pool]) {
    const std::int32_t devices = part.shape->pod_class->gpu.devices;
    if (devices == 0 || part.share >= kMillionths || part.share == 0 || part.shape->is_anchored) continue;
    sharers[part.share].add(part.pods, devices);
    stock[part.share] += part.most * devices;
    all.add(part.pods, devices * part.share);
  }
  std::map<std::int64_t, lp::LinearExpression> levels = offer.levels;  // by what is free: devices
  for (const auto& [free, count] : pools_[pool].devices)
    if (free != kMillionths) levels[free].constant += count;
  levels[kMillionths].add(offer.opened);
  std::vector<lp::Sharers> shares;
  for (const auto& [share, pods] : stock) shares.push_back({share, pods});
  std::map<std::int64_t, std::vector<lp::Filling>> fillings;  // by what is free
  std::size_t tries = kTuning.listing.few;
  for (const auto& [free, devices] : levels)
    if (auto found = lp::maximal_fillings(free, shares, tries); found) fillings.emplace(free, *std::move(found));
  if (fillings.size() < levels.size()) {
    for (const auto& [free, devices] : levels) all.add(devices, -free);
    model_.add_constraint(all, -lp::kInfinity, 0, "shares");
    model_.add_constraint(offer.opened, 0, lp::kInfinity, "idle");
    return;
  }
  std::int64_t idle = 0;
  for (const formulation::ResidualClassIndex residual : pools_[pool].residuals)
    for (const NodeIndex node : supply_.residuals[residual].nodes) idle += idle_devices(node);
  for (auto& [free, left] : levels) {
    const std::int64_t most = free == kMillionths ? idle : left.constant + std::ssize(left.terms);
    for (const lp::Filling& filling : fillings.at(free)) {
      if (lp::is_empty(filling)) continue;
      const std::int32_t column =
          model_.add_column(0, static_cast<double>(most), true, "p" + std::to_string(model_.columns()));
      own(column, pool);
      left.add(column, -1);
      for (std::size_t i = 0; i < shares.size(); ++i)
        if (filling[i] > 0) sharers[shares[i].units].add(column, -filling[i]);
    }
    if (!left.terms.empty()) model_.add_constraint(left, 0, lp::kInfinity, name("kind", pool, 0));
  }
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
    for (const formulation::ResidualClassIndex residual : pools_[pool].residuals) {
      const formulation::ResidualClass& r = supply_.residuals[residual];
      const DeviceUnits capacity = problem_.node_classes[r.node_class].device_capacity();
      parts += r.count() * (std::ranges::count(r.free_devices, capacity) / size);
    }
    model_.add_constraint(used, -lp::kInfinity, static_cast<double>(parts), "size");
  }
}

}  // namespace muster::choice
