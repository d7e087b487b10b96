#include "io/report/cycle_curves.h"

#include <utility>

#include "io/report/columns.h"

namespace muster::reporting {
namespace {

void add_counts_of(const CyclePoint& before, CyclePoint& point) {
  point.placed += before.placed;
  point.evicted += before.evicted;
  point.moved += before.moved;
}

}  // namespace

void CycleCurves::add(CyclePoint point) {
  add_counts_of(std::exchange(passed_over_, {}), point);
  if (++since_kept_ < stride_) {
    passed_over_ = std::move(point);
    return;
  }
  since_kept_ = 0;
  points_.push_back(std::move(point));
  if (points_.size() >= 2 * kMostCycles) thin();
}

void CycleCurves::thin() {
  std::vector<CyclePoint> kept;
  for (std::size_t i = 1; i < points_.size(); i += 2) {
    add_counts_of(points_[i - 1], points_[i]);
    kept.push_back(std::move(points_[i]));
  }
  points_ = std::move(kept);
  stride_ *= 2;
}

void CycleCurves::write(json::JsonWriter& json, const std::vector<std::string>& queues) const {
  using Point = CyclePoint;
  json.raw(R"(,"cycles":{"every":)").integer(static_cast<std::int64_t>(stride_));
  add_numbers(json, "time", points_, [](const Point& point) { return point.time; });
  add_numbers(json, "capacity", points_, [](const Point& point) { return point.capacity; });
  add_numbers(json, "allocated", points_, [](const Point& point) { return point.allocated; });
  add_numbers(json, "fragmentation", points_, [](const Point& point) { return point.fragmentation; });
  add_counts(json, "running", points_, [](const Point& point) { return point.running; });
  add_counts(json, "pending", points_, [](const Point& point) { return point.pending; });
  add_counts(json, "placed", points_, [](const Point& point) { return point.placed; });
  add_counts(json, "evicted", points_, [](const Point& point) { return point.evicted; });
  add_counts(json, "moved", points_, [](const Point& point) { return point.moved; });
  add_counts(json, "waitingGangs", points_, [](const Point& point) { return point.waiting_gangs; });
  add_numbers(json, "waitingGpus", points_, [](const Point& point) { return point.waiting_gpus; });
  json.raw(R"(,"queues":[)");
  for (std::size_t queue = 0; queue < queues.size(); ++queue) {
    const auto of = [&](const std::vector<double>& values) { return queue < values.size() ? values[queue] : 0.0; };
    json.raw(queue == 0 ? R"({"name":)" : R"(,{"name":)").string(queues[queue]);
    add_numbers(json, "fairShare", points_, [&](const Point& point) { return of(point.fair_share); });
    add_numbers(json, "allocated", points_, [&](const Point& point) { return of(point.used); });
    json.raw("}");
  }
  json.raw("]}");
}

}  // namespace muster::reporting
