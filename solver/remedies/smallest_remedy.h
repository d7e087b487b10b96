// The smallest number of things, and the smallest set of things, with which a test succeeds.
//
// Each test is a whole solve, so both searches begin at a guess, and both look below what they find: more of a thing
// may harm a gang, since others may profit from it first, so that success need not be monotone.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "model/snapshot/snapshot.h"
#include "solver/answers/standing.h"
#include "solver/remedies/admission.h"

namespace muster::answers {

struct SmallestCount {
  std::int64_t count = 0;
  Admitted with;  // the plan with so many
  // The plan with one less is proven optimal, and fails; of the least count, this is left to the caller.
  bool is_smallest = false;
};

struct CountRange {
  std::int64_t least = 1, guess = 1, most = 1;  // least <= guess <= most
};

// Whether what is smaller than the first find is tried, too, as long as the test answers.
enum class Depth : std::uint8_t { kRough, kThorough };

// The number of tests is logarithmic in the distance from the guess; thoroughly, all smaller numbers are tried then,
// downwards. None: no number that was tried succeeds.
using CountTest = std::function<std::optional<Admitted>(std::int64_t)>;
std::optional<SmallestCount> smallest_count(CountRange range, const CountTest& test, Depth depth);

struct SmallestSet {
  std::vector<std::size_t> items;  // positions, ascending
  std::int64_t weight = 0;         // their sum
  Admitted with;
  // Every set that weighs less was tried, and failed in a plan that is proven optimal; except the empty one.
  bool is_smallest = false;
};

// Of items with these weights (above zero), the more promising ones first. The first `guess` of them are tried, then
// twice as many, and so on; then the shortest beginning of the list that succeeds, of which items are left out one by
// one; thoroughly, all lighter sets then. None: no beginning succeeds, or the tests ended before the shortest one was
// found.
using SetTest = std::function<std::optional<Admitted>(const std::vector<std::size_t>&)>;
std::optional<SmallestSet> smallest_set(const std::vector<std::int64_t>& weights, std::size_t guess,
                                        const SetTest& test, Depth depth);

// The clusters on which a remedy is sketched before it is tested: those that the plan leaves behind, with the gang and
// all that comes before it or is level.
//
// They serve for a guess, so a smaller one does: where a full node could only help by an eviction, it is left out.
class Rivals {
 public:
  // `gang` outlives the object. Cost: O(nodes + pods), as of the methods.
  explicit Rivals(const WaitingGang& gang);

  const Snapshot& on_all_nodes() const { return all_; }
  // The nodes with room for a pod of the gang, whether or not it is let in there, and one of each kind; those with pods
  // of gangs that wait; those of `gangs`.
  Snapshot on_open_nodes(const std::vector<GangIndex>& gangs = {}) const;

 private:
  const WaitingGang& gang_;
  Snapshot all_;
};

}  // namespace muster::answers
