// The plans of a run so far, in a file, so that a run that was cut off can go on: what has been decided is not decided
// again.
//
// Shape: one line that names the run, then one plan line (`muster/v1`) a cycle. A last line that is not whole is cut
// off.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/error.h"
#include "model/plan.h"
#include "model/problem.h"

namespace muster {

class PlanLog {
 public:
  PlanLog() = default;
  ~PlanLog();
  PlanLog(const PlanLog&) = delete;
  PlanLog& operator=(const PlanLog&) = delete;

  // Opens or creates the file. `run` names the run; errors: NoInput where it cannot be opened, InvalidValue where it is
  // of another run.
  std::optional<InputError> open(const std::string& path, std::string_view run);

  // How many plans the file held when it was opened.
  std::size_t known() const { return lines_.size(); }
  // The plan of a cycle that is known. Errors: those of read_plan.
  Result<Plan> plan(std::size_t cycle, const Problem& problem) const;
  // Writes the next one; returns 0, or the errno that stopped it. Nothing happens where no file is open.
  int append(const Problem& problem, const Plan& plan) const;

 private:
  int file_ = -1;
  std::vector<std::string> lines_;
};

}  // namespace muster
