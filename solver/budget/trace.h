// What is known while a plan is searched for: values of the best plan so far and proven bounds, reported as they
// change.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "model/objective/levels.h"
#include "model/objective/origin.h"

namespace muster {

struct TraceEvent {
  Origin engine = Origin::kNone;  // its source
  LevelId level;
  std::int64_t value = 0;             // of the best plan so far, in level_scale
  std::optional<std::int64_t> bound;  // proven, given the best plan's values before this level; none: not proven
};
using TraceSink = std::function<void(const TraceEvent&)>;  // called by the thread that solves; may be empty

// Between the engines and the sink: passes on what is new. Cost: O(levels) a call, nothing without a sink.
class Tracer {
 public:
  using Bounds = std::vector<std::optional<std::int64_t>>;

  Tracer(std::vector<LevelId> ids, TraceSink sink) : ids_(std::move(ids)), sink_(std::move(sink)) {}

  // The best plan's levels, and what is proven now (may be empty). A bound that was reported before stays as long as
  // the values before its level do.
  void tell(Origin engine, const Levels& best, const Bounds& bounds) {
    if (!sink_) return;
    const bool is_first = values_.empty();
    values_.resize(ids_.size());
    bounds_.resize(ids_.size());
    bool holds = true;  // the reported bounds
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      std::optional<std::int64_t> bound = i < bounds.size() ? bounds[i] : std::nullopt;
      if (holds && bounds_[i] && (!bound || is_tighter(i, *bounds_[i], *bound))) bound = bounds_[i];
      const bool is_new = is_first || values_[i] != best.values[i] || bounds_[i] != bound;
      holds = holds && values_[i] == best.values[i];
      values_[i] = best.values[i];
      bounds_[i] = bound;
      if (is_new) sink_({engine, ids_[i], values_[i], bounds_[i]});
    }
  }

 private:
  bool is_tighter(std::size_t level, std::int64_t a, std::int64_t b) const {
    return is_maximised(ids_[level].kind) ? a < b : a > b;
  }

  std::vector<LevelId> ids_;
  TraceSink sink_;
  std::vector<std::int64_t> values_;
  Bounds bounds_;
};

}  // namespace muster
