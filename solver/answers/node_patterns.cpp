#include "solver/answers/node_patterns.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "model/base/require.h"
#include "model/base/tuning.h"

namespace muster::answers {
namespace {

constexpr double kTolerance = 1e-7;

cbc::MilpRequest request_for(const Deadline& deadline) {
  cbc::MilpRequest request;
  request.deadline = deadline.end();
  return request;
}

lp::Milp no_columns(const lp::Milp& master) {
  lp::Milp rows;
  rows.row_lower = master.row_lower;
  rows.row_upper = master.row_upper;
  return rows;
}

}  // namespace

// Each class alone, as many as a node takes: with them the master is feasible if any nodes suffice.
void NodePatterns::add_first_patterns() {
  if (!patterns_.empty()) return;
  for (std::size_t kind = 0; kind < input_.kinds.size(); ++kind) {
    for (std::size_t c = 0; c < input_.demand.size(); ++c) {
      const std::int64_t most = std::min(input_.kinds[kind].room.most_pods[c], input_.demand[c]);
      if (most == 0) continue;
      Pattern pattern{kind, std::vector<std::int64_t>(input_.demand.size(), 0)};
      pattern.pods[c] = most;
      patterns_.push_back(std::move(pattern));
    }
  }
}

bool NodePatterns::is_known(const Pattern& pattern) const {
  return std::ranges::any_of(
      patterns_, [&](const Pattern& other) { return other.kind == pattern.kind && other.pods == pattern.pods; });
}

// Pods by class, nodes by kind, and what is present by resource.
lp::Milp NodePatterns::rows(const std::vector<std::int64_t>& demand,
                            const std::vector<std::optional<std::int64_t>>& most) const {
  lp::Milp master;
  for (const std::int64_t pods : demand) master.add_row(static_cast<double>(pods), lp::kInfinity);
  for (const auto& nodes : most) master.add_row(-lp::kInfinity, nodes ? static_cast<double>(*nodes) : lp::kInfinity);
  const std::size_t resources = input_.present ? input_.present->load.front().size() : 0;
  for (std::size_t r = 0; r < resources; ++r) master.add_row(-lp::kInfinity, 1);
  return master;
}

void NodePatterns::add_column(const Pattern& pattern, bool integer, lp::Milp& master) const {
  std::vector<lp::Entry> entries;
  for (std::size_t c = 0; c < pattern.pods.size(); ++c) {
    if (pattern.pods[c] > 0) entries.push_back({static_cast<std::int32_t>(c), static_cast<double>(pattern.pods[c])});
  }
  entries.push_back({static_cast<std::int32_t>(input_.demand.size() + pattern.kind), 1});
  master.add_column({-input_.kinds[pattern.kind].price, 0, lp::kInfinity, integer}, entries);
}

void NodePatterns::add_present(bool integer, lp::Milp& master) const {
  const PatternCapacity& present = *input_.present;
  const std::size_t first = input_.demand.size() + input_.kinds.size();
  for (std::size_t c = 0; c < input_.demand.size(); ++c) {
    if (present.most_pods[c] == 0) continue;
    std::vector<lp::Entry> entries{{static_cast<std::int32_t>(c), 1}};
    for (std::size_t r = 0; r < present.load[c].size(); ++r) {
      if (present.load[c][r] > 0) entries.push_back({static_cast<std::int32_t>(first + r), present.load[c][r]});
    }
    master.add_column({0, 0, static_cast<double>(present.most_pods[c]), integer}, entries);
  }
}

NodePatterns::Prices NodePatterns::prices_of(const std::vector<double>& row_price) const {
  Prices prices;
  const std::size_t classes = input_.demand.size(), kinds = input_.kinds.size();
  for (std::size_t row = 0; row < row_price.size(); ++row) {
    std::vector<double>& part = row < classes ? prices.pod : row < classes + kinds ? prices.kind : prices.present;
    part.push_back(std::max(0.0, row < classes ? -row_price[row] : row_price[row]));
  }
  return prices;
}

// The most that what is present holds. The upper bounds of its columns are priced so that no column exceeds its price.
double NodePatterns::value_of_present(const Prices& prices) const {
  if (!input_.present) return 0;
  double value = std::accumulate(prices.present.begin(), prices.present.end(), 0.0);
  for (std::size_t c = 0; c < input_.demand.size(); ++c) {
    double excess = prices.pod[c];
    for (std::size_t r = 0; r < prices.present.size(); ++r) excess -= prices.present[r] * input_.present->load[c][r];
    value += std::max(0.0, excess) * static_cast<double>(input_.present->most_pods[c]);
  }
  return value;
}

// What the prices of the rows prove if no pattern exceeds its price.
double NodePatterns::dual_value(const Prices& prices) const {
  double value = -value_of_present(prices);
  for (std::size_t c = 0; c < input_.demand.size(); ++c) value += prices.pod[c] * static_cast<double>(input_.demand[c]);
  for (std::size_t k = 0; k < input_.kinds.size(); ++k) {
    if (input_.kinds[k].most) value -= prices.kind[k] * static_cast<double>(*input_.kinds[k].most);
  }
  return value;
}

double NodePatterns::whole_nodes_bound(const Deadline& deadline) {
  constexpr std::size_t kMostValueRows = kTuning.answers.value_rows;  // the last ones are the best
  std::vector<ValueRow> value_rows = value_rows_;
  if (value_rows.empty()) return 0;
  if (value_rows.size() > kMostValueRows) value_rows.erase(value_rows.begin(), value_rows.end() - kMostValueRows);
  lp::Milp nodes;
  for (const ValueRow& row : value_rows) nodes.add_row(row.demand * (1 - kTolerance) - kTolerance, lp::kInfinity);
  for (std::size_t kind = 0; kind < input_.kinds.size(); ++kind) {
    std::vector<lp::Entry> entries;
    for (std::size_t row = 0; row < value_rows.size(); ++row) {
      if (value_rows[row].of_kind[kind] > 0)
        entries.push_back({static_cast<std::int32_t>(row), value_rows[row].of_kind[kind]});
    }
    const auto& most = input_.kinds[kind].most;
    nodes.add_column({-input_.kinds[kind].price, 0, most ? static_cast<double>(*most) : lp::kInfinity, true}, entries);
  }
  cbc::MilpRequest request = request_for(deadline);
  request.node_limit = kTuning.answers.mix_nodes;
  const cbc::MilpAnswer answer = backend_.solve(nodes, request);
  if (answer.status == cbc::SolveStatus::kFailed || !std::isfinite(answer.bound)) return 0;
  return -answer.bound;
}

double NodePatterns::value_of(const Pattern& pattern, const std::vector<double>& price) const {
  double value = 0;
  for (std::size_t c = 0; c < price.size(); ++c) value += price[c] * static_cast<double>(pattern.pods[c]);
  return value;
}

// By price for the scarcest resource that a pod takes.
NodePatterns::Pattern NodePatterns::greedy_pattern(std::size_t kind, const std::vector<double>& price) const {
  const PatternCapacity& room = input_.kinds[kind].room;
  Pattern pattern{kind, std::vector<std::int64_t>(price.size(), 0)};
  std::vector<std::size_t> order;
  std::vector<double> density(price.size(), 0);
  for (std::size_t c = 0; c < price.size(); ++c) {
    if (price[c] <= 0 || room.most_pods[c] == 0) continue;
    const double largest = *std::ranges::max_element(room.load[c]);
    density[c] = price[c] / std::max(largest, kTolerance);
    order.push_back(c);
  }
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t c) { return density[c]; });
  std::vector<double> left(room.load.front().size(), 1.0);
  for (const std::size_t c : order) {
    double most = static_cast<double>(std::min(room.most_pods[c], input_.demand[c]));
    for (std::size_t r = 0; r < left.size(); ++r) {
      if (room.load[c][r] > 0) most = std::min(most, std::floor(left[r] / room.load[c][r] + kTolerance));
    }
    if (most <= 0) continue;
    pattern.pods[c] = static_cast<std::int64_t>(most);
    for (std::size_t r = 0; r < left.size(); ++r) left[r] -= most * room.load[c][r];
  }
  return pattern;
}

double NodePatterns::best_pattern(std::size_t kind, const std::vector<double>& price, double gap,
                                  const Deadline& deadline, Pattern& best) {
  const PatternCapacity& room = input_.kinds[kind].room;
  lp::Milp knapsack;
  for (std::size_t r = 0; r < room.load.front().size(); ++r) knapsack.add_row(-lp::kInfinity, 1);
  std::vector<std::size_t> classes;
  for (std::size_t c = 0; c < price.size(); ++c) {
    const std::int64_t most = std::min(room.most_pods[c], input_.demand[c]);
    if (price[c] <= 0 || most == 0) continue;
    std::vector<lp::Entry> entries;
    for (std::size_t r = 0; r < room.load[c].size(); ++r) {
      if (room.load[c][r] > 0) entries.push_back({static_cast<std::int32_t>(r), room.load[c][r]});
    }
    knapsack.add_column({price[c], 0, static_cast<double>(most), true}, entries);
    classes.push_back(c);
  }
  if (classes.empty()) return 0;
  cbc::MilpRequest request = request_for(deadline);
  request.node_limit = kTuning.answers.knapsack_nodes;
  request.relative_gap = gap;
  const cbc::MilpAnswer answer = backend_.solve(knapsack, request);
  if (!answer.x.empty()) {
    best = {kind, std::vector<std::int64_t>(price.size(), 0)};
    for (std::size_t i = 0; i < classes.size(); ++i) best.pods[classes[i]] = std::llround(answer.x[i]);
  }
  if (answer.status == cbc::SolveStatus::kFailed) return lp::kInfinity;
  return answer.bound;
}

double NodePatterns::sums(const Deadline& deadline) const {
  lp::Milp model;
  const std::size_t classes = input_.demand.size(), resources = input_.kinds.front().room.load.front().size();
  for (const std::int64_t pods : input_.demand) model.add_row(static_cast<double>(pods), lp::kInfinity);
  const auto add_pods = [&](const PatternCapacity& room, std::size_t first) {
    for (std::size_t c = 0; c < classes; ++c) {
      if (room.most_pods[c] == 0) continue;
      std::vector<lp::Entry> entries{{static_cast<std::int32_t>(c), 1}};
      for (std::size_t r = 0; r < resources; ++r) {
        if (room.load[c][r] > 0) entries.push_back({static_cast<std::int32_t>(first + r), room.load[c][r]});
      }
      model.add_column({0, 0, lp::kInfinity, false}, entries);
    }
  };
  for (const PatternKind& kind : input_.kinds) {
    const std::size_t first = static_cast<std::size_t>(model.rows());
    std::vector<lp::Entry> nodes;
    for (std::size_t r = 0; r < resources; ++r) nodes.push_back({model.add_row(-lp::kInfinity, 0), -1});
    model.add_column({-kind.price, 0, kind.most ? static_cast<double>(*kind.most) : lp::kInfinity, false}, nodes);
    add_pods(kind.room, first);
  }
  if (input_.present) {
    const std::size_t first = static_cast<std::size_t>(model.rows());
    for (std::size_t r = 0; r < resources; ++r) model.add_row(-lp::kInfinity, 1);
    add_pods(*input_.present, first);
  }
  cbc::MilpRequest request = request_for(deadline);
  request.relax = true;
  const cbc::MilpAnswer answer = backend_.solve(model, request);
  if (answer.status == cbc::SolveStatus::kInfeasible) return lp::kInfinity;
  return answer.status == cbc::SolveStatus::kOptimal ? std::max(0.0, -answer.bound) : 0;
}

NodePatterns::Priced NodePatterns::price(const Prices& prices, double gap, const Deadline& deadline) {
  Priced priced;
  ValueRow row{std::vector<double>(input_.kinds.size(), 0), -value_of_present(prices)};
  for (std::size_t c = 0; c < input_.demand.size(); ++c)
    row.demand += prices.pod[c] * static_cast<double>(input_.demand[c]);
  double excess = 1;
  for (std::size_t kind = 0; kind < input_.kinds.size(); ++kind) {
    Pattern best;
    row.of_kind[kind] = best_pattern(kind, prices.pod, gap, deadline, best);
    excess = std::max(excess, (row.of_kind[kind] - prices.kind[kind]) / input_.kinds[kind].price);
    if (!best.pods.empty()) priced.best.push_back(std::move(best));
  }
  if (!std::isfinite(excess)) return priced;
  priced.bound = std::max(0.0, dual_value(prices) / excess);
  value_rows_.push_back(std::move(row));
  return priced;
}

double NodePatterns::bound(const Deadline& deadline) {
  add_first_patterns();
  double best_bound = sums(deadline);
  if (!std::isfinite(best_bound)) return best_bound;
  std::vector<std::optional<std::int64_t>> most;
  for (const PatternKind& kind : input_.kinds) most.push_back(kind.most);
  lp::Milp master = rows(input_.demand, most);
  if (input_.present) add_present(false, master);
  for (const Pattern& pattern : patterns_) add_column(pattern, false, master);
  cbc::MilpRequest request = request_for(deadline);
  request.relax = true;
  cbc::MilpAnswer answer = backend_.open_lp(master, request);
  while (!deadline.passed() && answer.status == cbc::SolveStatus::kOptimal && !answer.row_price.empty()) {
    const Prices prices = prices_of(answer.row_price);
    lp::Milp more = no_columns(master);
    const auto offer = [&](const Pattern& pattern) {
      const PatternKind& kind = input_.kinds[pattern.kind];
      if (value_of(pattern, prices.pod) <= (kind.price + prices.kind[pattern.kind]) * (1 + kTolerance)) return false;
      if (is_known(pattern)) return false;
      add_column(pattern, false, more);
      patterns_.push_back(pattern);
      return true;
    };
    bool is_improved = false;
    for (std::size_t kind = 0; kind < input_.kinds.size(); ++kind)
      is_improved = offer(greedy_pattern(kind, prices.pod)) || is_improved;
    // First about, as long as this finds better patterns; then exactly.
    for (const double gap : {kTuning.answers.knapsack_gap, 0.0}) {
      if (is_improved || deadline.passed()) break;
      const Priced priced = price(prices, gap, deadline);
      best_bound = std::max(best_bound, priced.bound);
      for (const Pattern& pattern : priced.best) is_improved = offer(pattern) || is_improved;
    }
    if (!is_improved) break;
    answer = backend_.extend_lp(more, request);
  }
  return std::max(best_bound, whole_nodes_bound(deadline));
}

std::vector<std::int64_t> NodePatterns::mix(const std::vector<std::int64_t>& demand,
                                            const std::vector<std::optional<std::int64_t>>& most, bool present,
                                            const Deadline& deadline) {
  MUSTER_REQUIRE(demand.size() == input_.demand.size() && most.size() == input_.kinds.size());
  add_first_patterns();
  lp::Milp master = rows(demand, most);
  for (const Pattern& pattern : patterns_) add_column(pattern, true, master);
  if (present && input_.present) add_present(true, master);
  cbc::MilpRequest request = request_for(deadline);
  request.node_limit = kTuning.answers.mix_nodes;
  const cbc::MilpAnswer answer = backend_.solve(master, request);
  if (answer.x.empty()) return {};
  std::vector<std::int64_t> nodes(input_.kinds.size(), 0);
  for (std::size_t i = 0; i < patterns_.size(); ++i) nodes[patterns_[i].kind] += std::llround(answer.x[i]);
  return nodes;
}

}  // namespace muster::answers
