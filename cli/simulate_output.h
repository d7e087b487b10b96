// The records and the summary of a simulation as JSON (docs/simulation.md, "Events" and "Summary").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "datasets/simulation/simulation.h"

namespace muster::cli {

// What the run was, as both outputs begin with it.
struct SimulationTitle {
  std::string policy;
  std::string cycle;  // "period 60", "batch 16", "one by one"
  std::uint64_t seed = 1;
};

// One line each, with its line feed, appended to `out`.
void write_title(const SimulationTitle& title, const Workload& workload, std::string& out);
void write_record(const simulation::SimulationRecord& record, std::optional<double> cycle_ms, std::string& out);

// `cycle_ms`: of each cycle; empty: times are not reported.
void write_simulation_summary(const SimulationTitle& title, const simulation::Simulation& simulation,
                              std::vector<double> cycle_ms, std::string& out);

}  // namespace muster::cli
