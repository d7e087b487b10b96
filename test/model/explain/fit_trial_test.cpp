// Trials whether a need fits, and their budget.
#include <string>

#include <gtest/gtest.h>

#include "model/explain/reasons_packing.h"
#include "test/support/case.h"

namespace muster::explain {
namespace {

// Of the gang g, which has pods p and q.
struct Trial {
  explicit Trial(const std::string& body)
      : built(body), end(after_plan(*built, {})), room(RemainingCapacity::after(*built, end)) {}

  GangNeed need() const { return need_of_pods(*built, {built.pod("p"), built.pod("q")}); }
  GroupIndex root() const { return built->gangs[built.gang("g")].root; }

  test::Case built;
  AfterPlan end;
  RemainingCapacity room;
  VisitBudget budget{1'000'000};
};

std::string gang_of(const std::string& p, const std::string& q) {
  return R"("nodes":[{"name":"a","gpus":{"count":3}},{"name":"b","gpus":{"count":2}}],"gangs":[{"name":"g"}],)"
         R"("pods":[{"name":"p","gang":"g","gpu":{"count":)" +
         p + R"(}},{"name":"q","gang":"g","gpu":{"count":)" + q + "}}]";
}

TEST(VisitBudget, IsSpentByAsManyVisitsAsItHas) {
  VisitBudget budget(3);
  budget.spend(2);
  EXPECT_FALSE(budget.is_spent());
  budget.spend(1);
  EXPECT_TRUE(budget.is_spent());
}

TEST(VisitBudget, IsSpentOnceClosed) {
  VisitBudget budget(3);
  budget.close();
  EXPECT_TRUE(budget.is_spent());
  EXPECT_TRUE(budget.is_closed());
}

TEST(FitTrial, FindsThatPodsOfTwoClassesFit) {
  Trial trial(gang_of("3", "2"));
  EXPECT_EQ(FitTrial(*trial.built, &trial.end, trial.room, trial.budget).fits(trial.need(), trial.root(), {}),
            Fits::kYes);
}

TEST(FitTrial, ProvesThatFewPodsDoNotFit) {
  Trial trial(gang_of("3", "3"));
  EXPECT_FALSE(FitTrial(*trial.built, &trial.end, trial.room, trial.budget).packs(trial.need(), trial.root(), {}));
  EXPECT_EQ(FitTrial(*trial.built, &trial.end, trial.room, trial.budget).fits(trial.need(), trial.root(), {}),
            Fits::kNo);
}

TEST(FitTrial, LeavesTheRoomAsItWasAndSpendsItsVisits) {
  Trial trial(gang_of("3", "2"));
  VisitBudget small(1);
  const std::size_t mark = trial.room.mark();
  FitTrial(*trial.built, &trial.end, trial.room, small).fits(trial.need(), trial.root(), {});
  EXPECT_EQ(trial.room.mark(), mark);
  EXPECT_TRUE(small.is_spent());
}

}  // namespace
}  // namespace muster::explain
