// Which engine a plan comes from, and what is proven of it: `solver` of docs/format.md, "Plan".
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace muster {

enum class Origin : std::uint8_t { kGreedy, kSearch, kMilp, kNone };  // none: the plan does nothing
enum class Proof : std::uint8_t { kOptimal, kWithinGap, kHeuristic };

inline constexpr std::array kOrigins = {Origin::kGreedy, Origin::kSearch, Origin::kMilp, Origin::kNone};
inline constexpr std::array kProofs = {Proof::kOptimal, Proof::kWithinGap, Proof::kHeuristic};

constexpr std::string_view origin_name(Origin origin) {
  constexpr std::array<std::string_view, kOrigins.size()> kNames = {"greedy", "search", "milp", "none"};
  return kNames[static_cast<std::size_t>(origin)];
}

constexpr std::string_view proof_name(Proof proof) {
  constexpr std::array<std::string_view, kProofs.size()> kNames = {"optimal", "withinGap", "heuristic"};
  return kNames[static_cast<std::size_t>(proof)];
}

}  // namespace muster
