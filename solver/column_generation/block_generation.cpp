#include "solver/column_generation/block_generation.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <span>
#include <tuple>

#include "model/base/parallel.h"
#include "model/base/tuning.h"
#include "solver/column_generation/demand_side.h"

namespace muster::column_generation {
namespace {

constexpr double kNothing = 1e-6;        // of a block: a share that is rounding
constexpr std::size_t kRoomsATask = 16;  // that one thread prices before it asks for more

class BlockGeneration {
 public:
  BlockGeneration(RestrictedMaster& sub, Blocks& blocks, const PricingTask& task, cbc::Backend& backend)
      : sub_(sub), all_(blocks), blocks_(blocks.blocks), task_(task), backend_(backend), side_(sub, task) {
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      for (std::size_t at = 0; at < blocks_[b].rooms.size(); ++at) rooms_.push_back({b, at});
      block_rows_.push_back(side_.milp.add_row(-lp::kInfinity, 1));
    }
  }

  Priced run_fill() {
    Priced priced;
    std::vector<double>& stability_center = sub_.stability_center;
    if (stability_center.size() != static_cast<std::size_t>(side_.whole.rows())) return priced;
    priced.dual_bound = dual_bound_at(stability_center, {}, side_.milp);
    for (Blocks::Block& block : blocks_)
      for (Blocks::Column& column : block.columns) column.share = 0;
    if (!std::isfinite(priced.dual_bound) || !fill_rooms(add_point(stability_center, true), side_.milp)) return priced;
    for (Blocks::Block& block : blocks_)
      for (Blocks::Column& column : block.columns)
        if (column.choice == filled_[static_cast<std::size_t>(&block - blocks_.data())]) column.share = 1;
    priced.x = side_.whole.upper;  // every gang and pod that finds a place
    return priced;
  }

  Priced run(const OnRound& on_round) {
    cbc::MilpRequest request;
    request.relax = true;
    request.deadline = task_.deadline.end();
    request.work = task_.deadline.work();
    Priced priced;
    std::vector<double>& stability_center = sub_.stability_center;
    if (stability_center.size() != static_cast<std::size_t>(side_.whole.rows())) stability_center.clear();
    for (std::size_t b = 0; b < blocks_.size(); ++b)
      for (const Blocks::Column& column : blocks_[b].columns) {
        side_.milp.add_column({0, 0, 1, false}, entries_of(b, column.choice));
        owners_.push_back(b);
      }
    if (!stability_center.empty()) {
      priced.dual_bound = dual_bound_at(stability_center, {}, side_.milp);
      fill_rooms(add_point(stability_center, true), side_.milp);
      add_wanted();
    }
    cbc::MilpAnswer answer = backend_.open_lp(side_.milp, request);
    for (int round = 0; answer.status == cbc::SolveStatus::kOptimal; ++round) {
      keep(answer, priced);
      const std::vector<double> master = side_.whole_prices(answer.row_price);
      std::vector<double> price =
          stability_center.empty() ? master : between(stability_center, master, kTuning.generation.smoothing);
      lp::Milp more = no_columns();
      double dual_bound = dual_bound_at(price, answer.row_price, more);
      if (more.columns() == 0 && !stability_center.empty()) {
        price = master;
        dual_bound = std::min(dual_bound, dual_bound_at(price, answer.row_price, more));
      }
      if (round % kTuning.generation.fill_every == 0) fill_rooms(add_point(price, true), more);
      if (dual_bound < priced.dual_bound) {
        priced.dual_bound = dual_bound;
        stability_center = price;
      }
      const double gap = priced.dual_bound - answer.objective;
      if (on_round(priced)) break;
      if (more.columns() == 0 || gap <= 1e-5 * std::abs(answer.objective)) break;
      if (task_.deadline.passed()) break;
      answer = backend_.extend_lp(more, request);
    }
    if (answer.status == cbc::SolveStatus::kFailed && Deadline::Clock::now() < request.deadline)
      priced.defect = answer.message;
    return priced;
  }

 private:
  struct RoomAt {
    std::size_t block, position;
  };

  lp::Milp no_columns() const {
    lp::Milp more;
    more.row_lower.assign(static_cast<std::size_t>(side_.milp.rows()), 0);
    more.row_upper = more.row_lower;
    return more;
  }

  std::size_t add_point(const std::vector<double>& price, bool is_fill) {
    all_.points.push_back({price, is_fill});
    return all_.points.size() - 1;
  }

  // The solution: demand's columns at their places in the formulation, the blocks' shares in the blocks.
  void keep(const cbc::MilpAnswer& answer, Priced& priced) {
    priced.x.assign(static_cast<std::size_t>(side_.whole.columns()), 0.0);
    for (std::size_t j = 0; j < side_.columns.size(); ++j) priced.x[side_.columns[j]] = answer.x[j];
    priced.value = answer.objective;
    std::vector<std::size_t> next(blocks_.size(), 0);
    for (std::size_t j = 0; j < owners_.size(); ++j)
      blocks_[owners_[j]].columns[next[owners_[j]]++].share = answer.x[side_.columns.size() + j];
    for (std::size_t b = 0; b < blocks_.size(); ++b)
      for (; next[b] < blocks_[b].columns.size(); ++next[b]) blocks_[b].columns[next[b]].share = 0;
  }

  formulation::ResidualClassIndex index_of(const RoomAt& at) const { return blocks_[at.block].rooms[at.position]; }
  const formulation::ResidualClass& room_at(const RoomAt& at) const { return sub_.supply.rooms[index_of(at)]; }
  Pricing& pricing_of(const RoomAt& at) { return sub_.pool.pricing(blocks_[at.block].rooms[at.position]); }
  double nodes_at(const RoomAt& at) const { return blocks_[at.block].scale * static_cast<double>(room_at(at).count()); }

  std::vector<lp::Entry> entries_of(std::size_t b, const std::vector<std::uint32_t>& choice) {
    sum_.resize(static_cast<std::size_t>(side_.whole.rows()), 0.0);
    std::vector<std::int32_t> rows;
    for (std::size_t at = 0; at < choice.size(); ++at) {
      if (choice[at] == Blocks::kEmpty) continue;
      const formulation::ResidualClassIndex room = blocks_[b].rooms[at];
      for (const lp::Entry& entry : sub_.formulation->entries_of(room, sub_.pool.configurations()[room][choice[at]])) {
        if (side_.row_of(entry.row) < 0) continue;
        double& sum = sum_[static_cast<std::size_t>(entry.row)];
        if (sum == 0) rows.push_back(entry.row);
        sum += nodes_at({b, at}) * entry.value;
      }
    }
    std::vector<lp::Entry> entries{{block_rows_[b], 1}};
    for (const std::int32_t row : rows) {
      double& sum = sum_[static_cast<std::size_t>(row)];
      if (sum != 0) entries.push_back({side_.row_of(row), sum});
      sum = 0;
    }
    return entries;
  }

  // By demand class, in a room; `pod_price` is as long as there are classes.
  void set_pod_prices(const std::vector<double>& price, formulation::ResidualClassIndex room,
                      std::vector<double>& pod_price) const {
    for (const formulation::DemandIndex d : sub_.supply.rooms[room].demands)
      pod_price[d.value()] = std::max(0.0, price[static_cast<std::size_t>(sub_.formulation->supply_row(d, room))]);
  }

  // Prices all rooms at a point, in parallel. Empty: the time was up.
  std::vector<Pricing::Result> price_rooms(std::size_t point) {
    std::vector<Pricing::Result> results(rooms_.size());
    std::atomic<bool> is_late = false;
    parallel_for((rooms_.size() + kRoomsATask - 1) / kRoomsATask, task_.threads, [&](std::size_t part) {
      std::vector<double> pod_price(sub_.demand.classes.size());
      for (std::size_t i = part * kRoomsATask; i < std::min(rooms_.size(), (part + 1) * kRoomsATask); ++i) {
        if (is_late || task_.deadline.passed()) {
          is_late = true;
          return;
        }
        set_pod_prices(all_.points[point].price, index_of(rooms_[i]), pod_price);
        results[i] = pricing_of(rooms_[i]).quick(pod_price);
      }
    });
    if (is_late) results.clear();
    return results;
  }

  // An upper bound of the LP over all columns, by pricing at `price`; a result with positive reduced profit at the
  // master's prices (empty: any result) becomes a column.
  double dual_bound_at(std::vector<double>& price, const std::vector<double>& master, lp::Milp& more) {
    const double bound = bound_of_prices(side_.whole, side_.is_configuration, price);
    const std::size_t point = add_point(price, false);
    std::vector<Pricing::Result> results = price_rooms(point);
    if (results.empty() && !rooms_.empty()) return lp::kInfinity;
    double slack = 0;
    for (std::size_t i = 0; i < rooms_.size(); ++i) slack += nodes_at(rooms_[i]) * std::max(0.0, results[i].dual_bound);
    for (std::size_t b = 0, next = 0; b < blocks_.size(); next += blocks_[b++].rooms.size())
      add_column(b, column_of(b, point, {results.begin() + static_cast<std::ptrdiff_t>(next), blocks_[b].rooms.size()}),
                 master, more);
    return bound + slack + 1e-11 * (std::abs(bound) + slack);
  }

  Blocks::Column column_of(std::size_t b, std::size_t point, std::span<Pricing::Result> results) {
    Blocks::Column column{{}, point};
    for (std::size_t at = 0; at < results.size(); ++at)
      column.choice.push_back(results[at].configurations.empty()
                                  ? Blocks::kEmpty
                                  : sub_.pool.position(blocks_[b].rooms[at], std::move(results[at].configurations[0])));
    return column;
  }

  // Every room filled at the point's prices, one after the other, from the remaining demand: a column for each block,
  // all belonging together. In a fixed number of shards, each with its part of the demand. False: the time was up.
  bool fill_rooms(std::size_t point, lp::Milp& more) {
    std::vector<RoomAt> order;  // the blocks in turns
    for (std::size_t at = 0; order.size() < rooms_.size(); ++at)
      for (std::size_t b = 0; b < blocks_.size(); ++b)
        if (at < blocks_[b].rooms.size()) order.push_back({b, at});
    std::vector<formulation::Configuration> filled(order.size());
    std::atomic<bool> is_late = false;
    parallel_for(kTuning.generation.fill_shards, task_.threads, [&](std::size_t shard) {
      std::vector<std::int64_t> left;
      for (const formulation::DemandClass& demand : sub_.demand.classes)
        left.push_back((demand.count + static_cast<std::int64_t>(shard)) /
                       static_cast<std::int64_t>(kTuning.generation.fill_shards));
      std::vector<double> pod_price(sub_.demand.classes.size());
      for (std::size_t i = shard; i < order.size(); i += kTuning.generation.fill_shards) {
        if (is_late || task_.deadline.passed()) {
          is_late = true;
          return;
        }
        set_pod_prices(all_.points[point].price, index_of(order[i]), pod_price);
        filled[i] = sub_.pool.pricing(blocks_[order[i].block].rooms[order[i].position]).fill(pod_price, left);
        for (const auto& [d, count] : filled[i].counts)
          left[d.value()] -= std::llround(nodes_at(order[i]) * static_cast<double>(count));
      }
    });
    if (is_late) return false;
    std::vector<Blocks::Column> columns(blocks_.size(), {{}, point});
    for (std::size_t i = 0; i < order.size(); ++i)
      columns[order[i].block].choice.push_back(
          sub_.pool.position(blocks_[order[i].block].rooms[order[i].position], std::move(filled[i])));
    filled_.clear();
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      filled_.push_back(columns[b].choice);
      add_column(b, std::move(columns[b]), {}, more);
    }
    return true;
  }

  // The columns of which a sample's solution consists.
  void add_wanted() {
    std::map<std::size_t, std::size_t> fills;                         // by point: blocks that need it
    std::map<std::size_t, std::vector<std::size_t>> points_of_block;  // of rooms by themselves
    for (const auto& [b, point] : all_.wanted) {
      if (all_.points[point].is_fill)
        ++fills[point];
      else
        points_of_block[b].push_back(point);
    }
    all_.wanted.clear();
    add_columns({points_of_block.begin(), points_of_block.end()});
    std::vector<std::pair<std::size_t, std::size_t>> most;  // (blocks, point)
    for (const auto& [point, count] : fills) most.emplace_back(count, point);
    std::sort(most.rbegin(), most.rend());
    for (std::size_t i = 0; i < std::min(kTuning.generation.most_fills, most.size()); ++i)
      fill_rooms(most[i].second, side_.milp);
  }

  // Columns of blocks, each at several points. A block is one task: pricing a room keeps its state.
  void add_columns(const std::vector<std::pair<std::size_t, std::vector<std::size_t>>>& wanted) {
    std::vector<std::vector<Pricing::Result>> results(wanted.size());  // point after point
    std::atomic<bool> is_late = false;
    parallel_for(wanted.size(), task_.threads, [&](std::size_t i) {
      const auto& [b, points] = wanted[i];
      std::vector<double> pod_price(sub_.demand.classes.size());
      for (const std::size_t point : points)
        for (std::size_t at = 0; at < blocks_[b].rooms.size(); ++at) {
          if (is_late || task_.deadline.passed()) {
            is_late = true;
            return;
          }
          set_pod_prices(all_.points[point].price, index_of({b, at}), pod_price);
          results[i].push_back(pricing_of({b, at}).quick(pod_price));
        }
    });
    if (is_late) return;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const auto& [b, points] = wanted[i];
      auto next = results[i].begin();
      for (const std::size_t point : points) {
        const std::size_t size = blocks_[b].rooms.size();
        add_column(b, column_of(b, point, {next, size}), {}, side_.milp);
        next += static_cast<std::ptrdiff_t>(size);
      }
    }
  }

  // Adds a column of a block if it is new and has positive reduced profit at the master's prices (empty: any).
  void add_column(std::size_t b, Blocks::Column column, const std::vector<double>& master, lp::Milp& more) {
    Blocks::Block& block = blocks_[b];
    if (std::ranges::find(block.columns, column.choice, &Blocks::Column::choice) != block.columns.end()) return;
    const std::vector<lp::Entry> entries = entries_of(b, column.choice);
    double worth = 0;
    if (!master.empty())
      for (const lp::Entry& entry : entries) worth -= entry.value * master[static_cast<std::size_t>(entry.row)];
    if (!master.empty() && worth <= 1e-9 * std::max(1.0, master[static_cast<std::size_t>(block_rows_[b])])) return;
    more.add_column({0, 0, 1, false}, entries);
    owners_.push_back(b);
    block.columns.push_back(std::move(column));
  }

  RestrictedMaster& sub_;
  Blocks& all_;
  std::vector<Blocks::Block>& blocks_;
  const PricingTask& task_;
  cbc::Backend& backend_;
  DemandSide side_;            // its model becomes the master
  std::vector<RoomAt> rooms_;  // of all blocks, block by block
  std::vector<std::int32_t> block_rows_;
  std::vector<std::size_t> owners_;                 // of the master's further columns
  std::vector<std::vector<std::uint32_t>> filled_;  // by block: the choice of the last fill
  std::vector<double> sum_;                         // by row of the whole model; all zero between calls
};

}  // namespace

Blocks make_blocks(const RestrictedMaster& sub, std::size_t most) {
  const auto key = [&](formulation::ResidualClassIndex index) {
    const formulation::ResidualClass& room = sub.supply.rooms[index];
    const DeviceUnits largest = room.free_devices.empty() ? 0 : room.free_devices.back();
    DeviceUnits partial = 0;
    std::int64_t idle = 0;
    for (const DeviceUnits units : room.free_devices) {
      idle += units == largest ? 1 : 0;
      partial += units == largest ? 0 : units;
    }
    return std::tuple(room.zone, room.demands.size(), idle, room.free.empty() ? 0 : room.free[0], partial);
  };
  std::vector<formulation::ResidualClassIndex> order;
  for (formulation::ResidualClassIndex room : sub.supply.rooms.indices()) order.push_back(room);
  std::stable_sort(
      order.begin(), order.end(),
      [&](formulation::ResidualClassIndex a, formulation::ResidualClassIndex b) { return key(a) < key(b); });
  const std::size_t size = (order.size() + most - 1) / most;
  Blocks all;
  for (formulation::ResidualClassIndex room : order) {
    const bool is_new = all.blocks.empty() || all.blocks.back().rooms.size() >= size ||
                        sub.supply.rooms[all.blocks.back().rooms[0]].zone != sub.supply.rooms[room].zone ||
                        sub.supply.rooms[room].count() > static_cast<std::int64_t>(size);
    if (is_new) all.blocks.emplace_back();
    all.blocks.back().rooms.push_back(room);
  }
  for (Blocks::Block& block : all.blocks) {
    std::size_t most_known = 1;
    for (formulation::ResidualClassIndex room : block.rooms)
      most_known = std::max(most_known, sub.pool.configurations()[room].size());
    for (std::size_t k = 0; k < most_known; ++k) {
      Blocks::Column& column = block.columns.emplace_back();
      for (formulation::ResidualClassIndex room : block.rooms) {
        const std::size_t known = sub.pool.configurations()[room].size();
        column.choice.push_back(known == 0 ? Blocks::kEmpty : static_cast<std::uint32_t>(std::min(k, known - 1)));
      }
    }
  }
  return all;
}

Blocks sample_of(const RestrictedMaster& sub, const Blocks& whole, std::size_t rooms_each) {
  Blocks sample;
  for (const Blocks::Block& block : whole.blocks) {
    const std::size_t size = std::min(rooms_each, block.rooms.size());
    Blocks::Block& part = sample.blocks.emplace_back();
    double all = 0, taken = 0;
    std::vector<std::size_t> chosen;
    for (const formulation::ResidualClassIndex room : block.rooms)
      all += static_cast<double>(sub.supply.rooms[room].count());
    for (std::size_t i = 0; i < size; ++i) {  // evenly spread: neighbours are similar
      const std::size_t at = (2 * i + 1) * block.rooms.size() / (2 * size);
      part.rooms.push_back(block.rooms[at]);
      chosen.push_back(at);
      taken += static_cast<double>(sub.supply.rooms[block.rooms[at]].count());
    }
    part.scale = all / taken;
    for (const Blocks::Column& known : block.columns) {
      Blocks::Column& column = part.columns.emplace_back();
      for (const std::size_t at : chosen) column.choice.push_back(known.choice[at]);
    }
  }
  return sample;
}

void start_like(RestrictedMaster& sub, const Blocks& sample, const Blocks& whole, const PricingTask& task) {
  parallel_for(sample.blocks.size(), task.threads, [&](std::size_t b) {
    const std::vector<formulation::ResidualClassIndex>& known = sample.blocks[b].rooms;
    const std::vector<formulation::ResidualClassIndex>& rooms = whole.blocks[b].rooms;
    for (std::size_t at = 0; at < rooms.size() && !task.deadline.passed(); ++at)
      sub.pool.pricing(rooms[at]).start_like(sub.pool.pricing(known[at * known.size() / rooms.size()]));
  });
}

void adopt_sample(RestrictedMaster& sub, const Blocks& sample, Blocks& whole, const PricingTask& task) {
  const std::size_t first = whole.points.size();
  whole.points.insert(whole.points.end(), sample.points.begin(), sample.points.end());
  start_like(sub, sample, whole, task);
  for (std::size_t b = 0; b < sample.blocks.size(); ++b)
    for (const Blocks::Column& column : sample.blocks[b].columns)
      if (column.share > kNothing && column.point != Blocks::kNoPoint)
        whole.wanted.emplace_back(b, first + column.point);
}

Priced price_blocks(RestrictedMaster& sub, Blocks& blocks, const PricingTask& task, cbc::Backend& backend,
                    const OnRound& on_round) {
  return BlockGeneration(sub, blocks, task, backend).run(on_round);
}

Priced fill_blocks(RestrictedMaster& sub, Blocks& blocks, const PricingTask& task, cbc::Backend& backend) {
  return BlockGeneration(sub, blocks, task, backend).run_fill();
}

formulation::FormulationSolution disaggregate(const RestrictedMaster& sub, const Blocks& blocks,
                                              const std::vector<double>& x) {
  formulation::FormulationSolution solution = sub.formulation->round(x);
  for (const Blocks::Block& block : blocks.blocks) {
    std::vector<double> owed(block.columns.size(), 0.0);
    for (std::size_t at = 0; at < block.rooms.size(); ++at) {
      const formulation::ResidualClassIndex room = block.rooms[at];
      std::map<std::size_t, std::int64_t> chosen;
      for (std::int64_t n = 0; n < sub.supply.rooms[room].count() && !owed.empty(); ++n) {
        for (std::size_t k = 0; k < owed.size(); ++k) owed[k] += block.columns[k].share;
        const auto most = std::ranges::max_element(owed);
        *most -= 1;
        const std::uint32_t position = block.columns[static_cast<std::size_t>(most - owed.begin())].choice[at];
        if (position != Blocks::kEmpty) ++chosen[position];
      }
      solution.configurations[room.value()].assign(chosen.begin(), chosen.end());
    }
  }
  return solution;
}

}  // namespace muster::column_generation
