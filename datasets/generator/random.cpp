#include "datasets/generator/random.h"

#include <bit>

#include "model/base/require.h"

namespace muster::generator {
namespace {

constexpr std::uint64_t kGoldenGamma = 0x9e3779b97f4a7c15;

std::uint64_t split_mix(std::uint64_t& state) {
  state += kGoldenGamma;
  std::uint64_t mixed = state;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}

}  // namespace

Random::Random(std::uint64_t seed, std::uint64_t stream) : state_{} {
  std::uint64_t mixer = stream;
  mixer = seed ^ (stream == 0 ? 0 : split_mix(mixer));
  for (std::uint64_t& word : state_) word = split_mix(mixer);
}

std::uint64_t Random::next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::uint64_t Random::below(std::uint64_t bound) {
  MUSTER_REQUIRE(bound >= 1);
  // Rejection under the smallest power of two that covers the bound: at least half of the draws are kept.
  if (bound <= 1) return 0;
  const int unused_bits = std::countl_zero(bound - 1);
  for (;;) {
    const std::uint64_t drawn = next() >> unused_bits;
    if (drawn < bound) return drawn;
  }
}

bool Random::chance(std::int64_t millionths) {
  if (millionths <= 0) return false;
  return below(1'000'000) < static_cast<std::uint64_t>(millionths);
}

std::size_t Random::weighted(std::span<const std::uint64_t> weights) {
  std::uint64_t sum = 0;
  for (const std::uint64_t weight : weights) sum += weight;
  MUSTER_REQUIRE(sum > 0);
  std::uint64_t drawn = below(sum);
  std::size_t position = 0;
  while (drawn >= weights[position]) drawn -= weights[position++];
  return position;
}

}  // namespace muster::generator
