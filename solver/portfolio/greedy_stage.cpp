#include "solver/portfolio/greedy_stage.h"

#include <algorithm>
#include <future>
#include <optional>
#include <utility>

#include "model/base/parallel.h"

namespace muster::portfolio {

bool GreedyStage::run(const Beside& beside) {
  const Clock::time_point start = Clock::now();
  const greedy::GreedyOptions greedy = options(static_cast<bool>(beside.own_thread));
  std::optional<Candidate> candidate;
  double start_ms = 0;
  std::future<void> reader;
  if (beside.own_thread) reader = std::async(std::launch::async, [&] { beside.own_thread(first_plan_); });
  parallel_for(2, task_.options().threads, [&](std::size_t part) {
    if (part == 0) {  // first if they run one after another: greedy alone knows when to stop
      if (!reader.valid()) beside.free_core();
    } else {
      const Clock::time_point begun = Clock::now();
      const FirstPlan::Ending ending(first_plan_, candidate);
      candidate = greedy::solve_greedy(task_.problem(), task_.shares(), greedy);
      start_ms = milliseconds_since(begun);
    }
  });
  ms_ = milliseconds_since(start);
  if (reader.valid()) reader.get();
  const InstanceSize& size = task_.size();
  // More starts than threads take longer than the first.
  if (greedy.starts <= std::max(1, task_.options().threads))
    time_.engines().learn_greedy_start(size.pods, size.leaving > 0, start_ms);
  const bool ran_out = time_.deadline().passed() || candidate->ran_out;
  offers_.put_first({*std::move(candidate), Origin::kGreedy, {}});
  if (const Clock::rep stopped = stopped_.load(); stopped != 0)
    time_.ends().learn_stopping(size.items(), milliseconds_since(Clock::time_point(Clock::duration(stopped))));
  return ran_out;
}

greedy::GreedyOptions GreedyStage::options(bool has_reader) {
  greedy::GreedyOptions greedy;
  greedy.threads = task_.options().threads;
  greedy.on_placed = [this, has_reader](Candidate placed) {
    if (has_reader) first_plan_.set_placed(placed);
    offers_.put_alone(std::move(placed));
  };
  if (task_.options().trace || has_reader)
    greedy.on_first = [this](const Candidate& first) {
      offers_.tracer().tell(Origin::kGreedy, first.levels, {});
      first_plan_.set(first);
    };
  // All starts of small clusters finish before another engine begins: the plan is then never worse than that of
  // greedy alone, even if a busy machine leaves it very little time.
  greedy.starts = time_.plan().greedy.starts;
  if (task_.has_clock()) set_stops(greedy);
  return greedy;
}

void GreedyStage::set_stops(greedy::GreedyOptions& greedy) {
  const GreedyTimes& times = time_.plan().greedy;
  const auto stops_after = [&](double ms) -> greedy::StartStops {
    const Clock::time_point now = Clock::now(), until = time_.after_begin(ms);
    const Clock::time_point claims_until =
        now + std::chrono::duration_cast<Clock::duration>(times.claiming * (until - now));
    return {[until] { return Clock::now() >= until; }, [claims_until] { return Clock::now() >= claims_until; }};
  };
  greedy.first_alone = times.first_alone;
  greedy.stop = stops_after(times.first_ms);
  greedy.stop_more = stops_after(times.more_ms);
  greedy.stop.all = [this, stops = std::move(greedy.stop.all)] {
    const bool is_due = stops();
    if (is_due) note_stop();
    return is_due;
  };
}

void GreedyStage::note_stop() {
  Clock::rep never = 0;
  stopped_.compare_exchange_strong(never, Clock::now().time_since_epoch().count());
}

}  // namespace muster::portfolio
