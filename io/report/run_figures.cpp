#include "io/report/run_figures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "model/base/require.h"
#include "model/problem/gang_sizes.h"

namespace muster::reporting {
namespace {

// Gangs of one size, or all.
struct Group {
  std::int64_t submitted = 0, started = 0, finished = 0, dropped = 0;
  std::vector<double> waiting, completion;

  void add(const GangOutcome& gang) {
    ++submitted;
    started += gang.has_started ? 1 : 0;
    finished += gang.completed ? 1 : 0;
    dropped += gang.is_dropped ? 1 : 0;
    if (!gang.is_dropped) waiting.push_back(gang.waited);
    if (gang.completed) completion.push_back(*gang.completed);
  }
};

void write_spans(json::JsonWriter& json, std::string_view key, std::vector<double> spans) {
  json.raw(",").string(key).raw(R"(:{"count":)").integer(std::ssize(spans));
  if (!spans.empty()) {
    std::ranges::sort(spans);
    const auto ranked = [&](std::size_t percent) { return spans[(spans.size() * percent + 99) / 100 - 1]; };
    const double sum = std::accumulate(spans.begin(), spans.end(), 0.0);
    json.raw(R"(,"mean":)").number(sum / static_cast<double>(spans.size()));
    json.raw(R"(,"p50":)").number(ranked(50)).raw(R"(,"p99":)").number(ranked(99));
    json.raw(R"(,"max":)").number(spans.back());
  }
  json.raw("}");
}

void write_group(json::JsonWriter& json, const Group& group) {
  json.raw(R"("submitted":)").integer(group.submitted).raw(R"(,"started":)").integer(group.started);
  json.raw(R"(,"finished":)").integer(group.finished).raw(R"(,"dropped":)").integer(group.dropped);
  write_spans(json, "waiting", group.waiting);
  write_spans(json, "completion", group.completion);
}

double part(double value, double of) { return of > 0 ? value / of : 0; }

}  // namespace

RunFigures::Fairness RunFigures::fairness_of(const std::vector<QueueSample>& queues) {
  Fairness fairness;
  double sum = 0, squares = 0, entitled = 0;
  for (const QueueSample& queue : queues) {
    const double share = queue.fair_share.value_or(0), used = queue.allocated.value_or(0);
    fairness.shortfall += std::max(0.0, share - used);
    if (share <= 0) continue;
    entitled += 1;
    sum += used / share;
    squares += used / share * (used / share);
  }
  if (squares > 0) fairness.jain = sum * sum / (entitled * squares);
  return fairness;
}

void RunFigures::pass(double time, double running) {
  MUSTER_REQUIRE(time >= time_);
  const double seconds = time - time_;
  time_ = time;
  whole_.capacity += capacity_ * seconds;
  whole_.allocated += std::clamp(beside_running_ + running, 0.0, capacity_) * seconds;
  if (!now_) return;
  sampled_seconds_ += seconds;
  sampled_gpu_seconds_ += capacity_ * seconds;
  shortfall_ += now_->shortfall * seconds;
  jain_ += now_->jain * seconds;
}

void RunFigures::add(const CycleEvent& event, double running) {
  capacity_ = event.capacity;
  beside_running_ = event.allocated - running;
  now_ = fairness_of(event.queues);
  moved_ += event.moved;
}

void RunFigures::add(std::string_view what, const GangEvent& event) {
  if (what == "interrupt") lost_ += event.lost;
  if (what != "evict") return;
  if (event.reason == "preempt") preempted_ += event.pods;
  if (event.reason == "reclaim") reclaimed_ += event.pods;
}

void RunFigures::write_use(json::JsonWriter& json) const {
  json.raw(R"("allocation":{"mean":)").number(part(whole_.allocated, whole_.capacity));
  json.raw(R"(,"whileArriving":)").number(part(until_last_arrival_.allocated, until_last_arrival_.capacity));
  json.raw(R"(,"useful":)").number(part(whole_.allocated - lost_, whole_.capacity));
  json.raw(R"(},"evictions":{"preempt":)").integer(preempted_).raw(R"(,"reclaim":)").integer(reclaimed_);
  json.raw(R"(},"moves":)").integer(moved_).raw(R"(,"lost":)").number(lost_);
  json.raw(R"(,"fairness":{"shortfall":)").number(part(shortfall_, sampled_gpu_seconds_));
  json.raw(R"(,"jain":)").number(sampled_seconds_ > 0 ? jain_ / sampled_seconds_ : 1).raw("}");
}

void RunFigures::write(json::JsonWriter& json, const std::vector<GangOutcome>& gangs) const {
  Group all, large;
  std::array<Group, kGangSizes.size()> by_size;
  for (const GangOutcome& gang : gangs) {
    const Work gpus = std::llround(gang.gpus * 1000);
    all.add(gang);
    if (gpus >= kLargeGang) large.add(gang);
    by_size[gang_size(gpus)].add(gang);
  }
  json.raw(R"(,"figures":{)");
  write_use(json);
  json.raw(R"(,"gangs":{)");
  write_group(json, all);
  json.raw(R"(},"large":{)");
  write_group(json, large);
  json.raw(R"(},"bySize":[)");
  bool first = true;
  for (std::size_t i = 0; i < kGangSizes.size(); ++i) {
    if (by_size[i].submitted == 0) continue;
    json.separate(first).raw(R"({"gpus":)").string(kGangSizes[i].name).raw(",");
    write_group(json, by_size[i]);
    json.raw("}");
  }
  json.raw("]}");
}

}  // namespace muster::reporting
