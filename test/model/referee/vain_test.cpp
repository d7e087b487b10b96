// Rule NotInVain, and how low rule Reclaim lets a queue be taken: evictions that some other rule makes necessary pass,
// and are in vain as soon as that rule no longer asks for them.
#include "test/model/breaches.h"

namespace muster::test {
namespace {

struct Necessity {
  Scenario scenario;
  Breach breach;
};

const Necessity kNecessities[] = {
    {{"a queue's limit", R"json({"format":"muster/v1","nodes":[{"name":"n","gpus":{"count":2}}],
       "queues":[{"name":"top","gpu":{"limit":1}},{"name":"q","parent":"top"}],
       "pods":[{"name":"victim","queue":"q","gpu":{"count":1},"node":"n","gpus":[0]},
               {"name":"claim","queue":"q","priority":9,"gpu":{"count":1}}]})json",
      "evict victim preempt claim\nplace claim n gpus 1 after victim\n"},
     {"the limit has room for both", referee::Rule::kNotInVain, R"("limit":1)", R"("limit":2)"}},
    {{"minResources", R"json({"format":"muster/v1","nodes":[{"name":"n","gpus":{"count":2}}],
       "gangs":[{"name":"claim","priority":9,"minResources":{"gpu":1.5}}],
       "pods":[{"name":"victim","gpu":{"count":1},"node":"n","gpus":[0]},
               {"name":"c","gang":"claim","gpu":{"count":1}}]})json",
      "evict victim preempt claim\nplace c n gpus 1 after victim\n"},
     {"one device is enough", referee::Rule::kNotInVain, R"("gpu":1.5)", R"("gpu":1)"}},
    {{"anti-affinity", R"json({"format":"muster/v1","nodes":[{"name":"n","labels":{"host":"n"},"resources":{"cpu":4}}],
       "pods":[{"name":"victim","resources":{"cpu":1},"labels":{"app":"x"},"node":"n"},
               {"name":"claim","priority":9,"resources":{"cpu":1},"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
                 [{"topologyKey":"host","labelSelector":{"matchLabels":{"app":"x"}}}]}}]})json",
      "evict victim preempt claim\nplace claim n after victim\n"},
     {"its anti-affinity selects another pod", referee::Rule::kNotInVain, R"("matchLabels":{"app":"x"})",
      R"("matchLabels":{"app":"y"})"}},
    {{"topology", R"json({"format":"muster/v1","topology":["rack"],
       "nodes":[{"name":"n1","resources":{"cpu":2},"labels":{"rack":"r1"}},{"name":"n2","resources":{"cpu":4},"labels":{"rack":"r2"}}],
       "gangs":[{"name":"g","minMember":1,"topology":{"required":"rack"}}],
       "pods":[{"name":"g-0","gang":"g","resources":{"cpu":2},"node":"n1"},{"name":"g-1","gang":"g","resources":{"cpu":2}}]})json",
      "evict g-0 consolidate g\nplace g-0 n2\nplace g-1 n2\n"},
     {"any two racks will do", referee::Rule::kNotInVain, R"(,"topology":{"required":"rack"})", ""}},
    {{"the share of a queue that reclaims", R"json({"format":"muster/v1",
       "nodes":[{"name":"n1","gpus":{"count":1}},{"name":"n2","gpus":{"count":2}}],
       "queues":[{"name":"mine","gpu":{"quota":2}},{"name":"theirs","gpu":{"quota":1}}],
       "pods":[{"name":"own","queue":"mine","gpu":{"count":1},"node":"n1","gpus":[0]},
               {"name":"foreign","queue":"theirs","gpu":{"count":2},"node":"n2","gpus":[0,1]},
               {"name":"claim","queue":"mine","priority":9,"gpu":{"count":2}}]})json",
      "evict own preempt claim\nevict foreign reclaim claim\nplace claim n2 gpus 0 1 after foreign\n"},
     {"the share has room for both", referee::Rule::kNotInVain, R"("quota":2)", R"("quota":3)"}},
    {{"the room of a whole gang",
      R"json({"format":"muster/v1","nodes":[{"name":"n1","resources":{"cpu":2}},{"name":"n2","resources":{"cpu":2}}],
       "gangs":[{"name":"g","minMember":2}],
       "pods":[{"name":"g-0","gang":"g","resources":{"cpu":2},"node":"n1"},{"name":"g-1","gang":"g","resources":{"cpu":2},"node":"n2"},
               {"name":"claim","priority":9,"resources":{"cpu":2}}]})json",
      "evict g-0 preempt claim\nevict g-1 preempt claim\nplace claim n1 after g-0\n"},
     {"half of it was surplus", referee::Rule::kNotInVain, R"("minMember":2)", R"("minMember":0)"}},
};

// The victim leaves for a gang that may evict it; what takes its room may, too, until the breach.
const Necessity kRights[] = {
    {{"priority",
      R"json({"format":"muster/v1","nodes":[{"name":"n","gpus":{"count":2}},{"name":"m","gpus":{"count":1}}],
       "pods":[{"name":"victim","priority":10,"gpu":{"count":1},"node":"n","gpus":[0]},
               {"name":"claim","priority":100,"gpu":{"count":1}},{"name":"taker","priority":50,"gpu":{"count":2}}]})json",
      "evict victim preempt claim\nplace claim m gpus 0\nplace taker n gpus 0 1 after victim\n"},
     {"the taker has the victim's priority", referee::Rule::kNotInVain, R"("priority":50)", R"("priority":10)"}},
    {{"preemption policy",
      R"json({"format":"muster/v1","nodes":[{"name":"n","gpus":{"count":2}},{"name":"m","gpus":{"count":1}}],
       "pods":[{"name":"victim","priority":10,"gpu":{"count":1},"node":"n","gpus":[0]},
               {"name":"claim","priority":100,"gpu":{"count":1}},{"name":"taker","priority":50,"gpu":{"count":2}}]})json",
      "evict victim preempt claim\nplace claim m gpus 0\nplace taker n gpus 0 1 after victim\n"},
     {"the taker never preempts", referee::Rule::kNotInVain, R"("priority":50)",
      R"("priority":50,"preemptionPolicy":"Never")"}},
    {{"the share of the taker's queue",
      R"json({"format":"muster/v1","nodes":[{"name":"n","gpus":{"count":8}},{"name":"m","gpus":{"count":1}}],
       "queues":[{"name":"q1","gpu":{"quota":1}},{"name":"q2","gpu":{"quota":0}},{"name":"q3","gpu":{"quota":8}}],
       "pods":[{"name":"victim","queue":"q2","gpu":{"count":5},"node":"n","gpus":[0,1,2,3,4]},
               {"name":"claim","queue":"q1","gpu":{"count":1}},{"name":"taker","queue":"q3","gpu":{"count":8}}]})json",
      "evict victim reclaim claim\nplace claim m gpus 0\nplace taker n gpus 0 1 2 3 4 5 6 7 after victim\n"},
     {"the taker's queue is above its share", referee::Rule::kNotInVain, R"("quota":8)", R"("quota":0)"}},
    {{"minimum run time",
      R"json({"format":"muster/v1","time":1000,"nodes":[{"name":"n","gpus":{"count":8}},{"name":"m","gpus":{"count":1}}],
       "queues":[{"name":"q1","gpu":{"quota":8}},{"name":"q2","gpu":{"quota":0}}],
       "pods":[{"name":"victim","queue":"q2","gpu":{"count":5},"node":"n","gpus":[0,1,2,3,4],"started":900},
               {"name":"claim","queue":"q2","priority":9,"gpu":{"count":1}},{"name":"taker","queue":"q1","gpu":{"count":8}}]})json",
      "evict victim preempt claim\nplace claim m gpus 0\nplace taker n gpus 0 1 2 3 4 5 6 7 after victim\n"},
     {"the victim is protected from the taker", referee::Rule::kNotInVain, R"("name":"q2")",
      R"("name":"q2","reclaimMinRuntime":"10m")"}},
    {{"elastic surplus",
      R"json({"format":"muster/v1","nodes":[{"name":"n","gpus":{"count":2}},{"name":"m","gpus":{"count":2}}],
       "gangs":[{"name":"g","priority":10,"minMember":1}],
       "pods":[{"name":"g-0","gang":"g","gpu":{"count":1},"node":"m","gpus":[0]},{"name":"g-1","gang":"g","gpu":{"count":1},"node":"n","gpus":[0]},
               {"name":"claim","priority":100,"gpu":{"count":1}},{"name":"taker","priority":50,"gpu":{"count":2}}]})json",
      "evict g-1 preempt claim\nplace claim m gpus 1\nplace taker n gpus 0 1 after g-1\n"},
     {"the taker has the gang's priority", referee::Rule::kNotInVain, R"("priority":50)", R"("priority":10)"}},
    {{"fractions",
      R"json({"format":"muster/v1","nodes":[{"name":"n","gpus":{"count":1}},{"name":"m","gpus":{"count":1}}],
       "pods":[{"name":"victim","priority":10,"gpu":{"fraction":0.5},"node":"n","gpus":[0]},
               {"name":"claim","priority":100,"gpu":{"fraction":0.4}},{"name":"taker","priority":50,"gpu":{"fraction":0.6}}]})json",
      "evict victim preempt claim\nplace claim n gpus 0\nplace taker n gpus 0 after victim\n"},
     {"next to the claim alone there is room", referee::Rule::kNotInVain, R"("priority":50)", R"("priority":10)"}},
    {{"other devices", R"json({"format":"muster/v1","nodes":[{"name":"n","gpus":{"count":2}}],
       "pods":[{"name":"victim","priority":10,"gpu":{"count":1},"node":"n","gpus":[0]},
               {"name":"claim","priority":100,"gpu":{"count":1}},{"name":"taker","priority":50,"gpu":{"count":1}}]})json",
      "evict victim preempt claim\nplace claim n gpus 0 after victim\nplace taker n gpus 1\n"},
     {"the claim could use the other device", referee::Rule::kNotInVain, R"("priority":50)", R"("priority":10)"}},
    {{"a gang of which one pod needs room",
      R"json({"format":"muster/v1","nodes":[{"name":"n","gpus":{"count":2}},{"name":"m","gpus":{"count":1}}],
       "gangs":[{"name":"claim","priority":100,"minMember":2}],
       "pods":[{"name":"victim","priority":10,"gpu":{"count":2},"node":"n","gpus":[0,1]},
               {"name":"c-0","gang":"claim","gpu":{"count":1}},{"name":"c-1","gang":"claim","gpu":{"count":1}},
               {"name":"taker","priority":10,"gpu":{"count":1}}]})json",
      "evict victim preempt claim\nplace c-0 m gpus 0 after victim\nplace c-1 n gpus 0 after victim\nplace taker n "
      "gpus 1 after victim\n"},
     {"the node has room for both", referee::Rule::kNotInVain, R"({"name":"n","gpus":{"count":2}})",
      R"({"name":"n","gpus":{"count":3}})"}},
};

TEST(RefereeOfRights, PassesEvictionsForGangsThatMayEvict) {
  for (const Necessity& necessity : kRights) expect_valid(necessity.scenario);
}

TEST(RefereeOfRights, FindsRoomThatOnlyAGangWithoutTheRightNeeds) {
  for (const Necessity& necessity : kRights) expect_found(necessity.scenario, necessity.breach);
}

TEST(RefereeOfNecessity, PassesEvictionsThatARuleMakesNecessary) {
  for (const Necessity& necessity : kNecessities) expect_valid(necessity.scenario);
}

TEST(RefereeOfNecessity, FindsThemInVainOnceItDoesNot) {
  for (const Necessity& necessity : kNecessities) expect_found(necessity.scenario, necessity.breach);
}

// Three pods go where `theirs` is two GPUs above its share: right if they are one unit, too low if they are three.
const Scenario kUnits{"units", R"json({"format":"muster/v1","nodes":[{"name":"n","gpus":{"count":3}}],
   "queues":[{"name":"mine","gpu":{"quota":3}},{"name":"theirs","gpu":{"quota":1}}],
   "gangs":[{"name":"g","queue":"theirs","minMember":3}],
   "pods":[{"name":"g-0","gang":"g","gpu":{"count":1},"node":"n","gpus":[0]},{"name":"g-1","gang":"g","gpu":{"count":1},"node":"n","gpus":[1]},
           {"name":"g-2","gang":"g","gpu":{"count":1},"node":"n","gpus":[2]},{"name":"claim","queue":"mine","gpu":{"count":3}}]})json",
                      "evict g-0 reclaim claim\nevict g-1 reclaim claim\nevict g-2 reclaim claim\nplace claim n gpus 0 "
                      "1 2 after g-0 g-1 g-2\n"};

TEST(RefereeOfNecessity, MeasuresWhatIsReclaimedInUnits) {
  expect_valid(kUnits);
  expect_found(kUnits, {"each pod is a unit", referee::Rule::kReclaim, R"("minMember":3)", R"("minMember":1)"});
}

TEST(RefereeOfNecessity, CountsSlicesAsParts) {
  const Scenario slices{"slices",
                        R"json({"format":"muster/v1","nodes":[{"name":"n","resources":{"nvidia.com/mig-3g.20gb":4}}],
     "queues":[{"name":"q","gpu":{"limit":0.858}}],
     "pods":[{"name":"p","queue":"q","resources":{"nvidia.com/mig-3g.20gb":2}}]})json",
                        "place p n\n"};
  expect_valid(slices);  // 2 x ceil(3000 / 7) thousandths
  expect_found(slices, {"a thousandth too much", referee::Rule::kLimit, "0.858", "0.857"});
}

// There is room on the node for both, but not in the queue.
TEST(RefereeOfNecessity, EvictsForALimitOfAnyResource) {
  const Scenario limited{"limited",
                         R"json({"format":"muster/v1","nodes":[{"name":"n","resources":{"cpu":8,"x.com/card":8}}],
     "queues":[{"name":"q","resources":{"x.com/card":{"limit":3}}}],
     "pods":[{"name":"low","queue":"q","resources":{"x.com/card":2},"node":"n","started":0},
             {"name":"high","queue":"q","priority":50,"resources":{"x.com/card":2}}]})json",
                         "evict low preempt high\nplace high n after low\n"};
  expect_valid(limited);
  expect_found(limited, {"the limit leaves room for both", referee::Rule::kNotInVain, R"("limit":3)", R"("limit":4)"});
}

}  // namespace
}  // namespace muster::test
