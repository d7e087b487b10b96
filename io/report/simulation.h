// A simulation's events as a report page draws them: curves over time and the run times of the gangs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "io/json/json_document.h"
#include "io/json/json_writer.h"
#include "model/base/error.h"

namespace muster {

// One simulation, event by event. Curves keep at most twice kMostCycles cycles: beyond that every second one is
// removed, and its counts are added to the next.
class ReportedSimulation {
 public:
  static constexpr std::size_t kMostCycles = 3000;

  explicit ReportedSimulation(std::string label) : label_(std::move(label)) {}

  // Takes the event that the document holds; the first one must be `simulation`, the header. Errors: those of keys and
  // values, UnknownName of a gang or queue that no earlier event introduced, InvalidValue of an event out of order.
  std::optional<InputError> take(JsonDocument& document);

  // Whether there is anything to draw.
  bool has_header() const { return has_header_; }

  // Whether an event is the header, which begins another simulation.
  static bool is_header(JsonDocument& document);

  // Appends one JSON object; its keys are documented in io/report/page/README.md. Instants are seconds since the start.
  void write(JsonWriter& json) const;

 private:
  struct Event;
  friend struct EventFields;

  struct Gang {
    std::string name;
    std::int32_t queue = 0;
    std::int64_t priority = 0, pods = 0;
    double gpus = 0, submitted = 0;
    std::optional<double> left;  // finished or dropped
    bool is_dropped = false;
    std::optional<double> runs_since;
    std::string evicted_for;  // the reason of the last eviction since it runs
  };
  struct Run {
    std::size_t gang = 0;
    double from = 0, to = 0;
    std::string end;
  };
  struct Cycle {
    double time = 0, capacity = 0, allocated = 0, fragmentation = -1;
    std::int64_t running = 0, pending = 0, placed = 0, evicted = 0, moved = 0, waiting_gangs = 0;
    double waiting_gpus = 0;
    std::vector<double> fair_share, used;  // by queue
  };
  struct Queue {
    std::string name;
    std::optional<double> quota;
  };
  struct NodeChange {
    double time = 0;
    std::string name, change;
  };

  void take_header(const Event& event);
  void take_submit(const Event& event);
  void take_of_gang(const Event& event, std::size_t gang);
  void take_cycle(const Event& event);
  void end_run(std::size_t gang, double time, std::string_view how);
  std::int32_t queue_number(std::string_view name);
  void thin();
  void write_gangs(JsonWriter& json) const;
  void write_runs(JsonWriter& json) const;
  void write_cycles(JsonWriter& json) const;

  std::string label_, policy_, cycle_;
  bool has_header_ = false;
  double start_ = 0, last_ = 0;
  std::vector<Queue> queues_;
  std::unordered_map<std::string, std::int32_t> queue_numbers_;
  std::vector<Gang> gangs_;
  std::unordered_map<std::string, std::size_t> gang_numbers_;
  std::vector<Run> runs_;
  std::vector<Cycle> cycles_;
  std::size_t stride_ = 1, since_kept_ = 0;
  Cycle passed_over_;  // the counts of cycles that are not kept
  std::vector<NodeChange> node_changes_;
};

}  // namespace muster
