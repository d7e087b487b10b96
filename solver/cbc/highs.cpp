#include "solver/cbc/highs.h"

#ifdef MUSTER_HIGHS
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <interfaces/highs_c_api.h>  // the C interface is the one that stays as it is between versions
#endif

#include "model/base/require.h"

namespace muster::cbc {

#ifdef MUSTER_HIGHS

namespace {

static_assert(std::is_same_v<HighsInt, std::int32_t>, "the model's arrays are passed as they are");

// Tighter than HiGHS's own 1e-6, with which large coefficients let points count that are none.
constexpr double kTolerance = 1e-7;
constexpr double kNoGap = 1e-6;  // HiGHS sets the bound to the value once it has searched everything

class HighsSearch {
 public:
  HighsSearch(const lp::Milp& milp, const MilpRequest& request, const IncumbentListener& listener)
      : milp_(milp), request_(request), record_(milp, request, listener), highs_(Highs_create(), &Highs_destroy) {}

  MilpAnswer run() {
    set_options();
    if (!load()) return failure("HiGHS does not take the model");
    if (!request_.start.empty()) Highs_setSolution(highs_.get(), request_.start.data(), nullptr, nullptr, nullptr);
    Highs_setCallback(highs_.get(), &hear, this);
    Highs_startCallback(highs_.get(), kHighsCallbackMipImprovingSolution);
    Highs_startCallback(highs_.get(), kHighsCallbackMipInterrupt);
    Highs_startCallback(highs_.get(), kHighsCallbackMipLogging);
    if (Highs_run(highs_.get()) == kHighsStatusError) return failure("HiGHS failed");
    return conclude();
  }
  // HiGHS (1.16) returns the start as its solution where presolve solves what is left; its value is right.
  bool has_lost_solution() const { return has_lost_solution_; }

 private:
  static MilpAnswer failure(const std::string& why) {
    MilpAnswer answer;
    answer.message = why;
    return answer;
  }

  static void hear(int what, const char* /*text*/, const HighsCallbackDataOut* told, HighsCallbackDataIn* /*answer*/,
                   void* self) {
    HighsSearch& search = *static_cast<HighsSearch*>(self);
    search.hear_bound(told->mip_dual_bound);
    if (what == kHighsCallbackMipImprovingSolution && told->mip_solution != nullptr)
      search.record_.offer({told->mip_solution, told->mip_solution + search.milp_.columns()});
  }

  void hear_bound(double cost) {
    if (!std::isfinite(cost) || std::abs(cost) >= 1e30) return;
    record_.tighten(-cost);
    record_.tell_bound();
  }

  void set_options() const {
    void* highs = highs_.get();
    const double left = std::chrono::duration<double>(request_.deadline - std::chrono::steady_clock::now()).count();
    Highs_setBoolOptionValue(highs, "output_flag", 0);
    Highs_setIntOptionValue(highs, "threads", 1);
    Highs_setStringOptionValue(highs, "parallel", "off");
    Highs_setDoubleOptionValue(highs, "time_limit", std::max(left, 0.001));
    Highs_setDoubleOptionValue(highs, "mip_rel_gap", std::max(request_.relative_gap, 0.0));
    Highs_setDoubleOptionValue(highs, "mip_abs_gap", std::max(request_.absolute_gap, 0.0));
    Highs_setDoubleOptionValue(highs, "mip_feasibility_tolerance", kTolerance);
    if (request_.node_limit >= 0) {
      const std::int64_t most = std::numeric_limits<HighsInt>::max();
      Highs_setIntOptionValue(highs, "mip_max_nodes", static_cast<HighsInt>(std::min(request_.node_limit, most)));
    }
  }

  // A minimisation of the negated objective, as for CBC.
  bool load() const {
    std::vector<double> cost(milp_.objective.size());
    std::transform(milp_.objective.begin(), milp_.objective.end(), cost.begin(), std::negate<>());
    const std::vector<HighsInt> integrality(milp_.is_integer.begin(), milp_.is_integer.end());
    return Highs_passMip(highs_.get(), milp_.columns(), milp_.rows(), static_cast<HighsInt>(milp_.entries()),
                         kHighsMatrixFormatColwise, kHighsObjSenseMinimize, 0, cost.data(), milp_.lower.data(),
                         milp_.upper.data(), milp_.row_lower.data(), milp_.row_upper.data(), milp_.column_begin.data(),
                         milp_.entry_row.data(), milp_.entry_value.data(), integrality.data()) != kHighsStatusError;
  }

  double information(const char* name) const {
    double value = 0;
    Highs_getDoubleInfoValue(highs_.get(), name, &value);
    return value;
  }

  MilpAnswer conclude() {
    const HighsInt status = Highs_getModelStatus(highs_.get());
    HighsInt solution = kHighsSolutionStatusNone;
    Highs_getIntInfoValue(highs_.get(), "primal_solution_status", &solution);
    double claimed = -lp::kInfinity;
    if (solution == kHighsSolutionStatusFeasible) {
      claimed = -information("objective_function_value");
      std::vector<double> x(milp_.objective.size());
      if (Highs_getSolution(highs_.get(), x.data(), nullptr, nullptr, nullptr) != kHighsStatusError)
        record_.offer(std::move(x));
    }
    if (!request_.start.empty()) record_.offer(request_.start);
    if (status == kHighsModelStatusUnbounded) return record_.unbounded();
    const bool is_optimal = status == kHighsModelStatusOptimal;
    bool has_stopped_on_gap = false;
    if (is_optimal) {
      const double cost_bound = information("mip_dual_bound");
      hear_bound(cost_bound);
      has_stopped_on_gap = -cost_bound > claimed + kNoGap;
    }
    has_lost_solution_ = is_optimal && !record_.has_claimed(claimed);
    std::int64_t nodes = 0;
    Highs_getInt64InfoValue(highs_.get(), "mip_node_count", &nodes);
    const bool is_finished = is_optimal || status == kHighsModelStatusInfeasible;
    MilpAnswer answer = is_finished ? record_.finished(claimed, has_stopped_on_gap) : record_.stopped(claimed);
    answer.nodes = nodes;
    return answer;
  }

  const lp::Milp& milp_;
  const MilpRequest& request_;
  SearchRecord record_;
  std::unique_ptr<void, void (*)(void*)> highs_;
  bool has_lost_solution_ = false;
};

}  // namespace

bool has_highs() { return true; }

MilpAnswer solve_with_highs(const lp::Milp& milp, const MilpRequest& request, const IncumbentListener& listener) {
  MUSTER_REQUIRE(milp.columns() > 0 && !request.relax && request.cutoff == -lp::kInfinity);
  HighsSearch search(milp, request, listener);
  MilpAnswer answer = search.run();
  if (!search.has_lost_solution() || request.start.empty()) return answer;
  MilpRequest again = request;
  again.start.clear();
  return HighsSearch(milp, again, listener).run();
}

#else

bool has_highs() { return false; }

MilpAnswer solve_with_highs(const lp::Milp& /*milp*/, const MilpRequest& /*request*/,
                            const IncumbentListener& /*listener*/) {
  MUSTER_REQUIRE(has_highs());
  return {};
}

#endif

}  // namespace muster::cbc
