#include "datasets/simulation/simulated_nodes.h"

#include <algorithm>

#include "model/base/require.h"

namespace muster::simulation {

// Runs of falling uniform numbers u1 >= u2 >= ... : a run of odd length is accepted with probability e^-u1, and then
// the span is u1 plus one for each run that was not.
Nanoseconds exponential_span(generator::Random& random, Nanoseconds mean) {
  MUSTER_REQUIRE(0 < mean && mean <= Nanoseconds{1} << 57);
  constexpr std::uint64_t kMostRefused = 60;  // e^-60 is never seen
  for (std::uint64_t refused = 0;; ++refused) {
    const std::uint64_t first = random.next();
    std::uint64_t last = first, length = 1;
    for (std::uint64_t next = random.next(); next <= last; next = random.next()) {
      last = next;
      ++length;
    }
    if (length % 2 == 0 && refused < kMostRefused) continue;
    // mean x (refused + first / 2^64), by halves of 32 bits.
    const auto scale = static_cast<std::uint64_t>(mean);
    const std::uint64_t high = (first >> 32) * (scale >> 32);
    const std::uint64_t middle =
        ((first >> 32) * (scale & 0xFFFF'FFFF) >> 32) + ((first & 0xFFFF'FFFF) * (scale >> 32) >> 32);
    const std::uint64_t span =
        std::min(scale * std::min(refused, kMostRefused) + high + middle, static_cast<std::uint64_t>(INT64_MAX) >> 1);
    return std::max<Nanoseconds>(1, static_cast<Nanoseconds>(span));
  }
}

const SnapshotNode& SimulatedNodes::add(const SnapshotNode& node, Nanoseconds now) {
  const SnapshotNode& added = snapshot_.nodes.emplace_back(node);
  const std::size_t number = states_.size();
  number_.push_back(number);
  states_.push_back({NodeFailures(failures_, number), false, node.unschedulable, false});
  if (failures_.mean_between > 0) changes_.push({now + states_.back().failures.until_failure(), number});
  if (!added.unschedulable) capacity_ += work_of(added);
  return added;
}

std::optional<std::size_t> SimulatedNodes::find(std::string_view name) const {
  const auto found = std::ranges::find(snapshot_.nodes, name, &SnapshotNode::name);
  if (found == snapshot_.nodes.end()) return std::nullopt;
  return static_cast<std::size_t>(found - snapshot_.nodes.begin());
}

void SimulatedNodes::remove(std::size_t position) {
  MUSTER_REQUIRE(position < number_.size());
  State& state = states_[number_[position]];
  if (state.is_down) --down_;
  state.is_removed = true;
  set_unschedulable(position, true);
  snapshot_.nodes.erase(snapshot_.nodes.begin() + static_cast<std::ptrdiff_t>(position));
  number_.erase(number_.begin() + static_cast<std::ptrdiff_t>(position));
}

void SimulatedNodes::set_cordoned(std::size_t position, bool is_cordoned) {
  MUSTER_REQUIRE(position < number_.size());
  State& state = states_[number_[position]];
  state.is_cordoned = is_cordoned;
  set_unschedulable(position, state.is_cordoned || state.is_down);
}

std::optional<Nanoseconds> SimulatedNodes::next_change() const {
  if (changes_.empty()) return std::nullopt;
  return changes_.top().time;
}

std::optional<SimulatedNodes::Change> SimulatedNodes::change_next(Nanoseconds now) {
  MUSTER_REQUIRE(!changes_.empty());
  const std::size_t number = changes_.top().number;
  changes_.pop();
  State& state = states_[number];
  if (state.is_removed) return std::nullopt;
  const auto position = static_cast<std::size_t>(std::ranges::find(number_, number) - number_.begin());
  state.is_down = !state.is_down;
  down_ += state.is_down ? 1 : -1;
  set_unschedulable(position, state.is_down || state.is_cordoned);
  changes_.push({now + (state.is_down ? state.failures.until_repair() : state.failures.until_failure()), number});
  return Change{state.is_down ? NodeEvent::kFailed : NodeEvent::kRepaired, snapshot_.nodes[position]};
}

Work SimulatedNodes::work_of(const SnapshotNode& node) const {
  Work work = Work{node.gpu_count} * 1000;
  for (const ResourceAmount& amount : node.resources) {
    work += amount.amount * mig_slice_work(snapshot_.resource_names[amount.resource]);
  }
  return work;
}

void SimulatedNodes::set_unschedulable(std::size_t position, bool is_unschedulable) {
  SnapshotNode& node = snapshot_.nodes[position];
  if (node.unschedulable == is_unschedulable) return;
  node.unschedulable = is_unschedulable;
  capacity_ += is_unschedulable ? -work_of(node) : work_of(node);
}

}  // namespace muster::simulation
