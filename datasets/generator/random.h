// Random numbers that are the same on every platform, compiler and standard library.
//
// xoshiro256** (Blackman and Vigna, "Scrambled linear pseudorandom number generators", ACM TOMS 2021), its state filled
// by splitmix64 (Steele, Lea and Flood, OOPSLA 2014). Everything is drawn in integers: no std::*_distribution (whose
// output is not specified) and no floating point (which compilers may contract).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace muster::generator {

class Random {
 public:
  // `stream` separates the uses of one seed, so that drawing more for one of them does not shift the others.
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0);

  std::uint64_t next();
  // Uniform in 0..bound-1, without bias. Requires bound >= 1. Cost: fewer than two draws on average.
  std::uint64_t below(std::uint64_t bound);
  // True in `millionths` of a million cases.
  bool chance(std::int64_t millionths);
  // A position, drawn with the weight at it. Requires a positive sum. Cost: linear.
  std::size_t weighted(std::span<const std::uint64_t> weights);

 private:
  std::array<std::uint64_t, 4> state_;
};

}  // namespace muster::generator
