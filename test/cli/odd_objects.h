// Ways to break one object of a valid snapshot, for the tests of what does not add up.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace muster::cli {

using Json = nlohmann::ordered_json;

// Numbers from a seed, the same everywhere.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(seed * 2 + 1) {}
  // 0 .. count - 1. Requires count > 0.
  std::size_t below(std::size_t count) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::size_t>(state_ >> 33U) % count;
  }

 private:
  std::uint64_t state_;
};

// A snapshot of which one object is broken.
struct Mutant {
  Json snapshot;
  std::string object, name;  // that a warning has to name
  // One that adds up and has the same plan: without the object, with it held, or with the node full. None: only that
  // there is a plan is known.
  std::optional<Json> reference;
};

struct Mutation {
  std::string what;
  // None: the snapshot has nothing that can be broken in this way.
  std::function<std::optional<Mutant>(const Json&, Draws&)> breaks;
};

const std::vector<Mutation>& mutations();

}  // namespace muster::cli
