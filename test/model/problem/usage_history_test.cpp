#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "model/problem/histories.h"
#include "test/support/case.h"

namespace muster {
namespace {

constexpr Nanoseconds kHour = 3600 * kNanosecondsPerSecond;

// A queue above two, and one beside it.
const std::string kForest =
    R"("queues":[{"name":"top"},{"name":"a","parent":"top"},{"name":"b","parent":"top"},{"name":"c"}])";

// GPUs in use by a, b and c, from now on.
void use(UsageHistory& history, const Problem& problem, std::vector<Amount> gpus) {
  Indexed<QueueIndex, QueueAmounts> in_use(problem.queues.size());
  for (std::size_t i = 0; i < gpus.size(); ++i) in_use[QueueIndex(i + 1)][kQueueGpu] = gpus[i] * 1'000'000;
  history.set_in_use(problem.queues, in_use);
}

// GPUs by queue, as in a snapshot.
std::vector<double> gpus_of(const UsageHistory& history) {
  std::vector<SnapshotQueue> queues(4);
  const std::vector<std::string_view> names{"top", "a", "b", "c"};
  for (std::size_t i = 0; i < names.size(); ++i) queues[i].name = names[i];
  history.write(queues);
  std::vector<double> result;
  for (const SnapshotQueue& queue : queues) result.push_back(queue.gpu.usage.value() / 1e6);
  return result;
}

TEST(UsageHistory, HalvesWithEachHalfLifeThatAQueueIsIdle) {
  const test::Case built(kForest);
  UsageHistory history(kHour);
  history.advance(1000 * kHour);
  use(history, *built, {8, 0, 4});
  EXPECT_EQ(gpus_of(history), (std::vector<double>{0, 0, 0, 0})) << "no time has passed";
  history.advance(1001 * kHour);
  EXPECT_EQ(gpus_of(history), (std::vector<double>{4, 4, 0, 2}));
  history.advance(1002 * kHour);
  EXPECT_EQ(gpus_of(history), (std::vector<double>{6, 6, 0, 3}));
  use(history, *built, {0, 0, 0});
  history.advance(1004 * kHour);
  EXPECT_EQ(gpus_of(history), (std::vector<double>{1.5, 1.5, 0, 0.75}));
}

TEST(UsageHistory, InnerQueuesUseWhatTheirChildrenDo) {
  const test::Case built(kForest);
  UsageHistory history(kHour);
  history.advance(0);
  use(history, *built, {2, 4, 0});
  history.advance(kHour);
  EXPECT_EQ(gpus_of(history), (std::vector<double>{3, 1, 2, 0}));
}

TEST(UsageHistory, DoesNotDependOnTheStepsInWhichTimePasses) {
  const test::Case built(kForest);
  UsageHistory once(kHour), often(kHour);
  for (UsageHistory* history : {&once, &often}) {
    history->advance(0);
    use(*history, *built, {8, 1, 3});
  }
  once.advance(2 * kHour);
  for (int minute = 1; minute <= 120; ++minute) often.advance(minute * kHour / 60);
  EXPECT_NEAR(gpus_of(once)[1], gpus_of(often)[1], 1e-5);
  EXPECT_EQ(gpus_of(once)[1], 6);
}

TEST(UsageHistory, TimeNeverGoesBack) {
  const test::Case built(kForest);
  UsageHistory history(kHour);
  history.advance(2 * kHour);
  use(history, *built, {8, 0, 0});
  history.advance(kHour);
  EXPECT_EQ(gpus_of(history)[1], 0);
  history.advance(3 * kHour);
  EXPECT_EQ(gpus_of(history)[1], 4) << "an hour since the latest instant";
}

TEST(UsageHistory, ForgetsQueuesThatHaveBeenIdleForLong) {
  const test::Case built(kForest);
  UsageHistory history(kHour);
  history.advance(0);
  use(history, *built, {8, 0, 0});
  history.advance(kHour);
  EXPECT_EQ(history.averages().size(), 2U);
  use(history, *built, {0, 0, 0});
  history.advance(40 * kHour);
  EXPECT_TRUE(history.averages().empty());
}

TEST(UsageHistory, GoesOnFromTheAveragesThatItIsGiven) {
  UsageHistory history(kHour);
  history.set_average("a", {8'000'000, 0, 0});
  history.advance(5 * kHour);
  EXPECT_EQ(gpus_of(history)[1], 8);
  history.advance(6 * kHour);
  EXPECT_EQ(gpus_of(history)[1], 4);
}

}  // namespace
}  // namespace muster
