// The data of a page about a cluster add up to the snapshot and the plan.
#include "io/report/cluster.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "test/support/case.h"

namespace muster::reporting {
namespace {

using Json = nlohmann::json;

// Names are hostile on purpose. "old" is evicted for "new", "mover" goes from n1 to n2, "gone" is on its way out.
constexpr const char* kSnapshot = R"({"format":"muster/v1","id":"<b>","time":1000,"topology":["rack"],
  "nodes":[{"name":"</script>","gpus":{"count":2,"memory":"4Mi","model":"A"},"labels":{"rack":"r1"}},
           {"name":"n2","gpus":{"count":2,"memory":"4Mi","model":"A"},"labels":{"rack":"r2"}},{"name":"cpu","unschedulable":true}],
  "queues":[{"name":"top"},{"name":"a","parent":"top","gpu":{"quota":1.5}},{"name":"b","parent":"top"}],
  "pods":[{"name":"old","queue":"a","gpu":{"count":1},"node":"</script>","gpus":[0]},
          {"name":"mover","queue":"a","gpu":{"fraction":0.25},"node":"</script>","gpus":[1]},
          {"name":"gone","queue":"b","gpu":{"count":1},"node":"n2","gpus":[1],"status":"releasing"},
          {"name":"new","queue":"b","priority":7,"gpu":{"count":2}},{"name":"some","queue":"b","gpu":{"memory":"1Mi"}},
          {"name":"nowhere","queue":"b","gpu":{"count":2}}]})";

constexpr const char* kPlan = R"({"format":"muster/v1","id":"<b>","status":"ok",
  "placements":[{"pod":"mover","node":"n2","gpus":[{"index":0,"share":0.25}]},
                {"pod":"new","node":"</script>","gpus":[{"index":0,"share":1},{"index":1,"share":1}],"after":["mover","old"]},
                {"pod":"some","node":"n2","gpus":[{"index":0,"share":0.25}]}],
  "evictions":[{"pod":"mover","node":"</script>","reason":"consolidate","for":"new"},{"pod":"old","node":"</script>","reason":"reclaim","for":"new"}],
  "gangs":[{"name":"nowhere","phase":"Unschedulable","running":0,"placed":0,"evicted":0,"pending":1,"reason":"Fragmented","makeRoom":"NotEnough","expectedStart":1090.5,"expectedStartReason":"Nodes",
            "message":"</script>","blockers":[{"code":"Insufficient</script>\n9 Available","nodes":2},{"code":"Unschedulable","nodes":1}]},
           {"name":"old","phase":"Evicted","running":0,"placed":0,"evicted":1,"pending":1,"remedy":{"kind":"never"}},
           {"name":"new","phase":"Unschedulable","running":0,"placed":0,"evicted":0,"pending":1,
            "remedy":{"kind":"uncordon","size":1,"text":"uncordon </script>","options":"--uncordon </script>","smallest":true}}],
  "queues":[{"name":"a","gpu":{"quota":1.5,"fairShare":1.5,"allocated":0.25},"cpu":{"fairShare":0,"allocated":0},"memory":{"fairShare":0,"allocated":0}}],
  "warnings":[{"object":"node","name":"</script>","code":"Exceeded","message":"too much"}],"warningsOmitted":3,
  "objective":[{"level":"share","priority":0,"value":500,"bound":501}],
  "solver":{"origin":"milp","proof":"heuristic","gap":0.5,"budgetMs":20,"elapsedMs":1.5,"deadlineMissed":false}})";

class ReportCluster : public testing::Test {
 protected:
  ReportCluster() {
    auto plan = muster_v1::read_plan(kPlan, &*cluster_);
    EXPECT_TRUE(plan) << plan.error().path << " " << plan.error().message;
    plans_.push_back({"label", std::move(*plan), {}});
    std::string text;
    write_cluster({*cluster_, cluster_.shares(), plans_}, text);
    data_ = Json::parse(text);
  }

  std::string queue_of(std::size_t pod) const {
    const std::size_t gang = data_["pods"]["gang"][pod];
    return data_["queues"]["name"][data_["gangs"]["queue"][gang].get<std::size_t>()];
  }
  double share_of(std::size_t pod, std::size_t node) const {
    const Json& request = data_["requests"][data_["pods"]["request"][pod].get<std::size_t>()];
    if (request.contains("mib")) {
      return request["mib"].get<double>() /
             data_["kinds"][data_["nodes"]["kind"][node].get<std::size_t>()]["gpuMib"].get<double>();
    }
    return request.value("share", 1e6) / 1e6;
  }

  test::Case cluster_ = test::Case::of_line(kSnapshot);
  std::vector<ReportedPlan> plans_;
  Json data_;
};

TEST_F(ReportCluster, TheWarningsOfThePlanAreTold) {
  const Json& plan = data_["plans"][0];
  EXPECT_EQ(plan["warningCount"], 4);
  EXPECT_EQ(plan["warnings"], Json::parse(R"([{"object":"node","name":"</script>","message":"too much"}])"));
}

TEST_F(ReportCluster, UseAfterThePlanIsTheSumOfItsPods) {
  const Json& plan = data_["plans"][0];
  std::map<std::string, double> used;
  std::size_t device = 0;
  for (std::size_t i = 0; i < plan["placements"]["pod"].size(); ++i) {
    const std::size_t pod = plan["placements"]["pod"][i], node = plan["placements"]["node"][i];
    const std::size_t gpus = data_["requests"][data_["pods"]["request"][pod].get<std::size_t>()]["gpus"];
    used[queue_of(pod)] += share_of(pod, node) * static_cast<double>(gpus);
    device += gpus;
  }
  EXPECT_EQ(device, plan["placements"]["devices"].size());
  EXPECT_DOUBLE_EQ(used["a"], 0.25);
  EXPECT_DOUBLE_EQ(used["b"], 2.25);
  EXPECT_DOUBLE_EQ(plan["allocated"][1][0], 0.25);  // as in the plan line
  EXPECT_TRUE(plan["allocated"][0].is_null());      // which is silent of this one
}

TEST_F(ReportCluster, UseBeforeThePlanIsWhatRunsAndStays) {
  const Json& before = data_["queues"]["before"];
  EXPECT_DOUBLE_EQ(before[0][0], 1.25);
  EXPECT_DOUBLE_EQ(before[1][0], 1.25);
  EXPECT_DOUBLE_EQ(before[2][0], 0);  // what is on its way out does not count
}

TEST_F(ReportCluster, HasEveryPodThatIsSomewhereAndNoOther) {
  EXPECT_EQ(data_["pods"]["gang"].size(), 5U);
  EXPECT_EQ(data_["podCount"], 6);
  EXPECT_EQ(data_["wholeNodes"], Json({{"before", 1}, {"of", 2}}));
  EXPECT_EQ(data_["plans"][0]["wholeNodes"], 0);
  EXPECT_EQ(data_["pods"]["node"], Json({0, 0, 1, -1, -1}));
  EXPECT_EQ(data_["pods"]["devices"], Json({0, 1, 1}));
  EXPECT_EQ(data_["pods"]["releasing"], Json({0, 0, 1, 0, 0}));
}

TEST_F(ReportCluster, TellsWhatThePlanDecides) {
  const Json& plan = data_["plans"][0];
  EXPECT_EQ(plan["placements"]["waits"], Json({0, 1, 0}));
  EXPECT_EQ(plan["evictions"]["pod"], Json({0, 1}));
  EXPECT_EQ(plan["evictions"]["reason"], Json({1, 2}));  // reclaim, consolidate
  EXPECT_EQ(plan["elapsedMs"], 1.5);
  EXPECT_EQ(plan["objective"][0]["bound"], 501);
}

TEST_F(ReportCluster, TellsWhyAGangWaits) {
  const Json& gangs = data_["plans"][0]["gangs"];
  const auto text = [&](const char* key) { return gangs["texts"][gangs[key][0].get<std::size_t>()]; };
  EXPECT_EQ(text("phase"), "Unschedulable");
  EXPECT_EQ(text("reason"), "Fragmented");
  EXPECT_EQ(text("makeRoom"), "NotEnough");
  EXPECT_EQ(text("message"), "</script>");
  EXPECT_EQ(gangs["startsIn"], Json({90, -1, -1}));
  EXPECT_EQ(text("waitsFor"), "Nodes");
  EXPECT_EQ(text("blockers"), "2 Insufficient</script> 9 Available\n1 Unschedulable");  // a line for each
}

TEST_F(ReportCluster, TellsTheRemediesOfGangsThatHaveOne) {
  const Json& remedies = data_["plans"][0]["remedies"];
  const auto texts = [&](const char* key) {
    Json list = Json::array();
    for (const std::size_t number : remedies[key]) list.push_back(remedies["texts"][number]);
    return list;
  };
  EXPECT_EQ(remedies["row"], Json({1, 2}));
  EXPECT_EQ(texts("kind"), Json({"never", "uncordon"}));
  EXPECT_EQ(texts("text"), Json({"", "uncordon </script>"}));
  EXPECT_EQ(texts("options"), Json({"", "--uncordon </script>"}));
  EXPECT_EQ(remedies["smallest"], Json({0, 1}));
}

TEST_F(ReportCluster, NamesDomainsAndKinds) {
  EXPECT_EQ(data_["nodes"]["name"]["rest"][0], "</script>");
  const Json& rack = data_["topology"][0];
  EXPECT_EQ(rack["values"][rack["of"][1].get<std::size_t>()], "r2");
  EXPECT_EQ(rack["of"][2], 0);  // outside of the topology
  EXPECT_EQ(data_["kinds"][data_["nodes"]["kind"][2].get<std::size_t>()]["cordoned"], true);
  EXPECT_EQ(data_["total"]["gpu"], 4);
}

}  // namespace
}  // namespace muster::reporting
