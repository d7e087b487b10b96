#include "solver/slots/slots.h"

#include <optional>
#include <utility>

#include "model/base/tuning.h"
#include "solver/lp/model_builder.h"
#include "solver/slots/dealing.h"
#include "solver/slots/pod_kinds.h"
#include "solver/slots/slot_model.h"
#include "solver/slots/supply.h"

namespace muster::slots {
namespace {

Work homeless_work(const SlotTask& task, const SlotResult& result) {
  Work work = 0;
  for (const std::size_t unit : result.homeless)
    for (const PodIndex pod : task.placed[unit].pods) work += task.problem.pods[pod].weighted_work;
  return work;
}

bool is_better(const SlotTask& task, const SlotResult& one, const SlotResult& other) {
  return std::pair(homeless_work(task, one), one.moved_work) < std::pair(homeless_work(task, other), other.moved_work);
}

class Places {
 public:
  Places(const SlotTask& task, const PlaceTime& time, cbc::Backend* backend)
      : task_(task), time_(time), deadline_(time.improving), backend_(backend), kinds_(task) {}

  std::optional<SlotResult> find() {
    Preparation preparation = choose_left(task_, kinds_);
    std::optional<SlotResult> first = Dealing(task_, kinds_, time_).deal(preparation);
    if (!first) return std::nullopt;
    Found best{std::move(preparation), *std::move(first)};
    std::optional<Work> least = 0;
    if (backend_ != nullptr && !best.result.is_proven() && !deadline_.passed()) {
      least = improve(best, Rounding::kLeast);
      if (least && !best.result.homeless.empty() && !deadline_.passed()) improve(best, Rounding::kMean);
    }
    if (least && !best.result.homeless.empty() && !deadline_.passed())
      take_better(best.preparation, Dealing(task_, kinds_, time_).deal(best.preparation, &deadline_), best);
    best.result.least_moved = least;
    return std::move(best.result);
  }

 private:
  struct Found {
    Preparation preparation;
    SlotResult result;
  };
  void take_better(Preparation preparation, std::optional<SlotResult> result, Found& best) const {
    if (result && is_better(task_, *result, best.result)) best = {std::move(preparation), *std::move(result)};
  }

  // Returns the least moved work of the model.
  std::optional<Work> improve(Found& best, Rounding rounding) {
    try {
      const Deadline time = deadline_.part(kTuning.parts.half);
      const Supply supply(task_, kinds_, rounding, time);
      return improve(best, SlotModel(task_, kinds_, supply, time));
    } catch (const lp::ModelTooLong&) {
      return 0;
    }
  }

  std::optional<Work> improve(Found& best, const SlotModel& model) {
    if (static_cast<std::size_t>(model.columns()) > kTuning.listing.most_columns) return 0;
    cbc::MilpRequest request;
    request.deadline = deadline_.after(kTuning.parts.main);
    request.work = deadline_.part(kTuning.parts.main).work();
    std::optional<Work> known;
    if (best.result.homeless.empty()) known = best.result.moved_work;
    SlotModel::Outcome outcome = model.solve(*backend_, request, known);
    if (outcome.preparation) {
      std::optional<SlotResult> result = Dealing(task_, kinds_, time_).deal(*outcome.preparation);
      take_better(*std::move(outcome.preparation), std::move(result), best);
    }
    return outcome.least_moved;
  }

  const SlotTask& task_;
  const PlaceTime& time_;
  const Deadline& deadline_;  // of it, for what improves the places
  cbc::Backend* backend_;
  const PodKinds kinds_;
};

}  // namespace

std::optional<SlotResult> find_places(const SlotTask& task, const PlaceTime& time, cbc::Backend* backend) {
  return Places(task, time, backend).find();
}

}  // namespace muster::slots
