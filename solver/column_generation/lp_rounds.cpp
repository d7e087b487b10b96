#include "solver/column_generation/lp_rounds.h"

namespace muster::column_generation {

cbc::MilpRequest relaxation_request(const Deadline& deadline) {
  cbc::MilpRequest request;
  request.relax = true;
  request.deadline = deadline.end();
  request.work = deadline.work();
  return request;
}

lp::Milp no_columns(const lp::Milp& master) {
  lp::Milp more;
  more.row_lower.assign(static_cast<std::size_t>(master.rows()), 0);
  more.row_upper = more.row_lower;
  return more;
}

std::string defect_of(const cbc::MilpAnswer& answer, const cbc::MilpRequest& request) {
  const bool has_failed = answer.status == cbc::SolveStatus::kFailed && Deadline::Clock::now() < request.deadline;
  return has_failed ? answer.message : std::string{};
}

}  // namespace muster::column_generation
