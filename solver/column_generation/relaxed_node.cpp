#include "solver/column_generation/relaxed_node.h"

#include <algorithm>
#include <map>
#include <utility>

#include "model/base/tuning.h"

namespace muster::column_generation {
namespace {

constexpr double kBelow = 1 / kTuning.pricing.factor;

}  // namespace

RelaxedNode::RelaxedNode(const NodeItems& node)
    : node_(node), table_(node), multiplier_(node.resources.size(), 0.0), stock_price_(node.items.size(), 0.0) {
  std::map<std::int32_t, std::vector<std::size_t>> whole;
  for (std::size_t i = 0; i < node.items.size(); ++i)
    if (node.items[i].whole > 0 && node.items[i].whole <= node.idle) whole[node.items[i].whole].push_back(i);
  for (auto& [devices, items] : whole) whole_users_.push_back({devices, std::move(items), {}, {}});
}

double RelaxedNode::dual(const std::vector<double>& price) {
  last_ = relaxed(price);
  double value = last_.value;
  used_.assign(node_.resources.size(), 0.0);
  for (std::size_t r = 0; r < node_.resources.size(); ++r) {
    for (std::size_t i = 0; i < node_.items.size(); ++i) used_[r] += last_.amount[i] * node_.request_of(i, r);
    value += multiplier_[r] * node_.free[r];
  }
  for (std::size_t i = 0; i < node_.items.size(); ++i) value += stock_price_[i] * node_.items[i].most;
  return value;
}

std::vector<double> RelaxedNode::profits(const std::vector<double>& price) const {
  std::vector<double> profit(node_.items.size());
  for (std::size_t i = 0; i < node_.items.size(); ++i) {
    profit[i] = price[node_.items[i].demand.value()];
    for (std::size_t r = 0; r < node_.resources.size(); ++r) profit[i] -= multiplier_[r] * node_.request_of(i, r);
    profit[i] -= stock_price_[i];
  }
  return profit;
}

// The node with its counted resources priced by the multipliers: devices one by one.
RelaxedNode::Content RelaxedNode::relaxed(const std::vector<double>& price) {
  const std::vector<double> profit = profits(price);
  Content content{0, std::vector<double>(node_.items.size(), 0.0), 0, {}};
  std::vector<double> stock(node_.items.size());
  for (std::size_t i = 0; i < node_.items.size(); ++i) {
    stock[i] = node_.items[i].most * std::max(1, node_.items[i].devices);
    if (profit[i] <= 0 || node_.items[i].whole > 0 || node_.items[i].size > 0) continue;
    content.value += profit[i] * node_.items[i].most;
    content.amount[i] = node_.items[i].most;
  }
  if (node_.idle == 0 && node_.partial_levels.empty()) return content;
  table_.fill(profit, stock);
  for (std::int32_t level : node_.partial_levels) {
    content.value += table_.value(level);
    table_.open(level, content.amount);
  }
  if (node_.idle > 0) divide_idle_devices(profit, content);
  for (std::int32_t n = 0; n < content.shared_devices; ++n) table_.open(node_.idle_level, content.amount);
  return content;
}

// Which idle devices pods of whole devices get and how many are shared: for each number of devices a pod may ask for,
// its pods by profit.
void RelaxedNode::divide_idle_devices(const std::vector<double>& profit, Content& content) {
  const auto idle = static_cast<std::size_t>(node_.idle);
  const std::size_t width = idle + 1;
  const double shared = table_.value(node_.idle_level);
  division_.resize(width);
  for (std::size_t n = 0; n <= idle; ++n) division_[n] = shared * static_cast<double>(n);
  for (WholeUsers& users : whole_users_) add_users(profit, users);
  content.value += division_[idle];
  std::size_t left = idle;
  for (std::size_t u = whole_users_.size(); u-- > 0;) {
    const WholeUsers& users = whole_users_[u];
    const auto m = static_cast<std::size_t>(users.taken[left]);
    for (std::size_t i = 0; i < m; ++i) content.amount[users.pods[i]] += 1;
    left -= m * static_cast<std::size_t>(users.devices);
  }
  content.shared_devices = static_cast<std::int32_t>(left);
}

// Lets the pods of these users take idle devices, most profitable first.
void RelaxedNode::add_users(const std::vector<double>& profit, WholeUsers& users) {
  const auto idle = static_cast<std::size_t>(node_.idle);
  const auto k = static_cast<std::size_t>(users.devices);
  std::vector<std::size_t>& pods = users.pods;  // most profitable first, one entry a pod
  pods.clear();
  for (const std::size_t i : users.items)
    if (profit[i] > 0) pods.push_back(i);
  std::stable_sort(pods.begin(), pods.end(), [&](std::size_t a, std::size_t b) { return profit[a] > profit[b]; });
  const std::vector<std::size_t> kinds = pods;
  pods.clear();
  for (std::size_t item : kinds)
    for (double n = 0; n < node_.items[item].most && pods.size() < idle / k; ++n) pods.push_back(item);
  users.taken.assign(idle + 1, 0);
  for (std::size_t n = idle; n >= k; --n) {  // downwards: what is below is still without these users
    double sum = 0;
    double best = division_[n];
    for (std::size_t m = 1; m * k <= n && m <= pods.size(); ++m) {
      sum += profit[pods[m - 1]];
      if (division_[n - m * k] + sum <= best) continue;
      best = division_[n - m * k] + sum;
      users.taken[n] = static_cast<std::int32_t>(m);
    }
    division_[n] = best;
  }
}

RelaxedNode::Content RelaxedNode::within_counts(const std::vector<double>& price) {
  Content result = last_;
  const std::vector<double> profit = profits(price);
  std::vector<double> remaining(node_.items.size());
  for (std::size_t i = 0; i < node_.items.size(); ++i) {
    remaining[i] =
        node_.items[i].devices == 1 ? node_.items[i].most : 0;  // pods of several devices are put down afterwards
    if (node_.items[i].size > 0 && node_.items[i].devices == 1) result.amount[i] = 0;
  }
  std::vector<std::int32_t> levels = node_.partial_levels;
  levels.insert(levels.end(), static_cast<std::size_t>(last_.shared_devices), node_.idle_level);
  bool is_stale = true;  // the table knows more pods than there are left
  std::vector<double> added(node_.items.size());
  for (std::int32_t level : levels) {
    if (is_stale) table_.fill(profit, remaining);
    is_stale = false;
    std::fill(added.begin(), added.end(), 0.0);
    table_.open(level, added);
    std::vector<std::size_t>& items = result.on_devices.emplace_back();
    for (const std::size_t i : node_.by_size) {
      if (added[i] == 0) continue;
      for (double n = 0.5; n < added[i]; ++n) items.push_back(i);
      remaining[i] -= added[i];
      is_stale = is_stale || remaining[i] < static_cast<double>(node_.idle_level / node_.items[i].size);
    }
  }
  return result;
}

void RelaxedNode::bisect(std::size_t r, const std::vector<double>& price) {
  const double before = multiplier_[r];
  multiplier_[r] = 0;
  dual(price);
  if (!is_over(r)) return;
  double high = node_.highest_multiplier(r, price);
  double low = 0;
  if (before > 0) {  // start around the last value
    multiplier_[r] = before * kTuning.pricing.factor;
    dual(price);
    (is_over(r) ? low : high) = before * kTuning.pricing.factor;
    if (high == before * kTuning.pricing.factor) {
      multiplier_[r] = before * kBelow;
      dual(price);
      (is_over(r) ? low : high) = before * kBelow;
    }
  }
  for (int step = 0; step < kTuning.pricing.bisections; ++step) {
    multiplier_[r] = (low + high) / 2;
    dual(price);
    (is_over(r) ? low : high) = multiplier_[r];
  }
  multiplier_[r] = high;
}

}  // namespace muster::column_generation
