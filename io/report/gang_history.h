// The gangs of a simulation and when they ran, as a report page draws them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "io/json/json_writer.h"
#include "io/report/run_figures.h"
#include "io/report/simulation_events.h"

namespace muster::reporting {

// Times are seconds since the start of the simulation, and never decrease.
class GangHistory {
 public:
  // A name may be used again once the gang that had it is gone.
  void submit(const SubmitEvent& event, std::int32_t queue, double time);
  // False: no gang of that name has been submitted. `what`: "start", "evict", "interrupt", "finish", "drop"; others
  // change nothing.
  [[nodiscard]] bool take(std::string_view what, const GangEvent& event, double time);

  // The GPUs of all gangs that run.
  double running_gpus() const { return running_gpus_; }
  // Of each gang, in the order of submission. Cost: O(gangs).
  std::vector<GangOutcome> outcomes(double end) const;

  // Appends ,"gangs":{...},"runs":{...}. What still runs ends at `end`. Cost: O(gangs + runs log runs).
  void write(json::JsonWriter& json, double end) const;

 private:
  struct Gang {
    std::string name;
    std::int32_t queue = 0;
    std::int64_t priority = 0, pods = 0;
    double gpus = 0, submitted = 0;
    std::optional<double> left;  // finished or dropped
    bool is_dropped = false;
    std::optional<double> first_start, runs_since;
    std::string evicted_for;  // the reason of the last eviction since it runs
  };
  struct Run {
    std::size_t gang = 0;
    double from = 0, to = 0;
    std::string end;
  };
  void end_run(std::size_t gang, double time, std::string_view how);
  void write_gangs(json::JsonWriter& json) const;
  void write_runs(json::JsonWriter& json, double end) const;

  std::vector<Gang> gangs_;
  std::unordered_map<std::string, std::size_t> numbers_;  // of the last gang of each name
  std::vector<Run> runs_;
  double running_gpus_ = 0;
};

}  // namespace muster::reporting
