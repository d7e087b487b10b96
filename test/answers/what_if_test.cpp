// `muster what-if` from outside: each change, changes together, and what is refused.
#include <string>

#include <gtest/gtest.h>

#include "test/cli/program.h"
#include "test/support/cluster.h"

namespace muster::cli {
namespace {

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (part) << " is not in " << (text)

// `big` needs two whole nodes, and only n2 is free: n1 is taken for good, n3 is cordoned, n4 tainted, n5 small. `sweep`
// on n6 may be evicted, but not by `big`.
std::string snapshot() {
  test::Cluster cluster;
  cluster.node("n1", 4, R"("labels":{"rack":"r1"})").node("n2", 4, R"("labels":{"rack":"r1"})");
  cluster.node("n3", 4, R"("labels":{"rack":"r2"},"unschedulable":true)");
  cluster.node("n4", 4, R"("labels":{"rack":"r2"},"taints":[{"key":"spot","value":"yes","effect":"NoSchedule"}])");
  cluster.node("n5", 1).node("n6", 4);
  cluster.queue("q").queue("r");
  cluster.gang("big", R"("queue":"q","minMember":2,"priority":10,"preemptible":false,"preemptionPolicy":"Never")");
  cluster.pods("big", 2, 4, R"("gang":"big")");
  cluster.running("run", "n1", 4, R"("queue":"r","preemptible":false,"started":1000)");
  cluster.running("sweep", "n6", 4, R"("queue":"r","preemptible":true,"started":1000)");
  cluster.pod("small", 1, R"("queue":"r")").with(R"("topology":["rack"])");
  return cluster.line();
}

class WhatIf : public testing::Test {
 protected:
  Outcome run(const std::string& arguments) const {
    const std::string from = place_.file("cluster.json", snapshot());
    return place_.run("what-if --deterministic --threads 1 --from " + from + " " + arguments);
  }
  std::string sentence(const std::string& arguments, int exit_code = 0) const {
    const Outcome found = run(arguments);
    EXPECT_EQ(found.exit_code, exit_code) << found.out << found.err;
    return found.out.substr(0, found.out.find('\n'));
  }
  std::string refusal(const std::string& arguments) const {
    const Outcome found = run(arguments);
    EXPECT_EQ(found.exit_code, 64) << found.out;
    EXPECT_EQ(found.out, "");
    return found.err;
  }
  Workplace place_;
};

constexpr const char* kSame = "The same gangs have room, but the plans differ; proven optimal.";
constexpr const char* kBigStarts = "With the change, 1 gang more would have room (big); proven optimal.";

TEST_F(WhatIf, NothingIsChangedNothingChanges) {
  const Outcome found = run("");
  EXPECT_EQ(found.exit_code, 0) << found.err;
  EXPECT_HAS(found.out, "No change was given, so nothing changes; proven optimal.\n");
  EXPECT_HAS(run("--format json").out, R"("different":false)");
}

TEST_F(WhatIf, ChangesThatDoNothingChangeNothing) {
  EXPECT_EQ(sentence("--set-quota r=gpu:unlimited"), "Nothing changes: both plans decide the same; proven optimal.");
}

TEST_F(WhatIf, NodesAreAdded) {
  EXPECT_EQ(sentence("--add-nodes n2"), kBigStarts);
  EXPECT_EQ(sentence("--add-nodes 2xn2"), kBigStarts);
  EXPECT_EQ(sentence("--add-nodes 1xgpu=4,cpu=8"), kBigStarts);
}

TEST_F(WhatIf, LimitsOfAnyResourceAreSet) {
  EXPECT_HAS(run("--set-limit q=pods:0 --format json").out, "--set-limit q=pods:0");
  EXPECT_HAS(run("--set-limit q=pod:0").err, "'pod' is not gpu, cpu, memory, pods or another resource of the cluster");
  EXPECT_HAS(run("--set-quota q=pods:4").err, "a quota of pods is not counted");
}

TEST_F(WhatIf, NodesAreOpenedAndClosed) {
  EXPECT_EQ(sentence("--uncordon n3"), kBigStarts);
  EXPECT_EQ(sentence("--cordon n5"), kSame);
  EXPECT_EQ(sentence("--cordon n5,n2"), "With the change, 1 gang would no longer have room (small); proven optimal.");
}

TEST_F(WhatIf, NodesGo) {
  EXPECT_EQ(sentence("--drain n1"), kSame);
  EXPECT_EQ(sentence("--remove-node n1"), kSame);
  EXPECT_EQ(sentence("--remove-node n1 --remove-node n2,n6"),
            "With the change, 2 gangs would no longer have room (run, sweep); proven optimal.");
}

TEST_F(WhatIf, GangsAreEditedEvictedAndRemoved) {
  EXPECT_EQ(sentence("--remove-gang run"), kBigStarts);
  EXPECT_EQ(
      sentence("--evict run"),
      "With the change, 1 gang more would have room (big), 1 gang would no longer have room (run); proven optimal.");
  EXPECT_EQ(sentence("--evict run --set-priority run=1000"),
            "With the change, 1 gang more would have room (big), 1 gang would be evicted (sweep); proven optimal.");
  EXPECT_EQ(sentence("--set-minimum big=1"), kBigStarts);
}

TEST_F(WhatIf, TheMinimumOfASubgroupIsSetByItsName) {
  test::Cluster cluster;
  cluster.node("n1", 4).gang("ns/g", R"("subgroups":[{"name":"a","minMember":2},{"name":"b","minMember":1}])");
  cluster.pod("ns/a-0", 1, R"("gang":"ns/g","subgroup":"a")").pod("ns/b-0", 1, R"("gang":"ns/g","subgroup":"b")");
  const Workplace place;
  const std::string from = " --deterministic --from " + place.file("cluster.json", cluster.line());
  EXPECT_NE(place.run("what-if --set-minimum ns/g/a=1" + from).out.find("1 gang more would have room (ns/g)"),
            std::string::npos);
  const Outcome whole = place.run("what-if --set-minimum ns/g=1" + from);
  EXPECT_NE(whole.err.find("has subgroups; name one: ns/g/a"), std::string::npos) << whole.err;
}

TEST_F(WhatIf, TaintsAreTolerated) {
  for (const char* taint : {"spot", "spot=yes", "spot=yes:NoSchedule", "spot:NoSchedule"})
    EXPECT_EQ(sentence(std::string("--tolerate big=") + taint), kBigStarts) << taint;
  for (const char* taint : {"spots", "spot=no", "spot:NoExecute"})
    EXPECT_EQ(sentence(std::string("--tolerate big=") + taint),
              "Nothing changes: both plans decide the same; proven optimal.")
        << taint;
}

TEST_F(WhatIf, QueuesAreLimited) {
  EXPECT_EQ(sentence("--uncordon n3 --set-limit q=gpu:8 --set-quota q=gpu:8,cpu:1.5,memory:64Gi"), kBigStarts);
  EXPECT_EQ(sentence("--uncordon n3 --set-limit q=gpu:7"), kSame);
  EXPECT_EQ(sentence("--uncordon n3 --set-quota q=gpu:7"), kSame);
}

TEST_F(WhatIf, LevelsAreRequired) {
  EXPECT_EQ(sentence("--uncordon n3 --set-level big=rack"), kSame);
  EXPECT_EQ(sentence("--uncordon n3 --set-level big=rack --set-level big=none"), kBigStarts);
}

TEST_F(WhatIf, AShapeIsAWorkloadThatWaits) {
  EXPECT_EQ(sentence("--gang 1x4 --queue q"), "The gang new-gang would start now on n2; proven optimal.");
  EXPECT_EQ(sentence("--gang 2x4 --queue r --priority 1000"),
            "The gang new-gang would start on n2, n6 (evicts 1 pod of sweep); proven optimal.");
  const Outcome found = run("--gang 3x4 --queue q");
  EXPECT_EQ(found.exit_code, 1);
  EXPECT_HAS(found.out, "The gang new-gang would not start: ");
  EXPECT_HAS(found.out, "What excludes nodes\n");
  EXPECT_EQ(
      sentence("--gang 1x4 --gang 1x8 --queue q --no-remedies", 1).find("1 of 2 gangs would not start: new-gang-2 ("),
      0U);
}

TEST_F(WhatIf, WhatWouldStartAWorkloadThatWaitsIsToldInOptions) {
  const Outcome found = run("--gang 3x4 --queue q --priority 50 --format json");
  EXPECT_EQ(found.exit_code, 1);
  EXPECT_HAS(found.out, R"("remedies":[{)");
  EXPECT_HAS(found.out, R"("kind":"addNodes")");
  EXPECT_EQ(run("--gang 3x4 --queue q --priority 50 --no-remedies --format json").out.find("remedies"),
            std::string::npos);
  EXPECT_EQ(run("--gang 3x4 --queue q --priority 50 --add-nodes 2xn2").exit_code, 0);
}

TEST_F(WhatIf, APodIsEvictedByItsNameAlone) {
  const std::string from = place_.file("cluster.json", test::Cluster()
                                                           .node("n", 4)
                                                           .gang("ml/g", R"("minMember":1)")
                                                           .running("ml/g-0", "n", 2, R"("gang":"ml/g","started":1000)")
                                                           .running("ml/g-1", "n", 2, R"("gang":"ml/g","started":1000)")
                                                           .line());
  const auto changes = [&](const std::string& name) {
    return place_.run("what-if --deterministic --from " + from + " --evict " + name).out;
  };
  EXPECT_HAS(changes("g-1"), "Changes: --evict ml/g-1\n");
  EXPECT_HAS(changes("ml/g-1"), "Changes: --evict ml/g-1\n");
  EXPECT_HAS(changes("g"), "Changes: --evict ml/g\n");
}

TEST_F(WhatIf, ChangesApplyInTheirOrder) {
  EXPECT_EQ(sentence("--add-nodes n2 --cordon n2+1"), kSame);
  EXPECT_HAS(refusal("--cordon n2+1 --add-nodes n2"), "--cordon: 'n2+1': ");
  EXPECT_EQ(sentence("--gang 1x8 --queue q --remove-gang big --add-nodes gpu=8 --set-priority new-gang=5"),
            "The gang new-gang would start now on new-node+1; proven optimal.");
  EXPECT_HAS(run("--cordon n5 --uncordon n3").out, "Changes: --cordon n5 --uncordon n3\n");
}

TEST_F(WhatIf, JsonHasAllOfIt) {
  const std::string out = run("--gang 2x4 --queue r --priority 1000 --format json").out;
  EXPECT_EQ(out.find(R"({"kind":"whatIf","changes":["--gang )"), 0U) << out;
  EXPECT_HAS(out, R"("submitted":[{"gang":"new-gang","queue":"r","starts":true,"phase":"Waiting","placed":2,"pods":2,)"
                  R"("nodes":["n2: 1","n6: 1"],"evicts":["sweep: 1"],"moves":[],"waitsForLeaving":0,"reason":null)");
  EXPECT_HAS(out, R"({"what":"gpus","before":17,"after":17},{"what":"gpusAllocated","before":9,"after":13})");
  EXPECT_HAS(out, R"({"what":"podsEvicted","before":0,"after":1})");
  EXPECT_HAS(out, R"({"what":"proof","before":"optimal","after":"optimal"})");
  EXPECT_HAS(out, R"("gangs":[)");
  EXPECT_HAS(out, R"("levels":[)");
  EXPECT_HAS(out, R"("queues":[{"queue":"r","resource":"gpu","allocatedBefore":9,"allocatedAfter":13)");
}

TEST_F(WhatIf, GangsWhosePodsMoveAreCalledMovedAndAmountsHaveUnits) {
  const std::string from =
      place_.file("cluster.json", test::Cluster()
                                      .node("n1", 4, R"("resources":{"cpu":8,"memory":"8Gi"})")
                                      .node("n2", 4, R"("resources":{"cpu":8,"memory":"8Gi"})")
                                      .running("old", "n1", 2, R"("started":1000,"resources":{"memory":"512Mi"})")
                                      .running("odd", "n2", 2, R"("started":1000,"resources":{"cpu":1})")
                                      .line());
  const auto run = [&](const std::string& form) {
    return place_.run("what-if --deterministic --format " + form + " --from " + from + " --gang 4,cpu=1,memory=1536Mi")
        .out;
  };
  const std::string table = run("table"), json = run("json");
  EXPECT_HAS(table, "Running, moved");
  EXPECT_EQ(table.find("- -> Running"), std::string::npos) << table;
  EXPECT_HAS(table, " 512 MiB");
  EXPECT_HAS(table, " +1.5 GiB");
  EXPECT_HAS(table, " 1 core ");
  EXPECT_HAS(json, R"("phaseBefore":null,"phaseAfter":"Running")");
  EXPECT_HAS(json, R"("resource":"memory","allocatedBefore":536870912,"allocatedAfter":2147483648)");
}

TEST_F(WhatIf, NodesOfAShapeAreToldWithAllOfIt) {
  EXPECT_HAS(run("--add-nodes 2xgpu=4:H100,cpu=8,memory=16Gi,label=rack:r9").out,
             "Changes: --add-nodes 2xgpu=4:H100,cpu=8,memory=16Gi,label=rack:r9\n");
}

TEST_F(WhatIf, UnknownNamesAreRefusedWithTheNearestOne) {
  EXPECT_HAS(refusal("--cordon n22"), "muster what-if: --cordon: 'n22': ");
  EXPECT_HAS(refusal("--cordon n22"), "did you mean 'n2'?");
  EXPECT_HAS(refusal("--remove-gang bigg"), "did you mean 'big'?");
  EXPECT_HAS(refusal("--set-limit qq=gpu:1"), "did you mean 'q'?");
  EXPECT_HAS(refusal("--set-level big=rak"), "--set-level: 'big=rak': there is no topology level \"rak\"");
  EXPECT_HAS(refusal("--gang 1x1 --queue qq"),
             "--queue: 'qq': no queue 'qq' in the cluster (queues: q, r); did you mean 'q'?");
  EXPECT_HAS(refusal("--set-quota other=gpu:1"), "(queues: q, r)");
}

TEST_F(WhatIf, ValuesThatCannotBeReadAreRefused) {
  for (const char* change :
       {"--set-limit gpu:4", "--set-limit q=gpu", "--set-limit q=disk:4", "--set-limit q=gpu:many",
        "--set-limit q=gpu:-4", "--set-priority big", "--set-priority big=high", "--set-minimum big=0",
        "--set-level big", "--tolerate big", "--tolerate big=a:Never", "--gang 0x0", "--gang many", "--add-nodes 0xn1",
        "--evict big", "--priority x", "--set-minimum run=1", "--submit", "file"})
    EXPECT_HAS(refusal(change), "muster what-if: ") << change;
}

TEST_F(WhatIf, WithoutAClusterThereIsNoAnswer) {
  EXPECT_EQ(place_.run("what-if --cordon n1").exit_code, 66);
  EXPECT_EQ(place_.run("what-if --from " + place_.path("none")).exit_code, 66);
  EXPECT_EQ(place_.run("what-if", "{}\n").exit_code, 65);
}

TEST_F(WhatIf, WithTheClockThereAreTimes) {
  const std::string from = place_.file("cluster.json", snapshot());
  const Outcome found = place_.run("what-if --budget 300ms --uncordon n3 --from " + from);
  EXPECT_EQ(found.exit_code, 0) << found.err;
  EXPECT_HAS(found.out, "\ntime ");
  EXPECT_EQ(run("--uncordon n3").out.find("\ntime "), std::string::npos);
}

}  // namespace
}  // namespace muster::cli
