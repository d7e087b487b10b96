// How long a gang is expected to run, by what it tells or by the gangs of its size that have finished, and what that
// means for its turn.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "model/base/tuning.h"
#include "model/snapshot/snapshot.h"

namespace muster {

// No duration is expected to be shorter, and nothing that runs to end sooner.
inline constexpr Nanoseconds kShortestExpected = kTuning.over_time.shortest_seconds * kNanosecondsPerSecond;

class ExpectedDurations {
 public:
  // `policy` must outlive it. Cost: O(histories log histories).
  explicit ExpectedDurations(const OverTime& policy);

  // Of a gang of this queue whose minimum has so many GPUs: what it tells; else the mean of the history of its size, to
  // which OverTimeTuning::imagined gangs of a usual duration are added; of the history of its queue, if there is one,
  // to which OverTimeTuning::borrowed gangs of that mean are added. At least kShortestExpected. Cost: O(histories of
  // the queue).
  Nanoseconds expected(std::string_view queue, std::int64_t gpus, std::optional<Nanoseconds> told) const;

 private:
  using Histories = std::vector<const DurationHistory*>;
  static const DurationHistory* find(const Histories& histories, std::int64_t gpus);

  Histories of_all_;
  std::map<std::string_view, Histories> of_queue_;
};

// What is left of a gang that has run for `run_time`. Of one that runs for longer than expected: half of its run time,
// and at least OverTimeTuning::overrun_seconds. At least kShortestExpected.
Nanoseconds expected_rest(Nanoseconds expected, Nanoseconds run_time);

// Thousandths of GPUs^(2/3) x (seconds waited + OverTimeTuning::added_seconds) / (expected seconds), rounded down.
// Requires gpus >= 1, waited >= 0 and expected >= kShortestExpected. Exact, in integers; saturates.
std::int64_t turn_index(std::int64_t gpus, std::int64_t waited_seconds, Nanoseconds expected);

}  // namespace muster
