// How long gangs are expected to run, when they end and how senior they are (docs/semantics.md, "Over time"), worked
// out from the snapshot.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "model/problem/problem.h"

namespace muster::referee {

// Whether the rules over time apply. Cost: O(gangs + pods).
bool tells_durations(const Snapshot& snapshot);

class Forecast {
 public:
  // Both outlive it.
  Forecast(const Snapshot& snapshot, const Problem& problem);

  Nanoseconds waited(GangIndex gang) const;  // since it was created, at least 0
  bool has_timed_out(GangIndex gang) const;  // of a gang with a pending pod
  // From its start. Cost: O(pods of the gang + histories of its queue).
  Nanoseconds duration(GangIndex gang) const;
  // Of a gang with this duration.
  std::int64_t seniority(GangIndex gang, Nanoseconds duration) const;
  // The instant at which a gang that runs is expected to end.
  Nanoseconds end(GangIndex gang) const;

 private:
  std::int64_t size(GangIndex gang) const;
  std::optional<DurationHistory> history(std::string_view queue, std::int64_t gpus) const;
  Nanoseconds by_histories(std::string_view queue, std::int64_t gpus) const;

  const Snapshot& snapshot_;
  const Problem& problem_;
  std::map<std::string_view, std::vector<DurationHistory>> histories_;  // by queue; "": of all queues
};

// The whole part of 1000 x n^(2/3), of at most 2^40. Requires n >= 0.
std::int64_t thousand_times_two_thirds_power(std::int64_t n);

}  // namespace muster::referee
