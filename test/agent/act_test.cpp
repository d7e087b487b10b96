#include "cli/agent/act.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using exporting::ExportedObject;
using exporting::ExportPhase;

ExportedObject object(const char* name, const char* gang, ExportPhase phase = ExportPhase::kNow) {
  return {"{}", phase, "team", name, "uid", "n1", gang, {}};
}

TEST(Acts, AreGroupedByGangEvictionsFirst) {
  exporting::ExportedPlan plan;
  plan.objects = {object("a-0", "a"), object("b-0", "b"), object("a-1", "a"), object("v", "c", ExportPhase::kEvictions),
                  object("later", "c", ExportPhase::kAfterEvictions)};
  const std::vector<ActGroup> groups = groups_of(plan);
  ASSERT_EQ(groups.size(), 3U) << "what waits for evictions comes with a later plan";
  EXPECT_EQ(groups[0].kind, ActKind::kEvict);
  EXPECT_EQ(groups[0].gang, "c");
  EXPECT_EQ(groups[1].gang, "a");
  ASSERT_EQ(groups[1].acts.size(), 2U);
  EXPECT_EQ(groups[1].acts[1].pod(), "team/a-1");
  EXPECT_EQ(groups[2].gang, "b");
}

// Of a gang that makes room for several others, no part leaves without the rest.
TEST(Acts, OfAGangThatLeavesStayTogether) {
  const auto eviction = [](const char* pod, const char* gang, const char* victim) {
    ExportedObject evicted = object(pod, gang, ExportPhase::kEvictions);
    evicted.victim = victim;
    return evicted;
  };
  exporting::ExportedPlan plan;
  plan.objects = {eviction("v-0", "a", "v"), eviction("w-0", "b", "w"), eviction("x-0", "c", "x"),
                  eviction("v-1", "b", "v"), eviction("s-0", "", "s"),  eviction("t-0", "", "t"),
                  eviction("s-1", "", "s"),  eviction("w-1", "b", "w")};
  const std::vector<ActGroup> groups = groups_of(plan);
  const auto names = [&](std::size_t group) {
    std::string text;
    for (const Act& act : groups.at(group).acts) text += act.object.name + " ";
    return text;
  };
  ASSERT_EQ(groups.size(), 4U);
  EXPECT_EQ(names(0), "v-0 w-0 v-1 w-1 ");
  EXPECT_EQ(groups[0].gang, "a");
  EXPECT_EQ(names(1), "x-0 ");
  EXPECT_EQ(names(2), "s-0 s-1 ") << "stale gangs leave for no other, each by itself";
  EXPECT_EQ(names(3), "t-0 ");
}

TEST(Acts, HaveTheRequestOfTheirMode) {
  const Act start{ActKind::kStart, object("a", "a")};
  const auto bindings = request_of(start, ApplyMode::kBindings, false);
  EXPECT_EQ(bindings.method, "POST");
  EXPECT_EQ(bindings.target, "/api/v1/namespaces/team/pods/a/binding?fieldManager=muster");
  EXPECT_EQ(bindings.body, "{}");
  const auto gates = request_of(start, ApplyMode::kGates, true);
  EXPECT_EQ(gates.method, "PATCH");
  EXPECT_EQ(gates.content_type, "application/strategic-merge-patch+json");
  EXPECT_EQ(gates.target, "/api/v1/namespaces/team/pods/a?fieldManager=muster&dryRun=All");
  const auto kai = request_of(start, ApplyMode::kKai, false);
  EXPECT_EQ(kai.target, "/apis/scheduling.run.ai/v1alpha2/namespaces/team/bindrequests?fieldManager=muster");
  for (const ApplyMode mode : {ApplyMode::kGates, ApplyMode::kKai, ApplyMode::kBindings}) {
    const auto eviction = request_of({ActKind::kEvict, object("a", "b", ExportPhase::kEvictions)}, mode, false);
    EXPECT_EQ(eviction.method, "POST");
    EXPECT_EQ(eviction.target, "/api/v1/namespaces/team/pods/a/eviction?fieldManager=muster");
  }
}

TEST(Acts, ARequestThatHasFailedIsTakenBackByItsUid) {
  ExportedObject taken = object("a", "a");
  taken.text = R"({"preconditions":{"uid":"r"}})";
  const auto request = request_of({ActKind::kTakeBack, taken}, ApplyMode::kKai, false);
  EXPECT_EQ(request.method, "DELETE");
  EXPECT_EQ(request.target, "/apis/scheduling.run.ai/v1alpha2/namespaces/team/bindrequests/a");
  EXPECT_EQ(request.body, taken.text);
}

}  // namespace
}  // namespace muster::cli
