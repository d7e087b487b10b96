// Times of a cycle that are learnt from the previous cycles: of its end, and of what the engines need. In milliseconds.
// The first values are those of model/base/tuning.h.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "model/base/tuning.h"

namespace muster {

// The time per item for a varying number of items: rises immediately, falls by halves.
class LearntRate {
 public:
  explicit LearntRate(double nanoseconds_each = 0, std::int64_t few = kTuning.forecast.few_items)
      : first_(nanoseconds_each), nanoseconds_each_(nanoseconds_each), few_(few) {}
  double of(std::int64_t things) const { return nanoseconds_each_ * static_cast<double>(things) / 1e6; }
  void learn(std::int64_t things, double milliseconds) {
    if (things < few_) return;  // with so few, the rate does not carry over
    const double measured = 1e6 * milliseconds / static_cast<double>(things);
    nanoseconds_each_ = std::max(measured, (nanoseconds_each_ + measured) / 2);
  }
  // Half the way back to the first value: for a step that is left out because of its rate, and so would not be measured
  // again.
  void forget() { nanoseconds_each_ = (nanoseconds_each_ + first_) / 2; }

 private:
  double first_, nanoseconds_each_;
  std::int64_t few_;
};

// The time for the end of a line, from when the last engine has finished or its time is up: the return from that engine
// and its cleanup, then the referee, the report and everything else that reads the plan, in proportion to pods and
// nodes. The times of previous lines are the best estimate.
//
// Reasons are written as long as there is time, and a search with too little time leaves more pending gangs to write
// reasons for. So reasons are counted separately, and get only a small part of the time: else each line would leave the
// search less than the one before.
class EndForecast {
 public:
  // `items`: pods and nodes of the line; `whole_ms`: its total time.
  double of(std::int64_t items, double whole_ms) const { return coming_back(whole_ms) + ending(items, whole_ms); }
  // The return from the last engine. Of short times a part, as a first return is not known.
  double coming_back(double whole_ms) const {
    return std::min(coming_back_ms_, std::max(kTuning.forecast.answer_ms, kTuning.parts.aside * whole_ms));
  }
  // All else.
  double ending(std::int64_t items, double whole_ms) const {
    return checking(items) + std::min(kTuning.forecast.margin * reasons_.of(items), kTuning.parts.aside * whole_ms);
  }
  // What reads and checks a plan, without reasons and without the return from an engine.
  double checking(std::int64_t items) const { return kTuning.forecast.margin * all_but_reasons_.of(items); }

  // From when greedy is asked to stop until it has finished.
  double stopping(std::int64_t items) const { return kTuning.forecast.margin * stopping_.of(items); }
  void learn_stopping(std::int64_t items, double milliseconds) { stopping_.learn(items, milliseconds); }

  // A longer return than the start of a process takes is the machine's doing, not the engine's.
  void learn_coming_back(double milliseconds) {
    coming_back_ms_ = std::clamp(std::max(milliseconds, (coming_back_ms_ + milliseconds) / 2),
                                 kTuning.forecast.answer_ms, kTuning.forecast.start_ms);
  }
  void learn(std::int64_t items, double all_but_reasons_ms, double reasons_ms) {
    all_but_reasons_.learn(items, all_but_reasons_ms);
    reasons_.learn(items, reasons_ms);
  }

 private:
  LearntRate all_but_reasons_{kTuning.forecast.first_end_ns}, reasons_, stopping_{kTuning.forecast.glance_ns};
  double coming_back_ms_ = kTuning.forecast.start_ms;  // the most that is learnt, until one is measured
};

// What the engines need for a first plan. Each kind of cluster has a rate of its own.
class EngineForecast {
 public:
  // Greedy's first start, which takes far longer if it evicts.
  double greedy_start(std::int64_t pods, bool may_evict) const { return start_[may_evict ? 1 : 0].of(pods); }
  void learn_greedy_start(std::int64_t pods, bool may_evict, double milliseconds) {
    start_[may_evict ? 1 : 0].learn(pods, milliseconds);
  }

  // From when the MILP engine begins until it has a better plan. `nodes_differ`: by what runs on them.
  double first_plan(std::int64_t items, bool nodes_differ) const { return plan_[nodes_differ ? 1 : 0].of(items); }
  void learn_first_plan(std::int64_t items, bool nodes_differ, double milliseconds) {
    plan_[nodes_differ ? 1 : 0].learn(items, milliseconds);
  }
  // Choosing beside greedy among kinds of gangs, until it has a better plan or has found that there is none.
  double choice(std::int64_t kinds) const { return choice_.of(kinds); }
  // `is_enough`: else the time was up before, and more is needed.
  void learn_choice(std::int64_t kinds, double milliseconds, bool is_enough) {
    choice_.learn(kinds, is_enough ? milliseconds : kTuning.forecast.margin * milliseconds);
  }
  void note_choice_left_out() { choice_.forget(); }
  // The engine was not begun, as it would have had no time for a first plan.
  void note_left_out(bool nodes_differ) { plan_[nodes_differ ? 1 : 0].forget(); }

 private:
  static constexpr double kNanoseconds = 1'000;  // a microsecond
  std::array<LearntRate, 2> start_{LearntRate(kNanoseconds * kTuning.needs.greedy_start_us),
                                   LearntRate(kNanoseconds* kTuning.needs.greedy_start_us)};
  std::array<LearntRate, 2> plan_{LearntRate(kNanoseconds * kTuning.needs.first_plan_us),
                                  LearntRate(kNanoseconds* kTuning.needs.first_plan_us)};
  LearntRate choice_{kNanoseconds * kTuning.needs.choice_us, kTuning.forecast.few_kinds};
};

// Milliseconds, until a plan is written; as long as for all else that is written of an item.
inline double time_to_write_reasons(std::int64_t reasons) {
  return kTuning.forecast.margin * kTuning.forecast.first_end_ns * static_cast<double>(reasons) / 1e6;
}

// The time to write the report on a plan, in proportion to gangs and queues, without reasons: the writer of reasons
// keeps time for this. A fixed part is for waking the writing thread.
class WritingForecast {
 public:
  double of(std::int64_t things) const {
    return kTuning.forecast.waking_ms + kTuning.forecast.margin * rate_.of(things);
  }
  void learn(std::int64_t things, std::int64_t reasons, double milliseconds) {
    rate_.learn(things, std::max(0.0, milliseconds - time_to_write_reasons(reasons)));
  }

 private:
  LearntRate rate_{kTuning.forecast.first_end_ns};
};

}  // namespace muster
