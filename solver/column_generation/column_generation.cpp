#include "solver/column_generation/column_generation.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "model/base/parallel.h"
#include "solver/column_generation/subproblem.h"

namespace muster {
namespace {

constexpr int kQuick = 0, kUsual = 1, kThorough = 5;  // effort of pricing; more where less finds no column any more
constexpr std::size_t kRoomsATask = 4;                // that one thread prices before it asks for more
constexpr int kMostBranches = 16;   // column generations of one level without a clock; with one, as many as fit
constexpr double kSmoothing = 0.4;  // part of the best prices known in those that are priced at
constexpr double kPenalty = 1000;   // of a gang too few, in times of what is to be gained

// Gangs of a class: at most this many, or at least this many. The latter by a penalty for the shortfall, which is a
// relaxation at any height, so that a branch always has a solution.
struct Branch {
  std::vector<std::pair<std::int32_t, double>> at_most, at_least;
  double penalty = 0;
  double limit = kInfinity;
};

class Generation {
 public:
  Generation(Subproblem& sub, const PricingTask& task, const Branch& branch, Backend& backend)
      : sub_(sub), task_(task), branch_(branch), backend_(backend) {
    build();
  }

  Priced run() {
    MilpRequest request;
    request.relax = true;
    request.deadline = task_.deadline.after(1);
    request.work = task_.deadline.work();
    Priced priced;
    std::vector<double>& center = sub_.center;
    if (center.size() != static_cast<std::size_t>(milp_.rows())) center.clear();
    bool is_smoothed = !center.empty();
    if (is_smoothed) {
      for (RoomClassIndex room : sub_.supply.rooms.indices())
        center[static_cast<std::size_t>(sub_.formulation->room_row(room))] = 0;
      Milp more = no_columns();
      priced.limit = limit_at(center, center, kUsual, more) - constant();
      build();
    }
    MilpAnswer answer = backend_.open_lp(milp_, request);
    for (int round = 0; round < task_.most_rounds && answer.status == SolveStatus::kOptimal; ++round) {
      priced.x = answer.x;
      priced.value = answer.objective - constant();
      Milp more = no_columns();
      std::vector<double> price = is_smoothed ? between(center, answer.row_price, kSmoothing) : answer.row_price;
      double best = limit_at(price, answer.row_price, kQuick, more);
      // No column has positive reduced profit at these prices: at the master's own, and thoroughly priced.
      if (more.columns() == 0) best = std::min(best, limit_at(price, answer.row_price, kUsual, more));
      if (more.columns() == 0 && is_smoothed) {
        price = answer.row_price;
        best = std::min(best, limit_at(price, answer.row_price, kUsual, more));
      }
      if (more.columns() == 0) best = std::min(best, limit_at(price, answer.row_price, kThorough, more));
      if (best - constant() < priced.limit) {
        priced.limit = best - constant();
        center = price;
        is_smoothed = true;
      }
      const double gap = priced.limit + constant() - answer.objective;
      if (more.columns() == 0 || gap <= std::max(1e-7, 1e-5 * std::abs(answer.objective))) break;
      if (task_.deadline.passed()) break;
      answer = backend_.extend_lp(more, request);
    }
    // A worker that was stopped because its time was up is no defect; one that broke before is.
    if (answer.status == SolveStatus::kFailed && Deadline::Clock::now() < request.deadline)
      priced.defect = answer.message;
    return priced;
  }

 private:
  // The formulation's model, with all configurations that have a column.
  void build() {
    milp_ = sub_.formulation->model().build(task_.expression, task_.sign);
    is_configuration_.assign(static_cast<std::size_t>(milp_.columns()), false);
    for (RoomClassIndex room : sub_.supply.rooms.indices())
      for (const std::int32_t column : sub_.formulation->configuration_columns(room))
        is_configuration_[static_cast<std::size_t>(column)] = true;
    for (const auto& [column, most] : branch_.at_most) {
      double& upper = milp_.upper[static_cast<std::size_t>(column)];
      upper = std::min(upper, most);
    }
    for (const auto& [column, least] : branch_.at_least)
      milp_.objective[static_cast<std::size_t>(column)] += branch_.penalty;
  }

  Milp no_columns() const {
    Milp more;
    more.row_lower.assign(static_cast<std::size_t>(milp_.rows()), 0);
    more.row_upper = more.row_lower;
    return more;
  }

  // The contribution of the penalties if nothing is lacking.
  double constant() const {
    double sum = 0;
    for (const auto& [column, least] : branch_.at_least) sum += branch_.penalty * least;
    return sum;
  }

  // An upper bound of the LP over all columns, by pricing at `price`, from which impossible signs are removed;
  // configurations with positive reduced profit at the master's prices become columns.
  double limit_at(std::vector<double>& price, const std::vector<double>& master, int effort, Milp& more) {
    const double bound = bound_of_prices(milp_, is_configuration_, price);
    const double slack = price_round(price, master, effort, more);
    return bound + slack + 1e-11 * (std::abs(bound) + slack);
  }

  // Prices every room class at these row prices; configurations with positive reduced profit become columns. Returns
  // how much the LP's value could still rise: sum over room classes of nodes x (limit - price of the node); infinity if
  // the time was up before the end.
  double price_round(const std::vector<double>& row_price, const std::vector<double>& master, int effort, Milp& more) {
    const auto row_of = [&](std::int32_t row) { return std::max(0.0, row_price[static_cast<std::size_t>(row)]); };
    Indexed<RoomClassIndex, Pricing::Result> results(sub_.supply.rooms.size());
    std::atomic<bool> is_late = false;
    const std::size_t parts = (sub_.supply.rooms.size() + kRoomsATask - 1) / kRoomsATask;
    parallel_for(parts, task_.threads, [&](std::size_t part) {
      std::vector<double> price(sub_.demand.classes.size());
      for (std::size_t i = part * kRoomsATask; i < std::min(sub_.supply.rooms.size(), (part + 1) * kRoomsATask); ++i) {
        if (is_late || task_.deadline.passed()) {
          is_late = true;
          return;
        }
        const RoomClassIndex room(i);
        for (DemandIndex d : sub_.supply.rooms[room].demands)
          price[d.value()] = row_of(sub_.formulation->supply_row(d, room));
        Pricing& pricing = sub_.pool.pricing(room);
        results[room] = effort == kQuick && sub_.demand.running.empty()
                            ? pricing.quick(price)
                            : pricing.price(price, std::max(effort, kUsual));
      }
    });
    if (is_late) return kInfinity;
    double slack = 0;
    for (RoomClassIndex room : sub_.supply.rooms.indices()) {
      Pricing::Result& priced = results[room];
      const auto nodes = static_cast<double>(sub_.supply.rooms[room].count());
      const std::int32_t room_row = sub_.formulation->room_row(room);
      slack += nodes * std::max(0.0, priced.limit - row_of(room_row));
      const double node = std::max(0.0, master[static_cast<std::size_t>(room_row)]);
      for (std::size_t j = 0; j < priced.configurations.size(); ++j) {
        if (worth_of(room, priced.configurations[j], master) <= node + 1e-7 * std::max(1.0, node)) continue;
        const std::vector<Entry> entries = sub_.formulation->entries_of(room, priced.configurations[j]);
        if (!sub_.pool.add(room, std::move(priced.configurations[j]))) continue;
        more.add_column({0, 0, nodes, true}, entries);
      }
      sub_.add_new_columns(room);
    }
    return slack;
  }

  double worth_of(RoomClassIndex room, const Configuration& configuration, const std::vector<double>& master) const {
    double worth = 0;
    for (const auto& [demand, count] : configuration.counts) {
      const std::int32_t row = sub_.formulation->supply_row(demand, room);
      worth += count * std::max(0.0, master[static_cast<std::size_t>(row)]);
    }
    return worth;
  }

  Subproblem& sub_;
  const PricingTask& task_;
  const Branch& branch_;
  Backend& backend_;
  Milp milp_;
  std::vector<bool> is_configuration_;  // by column of milp_
};

// The gangs of which the solution admits a part, the most undecided first; -1: none.
std::int32_t undecided(const Formulation& formulation, const std::vector<double>& x) {
  std::int32_t most = -1;
  double distance = 1e-6;
  for (const std::int32_t column : formulation.admission_columns()) {
    const double gangs = x[static_cast<std::size_t>(column)];
    const double here = std::abs(gangs - std::round(gangs));
    if (here <= distance) continue;
    distance = here;
    most = column;
  }
  return most;
}

}  // namespace

double bound_of_prices(const Milp& milp, const std::vector<bool>& is_configuration, std::vector<double>& price) {
  long double bound = 0;
  for (std::int32_t i = 0; i < milp.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    const double side = price[row] > 0 ? milp.row_upper[row] : milp.row_lower[row];
    if (!std::isfinite(side)) price[row] = 0;
    if (price[row] != 0) bound += static_cast<long double>(price[row]) * side;
  }
  for (std::int32_t j = 0; j < milp.columns(); ++j) {
    const auto column = static_cast<std::size_t>(j);
    if (is_configuration[column]) continue;
    long double gain = milp.objective[column];
    for (std::int64_t e = milp.column_begin[column]; e < milp.column_begin[column + 1]; ++e) {
      const auto entry = static_cast<std::size_t>(e);
      gain -=
          static_cast<long double>(milp.entry_value[entry]) * price[static_cast<std::size_t>(milp.entry_row[entry])];
    }
    bound += gain * (gain > 0 ? milp.upper[column] : milp.lower[column]);
  }
  return static_cast<double>(bound);
}

std::vector<double> between(const std::vector<double>& center, const std::vector<double>& master, double part) {
  std::vector<double> price(master.size());
  for (std::size_t i = 0; i < price.size(); ++i) price[i] = part * center[i] + (1 - part) * master[i];
  return price;
}

Priced price_columns(Subproblem& sub, const PricingTask& task, Backend& backend) {
  return Generation(sub, task, {}, backend).run();
}

double branch_on_gangs(Subproblem& sub, const PricingTask& task, const Priced& whole, double known, Backend& backend,
                       const std::function<void(const std::vector<double>&)>& on_solution) {
  struct Open {
    Branch branch;
    std::vector<double> x;
  };
  const double enough = known + 0.5;  // a limit below the next whole number closes a branch
  std::vector<Open> open{{{{}, {}, kPenalty * std::max(1.0, whole.limit - known), whole.limit}, whole.x}};
  double closed = known;
  const int most = task.deadline.is_deterministic() ? kMostBranches : std::numeric_limits<int>::max();
  for (int branches = 0; branches < most && !open.empty() && !task.deadline.passed();) {
    const auto worst = std::max_element(open.begin(), open.end(),
                                        [](const Open& a, const Open& b) { return a.branch.limit < b.branch.limit; });
    const Open at = *worst;
    const std::int32_t column = at.x.empty() ? -1 : undecided(*sub.formulation, at.x);
    if (column < 0) break;  // nothing to decide on: its limit stands
    open.erase(worst);
    const double gangs = at.x[static_cast<std::size_t>(column)];
    for (const bool up : {false, true}) {
      Open next{at.branch, {}};
      if (up)
        next.branch.at_least.emplace_back(column, std::floor(gangs) + 1);
      else
        next.branch.at_most.emplace_back(column, std::floor(gangs));
      Priced priced = Generation(sub, task, next.branch, backend).run();
      ++branches;
      next.branch.limit = std::min(at.branch.limit, priced.limit);
      next.x = std::move(priced.x);
      if (!next.x.empty()) on_solution(next.x);
      if (next.branch.limit < enough)
        closed = std::max(closed, next.branch.limit);
      else
        open.push_back(std::move(next));
    }
  }
  double limit = closed;
  for (const Open& left : open) limit = std::max(limit, left.branch.limit);
  return std::min(limit, whole.limit);
}

}  // namespace muster
