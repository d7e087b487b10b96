// A simulation's events as a report page draws them: curves over time and the run times of the gangs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "io/json/json_document.h"
#include "io/json/json_writer.h"
#include "io/report/run_figures.h"
#include "model/base/error_code.h"

namespace muster::reporting {

// One simulation, event by event.
class ReportedSimulation {
 public:
  explicit ReportedSimulation(std::string label) : label_(std::move(label)) {}

  // Takes the event that the document holds; the first one must be `simulation`, the header. Errors: those of keys and
  // values, UnknownName of a gang or queue that no earlier event introduced, InvalidValue of an event out of order.
  std::optional<InputError> take(json::JsonDocument& document);

  // Whether there is anything to draw.
  bool has_header() const { return has_header_; }

  // Whether an event is the header, which begins another simulation.
  static bool is_header(json::JsonDocument& document);

  // Appends one JSON object; its keys are documented in io/report/page/README.md. Instants are seconds since the start.
  void write(json::JsonWriter& json) const;

 private:
  struct NodeChange {
    double time = 0;
    std::string name, change;
  };

  [[nodiscard]] bool take(json::Reading& in, json::JsonValue line);
  [[nodiscard]] bool take_header(json::Reading& in, json::JsonValue line, double time);
  [[nodiscard]] bool take_after_header(json::Reading& in, json::JsonValue line, const EventHead& head);
  [[nodiscard]] bool take_submit(json::Reading& in, json::JsonValue line);
  [[nodiscard]] bool take_cycle(json::Reading& in, json::JsonValue line);
  [[nodiscard]] bool take_node(json::Reading& in, json::JsonValue line);
  [[nodiscard]] bool take_of_gang(json::Reading& in, json::JsonValue line, std::string_view what);
  std::int32_t queue_number(std::string_view name);
  double now() const { return last_ - start_; }
  void write_node_changes(json::JsonWriter& json) const;

  std::string label_, policy_, cycle_;
  bool has_header_ = false;
  double start_ = 0, last_ = 0;  // the time of the header and that of the last event
  std::vector<std::string> queues_;
  std::unordered_map<std::string, std::int32_t> queue_numbers_;
  GangHistory gangs_;
  CycleCurves cycles_;
  RunFigures figures_;
  std::vector<NodeChange> node_changes_;
};

}  // namespace muster::reporting
