#include "datasets/generator/draw.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "datasets/generator/presets.h"
#include "model/base/require.h"

namespace muster::generator {
namespace {

constexpr std::array<std::int32_t, 4> kWholeCounts = {1, 2, 4, 8};
constexpr std::array<std::uint64_t, 4> kWholeWeights = {35, 10, 5, 10};
// Shares of a device in thousandths; round ones, and some that have no good complement.
constexpr std::array<std::int64_t, 10> kShares = {100, 200, 250, 300, 400, 500, 600, 700, 750, 800};

template <class Choices>
auto pick(const Choices& choices, Random& random) {
  return choices[random.below(choices.size())];
}

}  // namespace

std::int64_t millionths_of(double share) { return std::llround(share * 1e6); }

std::string pool_name(std::uint64_t pool) { return fmt::format("pool-{}", pool); }

std::vector<std::uint64_t> gang_size_weights(std::int32_t most) {
  constexpr std::uint64_t kScale = std::uint64_t{1} << 40;
  std::vector<std::uint64_t> weights;
  for (std::uint64_t size = 1; size <= static_cast<std::uint64_t>(most); ++size) {
    weights.push_back(std::max<std::uint64_t>(kScale / (size * size), 1));
  }
  return weights;
}

GangSource::GangSource(const GeneratorOptions& options)
    : options_(options), size_weights_(gang_size_weights(options.gangs.largest)) {
  MUSTER_REQUIRE_SLOW(!generator_fault(options));
  for (std::size_t i = 0; i < kWholeCounts.size(); ++i) {
    whole_weights_.push_back(kWholeCounts[i] <= options.cluster.gpus_per_node ? kWholeWeights[i] : 0);
  }
}

GangDraft GangSource::draw(Random& random, std::int64_t most_thousandths) const {
  GangDraft draft;
  draft.shape = draw_shape(random);
  const std::int64_t work =
      gpu_thousandths(draft.shape.gpu, std::max(options_.cluster.gpu_memory_gib, 1) * std::int64_t{1024});
  draft.size = static_cast<std::int32_t>(random.weighted(size_weights_)) + 1;
  const std::int64_t quarter = std::int64_t{250} * options_.cluster.nodes * options_.cluster.gpus_per_node;
  if (work > 0) {
    const std::int64_t most = std::min((most_thousandths + work - 1) / work, quarter / work);
    draft.size = static_cast<std::int32_t>(std::clamp<std::int64_t>(most, 1, draft.size));
  }
  draw_filters(draft.shape, random);
  draft.in_one_rack = random.chance(millionths_of(options_.gangs.topology_required));
  draft.preferably_in_one_zone = random.chance(millionths_of(options_.gangs.topology_preferred));
  draft.is_elastic = random.chance(millionths_of(options_.gangs.elastic));
  draft.has_subgroups = random.chance(millionths_of(options_.gangs.subgroups)) && draft.size >= 4;
  draft.shape.one_a_node = random.chance(millionths_of(options_.gangs.one_a_node)) && draft.size > 1;
  return draft;
}

PodShape GangSource::draw_shape(Random& random) const {
  const std::array<std::int64_t, 3> shares = {millionths_of(options_.pods.fractions),
                                              millionths_of(options_.pods.memory_requests),
                                              millionths_of(options_.pods.cpu_only)};
  auto drawn = static_cast<std::int64_t>(random.below(1'000'000));
  if (drawn < shares[0]) return draw_sharer(random);
  drawn -= shares[0];
  if (drawn < shares[1]) {
    PodShape shape = draw_sharer(random);
    const std::int64_t thousandths = shape.gpu.share / 1000;
    shape.gpu = {GpuRequestKind::kMemory, 1, options_.cluster.gpu_memory_gib * std::int64_t{1024} * thousandths / 1000};
    return shape;
  }
  return drawn - shares[1] < shares[2] ? draw_cpu_only(random) : draw_whole(random);
}

// A sharer takes one to three tenths of a GPU's part of the node's cores, and one or two of its part of the memory.
PodShape GangSource::draw_sharer(Random& random) const {
  constexpr std::array<std::int64_t, 3> kTenths = {1, 2, 3};
  PodShape shape;
  shape.gpu = {GpuRequestKind::kFraction, 1, pick(kShares, random) * 1000};
  const std::int64_t cpu = options_.cluster.cores_per_node * std::int64_t{1000} / options_.cluster.gpus_per_node;
  const std::int64_t memory =
      options_.cluster.memory_gib_per_node * std::int64_t{1024} / options_.cluster.gpus_per_node;
  shape.cpu_milli = std::max<std::int64_t>(cpu * pick(kTenths, random) / 10, 1);
  shape.memory_mib = memory * static_cast<std::int64_t>(1 + random.below(2)) / 10;
  return shape;
}

// A whole GPU brings two to six sixths of its part of the node's cores, and one, two or four quarters of that of the
// memory.
PodShape GangSource::draw_whole(Random& random) const {
  constexpr std::array<std::int64_t, 3> kQuarters = {1, 2, 4};
  PodShape shape;
  const std::int64_t count = kWholeCounts[random.weighted(whole_weights_)];
  shape.gpu = {GpuRequestKind::kWhole, static_cast<std::int32_t>(count), 0};
  const std::int64_t cpu = options_.cluster.cores_per_node * count * 1000 / options_.cluster.gpus_per_node;
  const std::int64_t memory = options_.cluster.memory_gib_per_node * count * 1024 / options_.cluster.gpus_per_node;
  shape.cpu_milli = std::max<std::int64_t>(cpu * static_cast<std::int64_t>(2 + random.below(5)) / 6, 1);
  shape.memory_mib = memory * pick(kQuarters, random) / 4;
  return shape;
}

PodShape GangSource::draw_cpu_only(Random& random) const {
  constexpr std::array<std::int64_t, 4> kParts = {48, 24, 12, 6};  // of a node
  PodShape shape;
  shape.cpu_milli =
      std::max<std::int64_t>(options_.cluster.cores_per_node * std::int64_t{1000} / pick(kParts, random), 1);
  shape.memory_mib = options_.cluster.memory_gib_per_node * std::int64_t{1024} / pick(kParts, random);
  return shape;
}

void GangSource::draw_filters(PodShape& shape, Random& random) const {
  shape.tolerates_taint = random.chance(millionths_of(options_.cluster.tainted));
  if (random.chance(millionths_of(options_.cluster.selecting))) shape.pool = pool_name(random.below(kPoolCount));
  const bool is_choosy = random.chance(millionths_of(options_.pods.selecting_models));
  if (!is_choosy || shape.gpu.kind == GpuRequestKind::kNone) return;
  // Each model is in or out by the toss of a coin; if none is in, all are accepted.
  for (const std::string& model : options_.cluster.gpu_models) {
    if (random.below(2) == 0) shape.gpu_models.push_back(model);
  }
  std::ranges::sort(shape.gpu_models);
}

}  // namespace muster::generator
