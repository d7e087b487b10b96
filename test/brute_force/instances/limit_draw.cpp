#include "test/brute_force/instances/limit_draw.h"

#include <random>
#include <string>

namespace muster::brute_force {

void limit_queues(nlohmann::ordered_json& snapshot, std::uint64_t seed) {
  using Json = nlohmann::ordered_json;
  std::mt19937_64 random(seed * 0x9E37'79B9'7F4A'7C15U + 1759);
  const auto below = [&](std::uint64_t end) { return random() % end; };
  if (below(5) != 0) return;
  if (!snapshot.contains("queues")) snapshot["queues"] = Json::array({{{"name", "default"}}});
  // Enough of it on every node: only queues are short of it.
  for (Json& node : snapshot["nodes"]) node["resources"]["x.com/licence"] = 64;
  for (Json& pod : snapshot["pods"]) {
    if (below(2) == 0) pod["resources"]["x.com/licence"] = 1 + below(3);
  }
  for (Json& queue : snapshot["queues"]) {
    if (below(3) == 0) queue["resources"]["pods"]["limit"] = below(5);
    if (below(3) == 0) queue["resources"]["x.com/licence"]["limit"] = below(8);
  }
}

}  // namespace muster::brute_force
