// The rules of evictions, and of the order in which room is freed: valid plans pass, and each way to break one is
// found.
#include "model/referee/rule.h"
#include "test/model/breaches.h"

namespace muster::test {
namespace {

// A gang of three GPUs takes the place of a whole gang and of one pod of an elastic one.
const Scenario kPreempting{"preempting", R"json({"format":"muster/v1","time":1000,
 "nodes":[{"name":"n1","resources":{"cpu":8},"gpus":{"count":4}},{"name":"n2","resources":{"cpu":8},"gpus":{"count":1}}],
 "queues":[{"name":"q","preemptMinRuntime":"100s"},{"name":"elsewhere"}],
 "gangs":[
  {"name":"low","queue":"q","priority":10,"minMember":2},
  {"name":"elastic","queue":"q","priority":10,"minMember":1},
  {"name":"firm","queue":"q","priority":10,"preemptible":false,"minMember":1},
  {"name":"high","queue":"q","priority":50,"minMember":3},
  {"name":"mild","queue":"q","priority":10,"minMember":1},
  {"name":"foreign","queue":"elsewhere","priority":60,"minMember":1},
  {"name":"unplaced","queue":"q","priority":90,"minMember":1}],
 "pods":[
  {"name":"low-0","gang":"low","resources":{"cpu":1},"gpu":{"count":1},"node":"n1","gpus":[0],"started":899},
  {"name":"low-1","gang":"low","resources":{"cpu":1},"gpu":{"count":1},"node":"n1","gpus":[1],"started":100},
  {"name":"elastic-0","gang":"elastic","resources":{"cpu":1},"gpu":{"count":1},"node":"n1","gpus":[2],"started":999},
  {"name":"elastic-1","gang":"elastic","resources":{"cpu":1},"gpu":{"count":1},"node":"n1","gpus":[3],"started":999},
  {"name":"firm-0","gang":"firm","resources":{"cpu":1},"gpu":{"count":1},"node":"n2","gpus":[0],"started":100},
  {"name":"high-0","gang":"high","resources":{"cpu":1},"gpu":{"count":1}},
  {"name":"high-1","gang":"high","resources":{"cpu":1},"gpu":{"count":1}},
  {"name":"high-2","gang":"high","resources":{"cpu":1},"gpu":{"count":1}},
  {"name":"mild-0","gang":"mild","resources":{"cpu":1}},
  {"name":"foreign-0","gang":"foreign","resources":{"cpu":1}},
  {"name":"unplaced-0","gang":"unplaced","resources":{"cpu":1}}]})json",
                           R"(evict low-0 preempt high
evict low-1 preempt high
evict elastic-1 preempt high
place high-0 n1 gpus 0 after low-0
place high-1 n1 gpus 1 after low-1
place high-2 n1 gpus 3 after elastic-1
place mild-0 n1
place foreign-0 n1
)"};

const Breach kPreemptingBreaches[] = {
    {"preemption is not among the actions", referee::Rule::kAction, R"("time":1000,)",
     R"("time":1000,"policy":{"actions":["place","reclaim"]},)"},
    {"a device that its victim still holds", referee::Rule::kDevices, "place high-0 n1 gpus 0 after low-0",
     "place high-0 n1 gpus 0 after low-1"},
    {"the room of a victim that is not named", referee::Rule::kAfter, "place high-0 n1 gpus 0 after low-0",
     "place high-0 n1 gpus 0 after low-1"},
    {"what is not preemptible is evicted", referee::Rule::kWho, "evict elastic-1 preempt high",
     "evict firm-0 preempt high"},
    {"a pending pod is evicted", referee::Rule::kWho, "evict elastic-1 preempt high", "evict unplaced-0 preempt high"},
    {"half of a gang is evicted", referee::Rule::kWholeGangs, "evict low-1 preempt high\n", ""},
    {"a surplus pod of a gang that leaves as a whole", referee::Rule::kWholeGangs,
     R"("name":"elastic","queue":"q","priority":10,)",
     R"("name":"elastic","queue":"q","priority":10,"disruption":"whole",)"},
    {"the minimum of a gang that gives its surplus only", referee::Rule::kWholeGangs,
     R"("name":"low","queue":"q","priority":10,)", R"("name":"low","queue":"q","priority":10,"disruption":"surplus",)"},
    {"for a gang of another queue", referee::Rule::kPreempt, "evict elastic-1 preempt high",
     "evict elastic-1 preempt foreign"},
    {"for a gang of the same priority", referee::Rule::kPreempt, "evict elastic-1 preempt high",
     "evict elastic-1 preempt mild"},
    {"for a gang that is not placed", referee::Rule::kPreempt, "evict elastic-1 preempt high",
     "evict elastic-1 preempt unplaced"},
    {"for no gang", referee::Rule::kPreempt, "evict elastic-1 preempt high", "evict elastic-1 preempt"},
    {"for a gang that never preempts", referee::Rule::kPreempt, R"("name":"high","queue":"q",)",
     R"("name":"high","queue":"q","preemptionPolicy":"Never",)"},
    {"a victim within its minimum run time", referee::Rule::kPreempt, R"("started":899)", R"("started":901)"},
    {"a surplus pod that could have stayed", referee::Rule::kNotInVain, "place high-2 n1 gpus 3 after elastic-1",
     "place high-2 n1 gpus 1 after low-1"},
    {"a gang that could have stayed", referee::Rule::kNotInVain,
     "place high-0 n1 gpus 0 after low-0\nplace high-1 n1 gpus 1 after low-1\nplace high-2 n1 gpus 3 after elastic-1\n",
     ""},
};

TEST(RefereeOfPreemption, PassesAValidPlan) { expect_valid(kPreempting); }

TEST(RefereeOfPreemption, FindsEveryBreach) {
  for (const Breach& breach : kPreemptingBreaches) expect_found(kPreempting, breach);
}

TEST(RefereeOfPreemption, LetsTheSurplusOfAGangGoThatKeepsItsMinimum) {
  Scenario scenario = kPreempting;
  replace_once(scenario.snapshot, R"("name":"elastic","queue":"q","priority":10,)",
               R"("name":"elastic","queue":"q","priority":10,"disruption":"surplus",)");
  expect_valid(scenario);
}

TEST(RefereeOfPreemption, LetsAGangGoAsAWholeThatDoesNotLeaveOtherwise) {
  Scenario scenario = kPreempting;
  replace_once(scenario.snapshot, R"("name":"low","queue":"q","priority":10,)",
               R"("name":"low","queue":"q","priority":10,"disruption":"whole",)");
  expect_valid(scenario);
}

TEST(RefereeOfPreemption, LetsNoNewPodTakeThePlaceOfAGangThatLeavesAsAWhole) {
  Scenario scenario = kPreempting;
  replace_once(scenario.snapshot, R"(  {"name":"high-0",)", R"(  {"name":"low-2","gang":"low","resources":{"cpu":1}},
  {"name":"low-3","gang":"low","resources":{"cpu":1}},
  {"name":"high-0",)");
  replace_once(scenario.plan, "place mild-0 n1\n", "place mild-0 n1\nplace low-2 n1\nplace low-3 n1\n");
  expect_valid(scenario);
  expect_found(scenario,
               {"all that ran is replaced", referee::Rule::kWholeGangs, R"("name":"low","queue":"q","priority":10,)",
                R"("name":"low","queue":"q","priority":10,"disruption":"whole",)"});
}

// Two of the three pods stay for good.
TEST(RefereeOfQueues, CountsAMinimumThatStaysAsNotPreemptible) {
  const Scenario scenario{"core", R"json({"format":"muster/v1","time":1000,
 "nodes":[{"name":"n","resources":{"cpu":8},"gpus":{"count":6}}],"queues":[{"name":"q","gpu":{"quota":4}}],
 "gangs":[{"name":"serve","queue":"q","minMember":2,"disruption":"surplus"},
          {"name":"fixed","queue":"q","minMember":1,"preemptible":false}],
 "pods":[{"name":"serve-0","gang":"serve","gpu":{"count":1},"node":"n","gpus":[0]},
         {"name":"serve-1","gang":"serve","gpu":{"count":1},"node":"n","gpus":[1]},
         {"name":"serve-2","gang":"serve","gpu":{"count":1},"node":"n","gpus":[2]},
         {"name":"fixed-0","gang":"fixed","gpu":{"count":2}}]})json",
                          "place fixed-0 n gpus 3 4\n"};
  expect_valid(scenario);
  expect_found(scenario, {"beyond the quota", referee::Rule::kQuota, R"("quota":4)", R"("quota":3)"});
}

// Its victims lose 101, 900 and 1 GPU seconds; the gang of three GPUs has waited 400 s.
TEST(RefereeOfPreemption, CountsWhatAllVictimsOfAGangLoseAgainstWhatItHasWaited) {
  const auto at_price = [](const std::string& price) {
    Scenario scenario = kPreempting;
    replace_once(scenario.snapshot, R"("time":1000,)",
                 R"("time":1000,"policy":{"overTime":{"evictionPrice":)" + price + "}},");
    replace_once(scenario.snapshot, R"("name":"high","queue":"q",)", R"("name":"high","queue":"q","created":600,)");
    return scenario;
  };
  expect_valid(at_price("0.836"));
  expect_found(at_price("0.836"), {"a price a little too low", referee::Rule::kPrice, "0.836", "0.834"});
  expect_found(at_price("0.836"), {"an earlier start", referee::Rule::kPrice, R"("started":100},
  {"name":"elastic-0")",
                                   R"("started":90},
  {"name":"elastic-0")"});
  Scenario saved = at_price("0.3");
  replace_once(saved.snapshot, R"("name":"low","queue":"q",)", R"("name":"low","queue":"q","checkpointed":980,)");
  expect_valid(saved);
}

TEST(RefereeOfPreemption, LetsYoungPodsOfAWholeGangBeItsSurplus) {
  Scenario scenario = kPreempting;
  replace_once(scenario.snapshot, R"("name":"low","queue":"q","priority":10,"minMember":2)",
               R"("name":"low","queue":"q","priority":10,"minMember":1)");
  replace_once(scenario.snapshot, R"("started":899)", R"("started":990)");
  replace_once(scenario.plan, "evict elastic-1 preempt high",
               "evict elastic-1 preempt high\nevict elastic-0 preempt high");
  const Case changed = Case::of_line(scenario.snapshot);
  for (const referee::Violation& violation : changed.check(plan_of(changed, scenario.plan))) {
    EXPECT_FALSE(violation.rule == referee::Rule::kPreempt && violation.subject.starts_with("low"))
        << violation.message;
  }
}

// A gang of two roles loses surplus of the one that runs and gets a pod of the other, and then has its minimum.
const Scenario kCompleting{"completing", R"json({"format":"muster/v1","time":1000,
 "nodes":[{"name":"n","gpus":{"count":4}},{"name":"far","resources":{"cpu":1}}],
 "queues":[{"name":"q","preemptMinRuntime":"100s"}],
 "gangs":[{"name":"high","queue":"q","priority":50,"minMember":1},
  {"name":"roles","queue":"q","priority":10,"subgroups":[{"name":"a","minMember":1},{"name":"b","minMember":1}]}],
 "pods":[
  {"name":"high-0","gang":"high","gpu":{"count":2}},
  {"name":"a-0","gang":"roles","subgroup":"a","gpu":{"count":1},"node":"n","gpus":[0],"started":990},
  {"name":"a-1","gang":"roles","subgroup":"a","gpu":{"count":1},"node":"n","gpus":[1],"started":990},
  {"name":"a-2","gang":"roles","subgroup":"a","gpu":{"count":1},"node":"n","gpus":[2],"started":990},
  {"name":"b-0","gang":"roles","subgroup":"b","gpu":{"count":1}},
  {"name":"b-1","gang":"roles","subgroup":"b","resources":{"cpu":1}}]})json",
                           R"(evict a-1 preempt high
evict a-2 preempt high
place high-0 n gpus 1 2 after a-1 a-2
place b-0 n gpus 3
)"};

const Breach kCompletingBreaches[] = {
    {"the pod that completes its minimum is not placed", referee::Rule::kWholeGangs, "place b-0 n gpus 3\n", ""},
    {"young pods of a gang that goes whole", referee::Rule::kPreempt,
     "evict a-1 preempt high\nevict a-2 preempt high\n",
     "evict a-0 preempt high\nevict a-1 preempt high\nevict a-2 preempt high\n"},
    {"surplus that could have stayed", referee::Rule::kNotInVain, R"({"name":"n","gpus":{"count":4}})",
     R"({"name":"n","gpus":{"count":5}})"},
};

TEST(RefereeOfWholeGangs, CountsPodsThatAreHereAfterThePlan) { expect_valid(kCompleting); }

TEST(RefereeOfWholeGangs, FindsEveryBreach) {
  for (const Breach& breach : kCompletingBreaches) {
    Scenario scenario = kCompleting;
    if (breach.rule == referee::Rule::kPreempt) replace_once(scenario.plan, "place b-0 n gpus 3\n", "");
    expect_found(scenario, breach);
  }
}

TEST(RefereeOfWholeGangs, LetsAGangGoToTheLastPodAndComeBackWithOthers) {
  Scenario scenario = kCompleting;
  replace_once(scenario.snapshot, R"("minMember":1},{"name":"b","minMember":1}])",
               R"("minMember":0},{"name":"b","minMember":1}])");
  replace_once(scenario.snapshot, R"("name":"high-0","gang":"high","gpu":{"count":2})",
               R"("name":"high-0","gang":"high","gpu":{"count":4})");
  scenario.plan = R"(evict a-0 preempt high
evict a-1 preempt high
evict a-2 preempt high
place high-0 n gpus 0 1 2 3 after a-0 a-1 a-2
place b-1 far
)";
  expect_valid(scenario);
}

// Queue `mine` takes back two of four GPUs from `theirs`, below `org`; `org` itself is one of two.
const Scenario kReclaiming{"reclaiming", R"json({"format":"muster/v1","time":1000,
 "nodes":[{"name":"n1","resources":{"cpu":32},"gpus":{"count":4}},{"name":"n2","resources":{"cpu":32}}],
 "queues":[
  {"name":"org","gpu":{"quota":4}},
  {"name":"mine","parent":"org","gpu":{"quota":1}},
  {"name":"theirs","parent":"org","gpu":{"quota":2},"reclaimMinRuntime":"100s"},
  {"name":"away"}],
 "gangs":[
  {"name":"a","queue":"theirs","minMember":1},{"name":"b","queue":"theirs","minMember":1},
  {"name":"c","queue":"theirs","minMember":1},{"name":"d","queue":"theirs","minMember":1},
  {"name":"claim","queue":"mine","minMember":2,"priority":-5},
  {"name":"brother","queue":"theirs","minMember":1,"priority":50},
  {"name":"distant","queue":"away","minMember":1},
  {"name":"idle","queue":"mine","minMember":1}],
 "pods":[
  {"name":"a-0","gang":"a","resources":{"cpu":1},"gpu":{"count":1},"node":"n1","gpus":[0],"started":100},
  {"name":"b-0","gang":"b","resources":{"cpu":1},"gpu":{"count":1},"node":"n1","gpus":[1],"started":899},
  {"name":"c-0","gang":"c","resources":{"cpu":1},"gpu":{"count":1},"node":"n1","gpus":[2],"started":100},
  {"name":"d-0","gang":"d","resources":{"cpu":1},"gpu":{"count":1},"node":"n1","gpus":[3],"started":100},
  {"name":"claim-0","gang":"claim","gpu":{"count":1}},
  {"name":"claim-1","gang":"claim","gpu":{"count":1}},
  {"name":"claim-2","gang":"claim","gpu":{"count":1}},
  {"name":"brother-0","gang":"brother","resources":{"cpu":1}},
  {"name":"distant-0","gang":"distant","resources":{"cpu":1}},
  {"name":"idle-0","gang":"idle","resources":{"cpu":1}}]})json",
                           R"(evict a-0 reclaim claim
evict b-0 reclaim claim
place claim-0 n1 gpus 0 after a-0
place claim-1 n1 gpus 1 after b-0
place brother-0 n2
place distant-0 n2
)"};

const Breach kReclaimingBreaches[] = {
    {"reclaim is not among the actions", referee::Rule::kAction, R"("time":1000,)",
     R"("time":1000,"policy":{"actions":["place","preempt"]},)"},
    {"from a queue of which nothing may be reclaimed", referee::Rule::kReclaim, R"("reclaimMinRuntime":"100s")",
     R"("reclaimMinRuntime":"100s","reclaimable":false)"},
    {"for a gang of the same queue", referee::Rule::kReclaim, "evict b-0 reclaim claim", "evict b-0 reclaim brother"},
    {"for a gang that is not placed", referee::Rule::kReclaim, "evict b-0 reclaim claim", "evict b-0 reclaim idle"},
    {"for no gang", referee::Rule::kReclaim, "evict b-0 reclaim claim", "evict b-0 reclaim"},
    {"for a gang that never evicts", referee::Rule::kReclaim, R"("minMember":2,"priority":-5)",
     R"("minMember":2,"preemptionPolicy":"Never")"},
    {"the claimant's queue above its share", referee::Rule::kReclaim, "place claim-1 n1 gpus 1 after b-0",
     "place claim-1 n1 gpus 1 after b-0\nplace claim-2 n1 gpus 2 after c-0\nevict c-0 reclaim claim"},
    {"the victim's queue within its share", referee::Rule::kReclaim,
     R"("name":"theirs","parent":"org","gpu":{"quota":2})", R"("name":"theirs","parent":"org","gpu":{"quota":4})"},
    {"a non-preemptible claimant above its quota", referee::Rule::kReclaim, R"("minMember":2,"priority":-5)",
     R"("minMember":2,"preemptible":false)"},
    {"a victim within its minimum run time", referee::Rule::kReclaim, R"("started":899)", R"("started":901)"},
    {"a victim that could have stayed", referee::Rule::kNotInVain, "place claim-1 n1 gpus 1 after b-0",
     "place claim-1 n1 gpus 1 after b-0\nevict c-0 reclaim claim"},
    {"the victim's queue lower than needed", referee::Rule::kReclaim, "place claim-1 n1 gpus 1 after b-0",
     "place claim-1 n1 gpus 1 after b-0\nevict c-0 reclaim claim"},
};

TEST(RefereeOfReclaim, PassesAValidPlan) { expect_valid(kReclaiming); }

TEST(RefereeOfReclaim, FindsEveryBreach) {
  for (const Breach& breach : kReclaimingBreaches) expect_found(kReclaiming, breach);
}

// Enough is free, but not on one node: the claimant is within its quota, the victim's queue is not.
const Scenario kReclaimingQuota{"reclaiming quota", R"json({"format":"muster/v1","time":1000,
 "nodes":[{"name":"n1","gpus":{"count":2}},{"name":"n2","gpus":{"count":1}}],
 "queues":[{"name":"mine","gpu":{"quota":2}},{"name":"theirs","gpu":{"quota":0}}],
 "pods":[
  {"name":"victim","queue":"theirs","gpu":{"count":1},"node":"n1","gpus":[0],"started":100},
  {"name":"claim","queue":"mine","gpu":{"count":2}}]})json",
                                "evict victim reclaim claim\nplace claim n1 gpus 0 1 after victim\n"};

TEST(RefereeOfReclaim, PassesAClaimWithinQuotaFromAQueueAboveItsQuota) { expect_valid(kReclaimingQuota); }

TEST(RefereeOfReclaim, FindsThatNeitherGroundHolds) {
  expect_found(kReclaimingQuota, {"the claimant above its quota", referee::Rule::kReclaim,
                                  R"({"name":"mine","gpu":{"quota":2}})", R"({"name":"mine","gpu":{"quota":1}})"});
  expect_found(kReclaimingQuota, {"the victim within its quota", referee::Rule::kReclaim,
                                  R"({"name":"theirs","gpu":{"quota":0}})", R"({"name":"theirs","gpu":{"quota":1}})"});
}

// The big gang needs a whole node: one pod moves to the other.
const Scenario kConsolidating{"consolidating", R"json({"format":"muster/v1","time":1000,"policy":{"maxMoves":1},
 "nodes":[
  {"name":"n1","resources":{"cpu":8},"gpus":{"count":2}},
  {"name":"n2","resources":{"cpu":8},"gpus":{"count":2}}],
 "gangs":[{"name":"big","minMember":1,"priority":1,"preemptionPolicy":"Never"},{"name":"small","minMember":1},{"name":"mover","minMember":1},{"name":"none","minMember":1}],
 "pods":[
  {"name":"mover-0","gang":"mover","resources":{"cpu":1},"gpu":{"count":1},"node":"n1","gpus":[0]},
  {"name":"small-0","gang":"small","resources":{"cpu":1},"gpu":{"fraction":0.5},"node":"n2","gpus":[0]},
  {"name":"big-0","gang":"big","resources":{"cpu":1},"gpu":{"count":2}},
  {"name":"none-0","gang":"none","resources":{"cpu":1}}]})json",
                              R"(evict mover-0 consolidate big
place big-0 n1 gpus 0 1 after mover-0
place mover-0 n2 gpus 1
)"};

const Breach kConsolidatingBreaches[] = {
    {"moves are not among the actions", referee::Rule::kAction, R"("maxMoves":1)",
     R"("actions":["place","preempt","reclaim","stale"])"},
    {"more moves than allowed", referee::Rule::kConsolidate, R"("maxMoves":1)", R"("maxMoves":0)"},
    {"the moved pod is not placed", referee::Rule::kConsolidate, "place mover-0 n2 gpus 1\n", ""},
    {"the moved pod goes by another name", referee::Rule::kConsolidate, "evict mover-0 consolidate big",
     "evict mover-0 preempt big"},
    {"it moves for a gang that is not placed", referee::Rule::kConsolidate, "evict mover-0 consolidate big",
     "evict mover-0 consolidate none"},
    {"it moves for no gang", referee::Rule::kConsolidate, "evict mover-0 consolidate big", "evict mover-0 consolidate"},
    {"it moves onto a device in use", referee::Rule::kDevices, "place mover-0 n2 gpus 1", "place mover-0 n2 gpus 0"},
    {"it moves in vain", referee::Rule::kNotInVain, "place big-0 n1 gpus 0 1 after mover-0", "place none-0 n1"},
    {"a gang that is not preemptible is moved", referee::Rule::kWho, R"("name":"mover","minMember":1)",
     R"("name":"mover","minMember":1,"preemptible":false)"},
    {"a gang that leaves as a whole is moved", referee::Rule::kWholeGangs, R"("name":"mover","minMember":1)",
     R"("name":"mover","minMember":1,"disruption":"whole")"},
    {"the minimum of a gang that gives its surplus only is moved", referee::Rule::kWholeGangs,
     R"("name":"mover","minMember":1)", R"("name":"mover","minMember":1,"disruption":"surplus")"},
};

TEST(RefereeOfConsolidation, PassesAValidPlan) { expect_valid(kConsolidating); }

TEST(RefereeOfConsolidation, FindsEveryBreach) {
  for (const Breach& breach : kConsolidatingBreaches) expect_found(kConsolidating, breach);
}

// One gang has been below its minimum for too long and goes, one is completed in time, one has only just begun.
const Scenario kStale{"stale", R"json({"format":"muster/v1","time":1000,
 "nodes":[{"name":"n1","resources":{"cpu":8}}],
 "gangs":[
  {"name":"gone","minMember":3,"staleSince":940},
  {"name":"completed","minMember":3,"staleSince":900,"priority":500},
  {"name":"recent","minMember":2,"staleSince":941},
  {"name":"patient","minMember":2,"staleSince":0,"stalenessGracePeriod":"never"}],
 "pods":[
  {"name":"gone-0","gang":"gone","resources":{"cpu":1},"node":"n1"},
  {"name":"gone-1","gang":"gone","resources":{"cpu":1},"node":"n1"},
  {"name":"completed-0","gang":"completed","resources":{"cpu":1},"node":"n1"},
  {"name":"completed-1","gang":"completed","resources":{"cpu":1}},
  {"name":"completed-2","gang":"completed","resources":{"cpu":1}},
  {"name":"completed-3","gang":"completed","resources":{"cpu":1},"node":"n1"},
  {"name":"recent-0","gang":"recent","resources":{"cpu":1},"node":"n1"},
  {"name":"patient-0","gang":"patient","resources":{"cpu":1},"node":"n1"}]})json",
                      R"(evict gone-0 stale
evict gone-1 stale
place completed-1 n1
place completed-2 n1
)"};

const Breach kStaleBreaches[] = {
    {"stale is not among the actions", referee::Rule::kAction, R"("time":1000,)",
     R"("time":1000,"policy":{"actions":["place"]},)"},
    {"a stale pod is left", referee::Rule::kStale, "evict gone-1 stale\n", ""},
    {"part of a stale gang is left", referee::Rule::kWholeGangs, "evict gone-1 stale\n", ""},
    {"a stale gang is not completed and left", referee::Rule::kStale, "place completed-1 n1\nplace completed-2 n1\n",
     ""},
    {"a stale gang is completed and goes", referee::Rule::kStale, "place completed-1 n1",
     "place completed-1 n1\nevict completed-0 stale"},
    {"a gang goes within its grace period", referee::Rule::kStale, "evict gone-1 stale",
     "evict gone-1 stale\nevict recent-0 stale"},
    {"a gang goes that is never stale", referee::Rule::kStale, "evict gone-1 stale",
     "evict gone-1 stale\nevict patient-0 stale"},
    {"a stale gang is evicted for another", referee::Rule::kStale, "evict gone-1 stale",
     "evict gone-1 stale completed"},
    {"the grace period has just ended", referee::Rule::kStale, R"("staleSince":941)", R"("staleSince":940)"},
};

TEST(RefereeOfStaleGangs, PassesAValidPlan) { expect_valid(kStale); }

TEST(RefereeOfStaleGangs, FindsEveryBreach) {
  for (const Breach& breach : kStaleBreaches) expect_found(kStale, breach);
}

TEST(RefereeOfStaleGangs, AsksNothingWhereThePolicyDoesNot) {
  Scenario scenario = kStale;
  replace_once(scenario.snapshot, R"("time":1000,)", R"("time":1000,"policy":{"actions":["place"]},)");
  scenario.plan = "place completed-1 n1\nplace completed-2 n1\n";
  expect_valid(scenario);
}

// Rooms freed one after another: a releasing pod, a victim on each side, a gang that waits for another node's victim.
const Scenario kDeparting{"departing", R"json({"format":"muster/v1","time":1000,
 "nodes":[{"name":"n1","resources":{"cpu":4}},{"name":"n2","resources":{"cpu":4}},{"name":"n3","resources":{"cpu":4}}],
 "gangs":[{"name":"pair","minMember":3,"priority":9},{"name":"late","minMember":1,"priority":9},{"name":"small","minMember":1,"priority":9}],
 "pods":[
  {"name":"leaving","resources":{"cpu":2},"node":"n1","status":"releasing"},
  {"name":"victim","resources":{"cpu":2},"node":"n1","priority":1},
  {"name":"victim-2","resources":{"cpu":3},"node":"n2","priority":1},
  {"name":"pair-0","gang":"pair","resources":{"cpu":2}},
  {"name":"pair-1","gang":"pair","resources":{"cpu":3}},
  {"name":"pair-2","gang":"pair","resources":{"cpu":1}},
  {"name":"late-0","gang":"late","resources":{"cpu":2}},
  {"name":"small-0","gang":"small","resources":{"cpu":1}},
  {"name":"small-1","gang":"small","resources":{"cpu":1}}]})json",
                          R"(evict victim preempt pair
evict victim-2 preempt pair
place pair-0 n1 after victim
place pair-1 n2 after victim-2
place pair-2 n3 after victim
place late-0 n1 after leaving
place small-0 n2
)"};

const Breach kDepartingBreaches[] = {
    {"two wait for the same room", referee::Rule::kCapacity, "place late-0 n1 after leaving",
     "place late-0 n1 after victim"},
    {"a room that is promised is used at once", referee::Rule::kCapacity, "place late-0 n1 after leaving",
     "place late-0 n1"},
    {"one that leaves another node is waited for", referee::Rule::kAfter, "place late-0 n1 after leaving",
     "place late-0 n1 after victim-2"},
    {"too much in the end", referee::Rule::kCapacity, "place small-0 n2", "place small-0 n1 after leaving"},
    {"a releasing pod is evicted", referee::Rule::kWho, "evict victim preempt pair",
     "evict victim preempt pair\nevict leaving preempt pair"},
    {"a third of a gang does not wait", referee::Rule::kAfter, "place pair-2 n3 after victim", "place pair-2 n3"},
};

TEST(RefereeOfDepartures, PassesAValidPlan) { expect_valid(kDeparting); }

TEST(RefereeOfDepartures, FindsEveryBreach) {
  for (const Breach& breach : kDepartingBreaches) expect_found(kDeparting, breach);
}

}  // namespace
}  // namespace muster::test
