// The plans of a run so far, in a file, so that an interrupted run can continue: decided plans are not computed again.
//
// Shape: one line that names the run, then one plan line (`muster/v1`) a cycle. An incomplete last line is cut off.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/error_code.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"

namespace muster::cli {

class PlanLog {
 public:
  PlanLog() = default;
  ~PlanLog();
  PlanLog(const PlanLog&) = delete;
  PlanLog& operator=(const PlanLog&) = delete;

  // Opens or creates the file. `run` names the run; errors: NoInput if it cannot be opened, InvalidValue if it is of
  // another run.
  std::optional<InputError> open(const std::string& path, std::string_view run);

  // How many plans the file held when it was opened.
  std::size_t known() const { return lines_.size(); }
  // The plan of a cycle in the file. Errors: those of read_plan.
  Result<Plan> plan(std::size_t cycle, const Problem& problem) const;
  // Writes the next one; returns 0, or the errno of the failure. Does nothing if no file is open.
  int append(const Problem& problem, const Plan& plan) const;

 private:
  int file_ = -1;
  std::vector<std::string> lines_;
};

}  // namespace muster::cli
