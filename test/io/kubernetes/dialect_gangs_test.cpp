// Gangs of Koordinator and YuniKorn.
#include <string>
#include <vector>

#include "io/kubernetes/pod/gang_terms.h"
#include "test/io/kubernetes_objects.h"

namespace muster::kubernetes {
namespace {

constexpr const char* kWorkers = R"([{"name": "workers", "minMember": 4, "minResource": {"cpu": "1"}}])";
constexpr const char* kTwoGroups = R"([{"name": "driver", "minMember": 1, "minResource": {"cpu": "1"}},
                                       {"name": "workers", "minMember": 2, "minResource": {"cpu": "1"}}])";

Json created(Json made, const char* when) {
  made["metadata"]["creationTimestamp"] = when;
  return made;
}

Json yunikorn(const char* name, const char* group, const char* groups = kWorkers) {
  Json made = labelled(pod(name, {{"schedulerName", "yunikorn"}}), "applicationId", "app");
  made = annotated(created(made, "2026-03-01T10:00:00Z"), "yunikorn.apache.org/task-groups", groups);
  return *group == 0 ? made : annotated(made, "yunikorn.apache.org/task-group-name", group);
}

Json hard(Json made) {
  return annotated(std::move(made), "yunikorn.apache.org/schedulingPolicyParameters",
                   "placeholderTimeoutInSeconds=60 gangSchedulingStyle=Hard");
}

Json soft(Json made) {
  return annotated(std::move(made), "yunikorn.apache.org/schedulingPolicyParameters", "placeholderTimeoutInSeconds=60");
}

// Something that happened at this time, which is the present then.
Json at_time(const char* when) {
  return created(in_namespace(object("v1", "Pod", "clock", Json::object()), "z"), when);
}

Json koordinator(const char* name, const char* gang, const char* least) {
  return annotated(annotated(pod(name), "gang.scheduling.koordinator.sh/name", gang),
                   "gang.scheduling.koordinator.sh/min-available", least);
}

Json bundled(Json made, const char* groups) {
  return annotated(std::move(made), "gang.scheduling.koordinator.sh/groups", groups);
}

TEST(YunikornGangs, OneTaskGroupIsAGangWithItsMinimum) {
  const auto made = imported({hard(yunikorn("a", "workers")), hard(yunikorn("b", "workers"))});
  EXPECT_EQ(made.at("gangs", "team/app")["minMember"], 4);
  EXPECT_FALSE(made.at("gangs", "team/app").contains("subgroups"));
  EXPECT_EQ(made.pod("team/a")["gang"], "team/app");
}

TEST(YunikornGangs, SeveralTaskGroupsAreSubgroupsThatStartTogether) {
  const auto made = imported({yunikorn("d", "driver", kTwoGroups), yunikorn("w", "workers", kTwoGroups)});
  Json gang = made.at("gangs", "team/app");
  ASSERT_EQ(gang["subgroups"].size(), 2U);
  EXPECT_EQ(gang["subgroups"][0], Json({{"name", "driver"}, {"minMember", 1}}));
  EXPECT_EQ(gang["subgroups"][1], Json({{"name", "workers"}, {"minMember", 2}}));
  EXPECT_EQ(made.pod("team/w")["subgroup"], "workers");
}

TEST(YunikornGangs, ATaskGroupWithoutPodsIsNeededToo) {
  const Json gang = imported({yunikorn("d", "driver", kTwoGroups)}).at("gangs", "team/app");
  EXPECT_EQ(gang["subgroups"][1], Json({{"name", "workers"}, {"minMember", 2}}));
}

TEST(YunikornGangs, AnApplicationWithoutTaskGroupsIsNoGang) {
  const Json plain = labelled(pod("a", {{"schedulerName", "yunikorn"}}), "applicationId", "app");
  const auto made = imported({plain});
  EXPECT_EQ(made.find("gangs", "team/app"), nullptr);
  EXPECT_FALSE(made.pod("team/a").contains("gang"));
}

TEST(YunikornGangs, OfAnApplicationThatIsNoGangOnePodIsHeldByItself) {
  Json odd = labelled(pod("a", {{"schedulerName", "yunikorn"}}), "applicationId", "app");
  odd["spec"]["resourceClaims"] = Json::array({{{"name", "gpu"}, {"resourceClaimName", "claim"}}});
  const auto made = imported({odd, labelled(pod("b", {{"schedulerName", "yunikorn"}}), "applicationId", "app")});
  EXPECT_TRUE(made.pod("team/a").contains("held"));
  EXPECT_FALSE(made.pod("team/b").contains("held"));
}

TEST(YunikornGangs, APodWithoutATaskGroupWaitsForItsApplication) {
  const auto made = imported({yunikorn("a", "workers"), yunikorn("b", "")});
  EXPECT_EQ(made.pod("team/b")["gang"], "team/app");
  EXPECT_EQ(made.pod("team/b")["subgroup"], "(none)");
}

TEST(YunikornGangs, AfterItsTimeoutASoftGangIsSinglePods) {
  const std::vector<Json> early = {soft(yunikorn("a", "workers")), at_time("2026-03-01T10:00:59Z")};
  EXPECT_EQ(imported(early).at("gangs", "team/app")["minMember"], 4);
  const std::vector<Json> late = {soft(yunikorn("a", "workers")), at_time("2026-03-01T10:01:00Z")};
  EXPECT_FALSE(imported(late).pod("team/a").contains("gang"));
  const std::vector<Json> never = {hard(yunikorn("a", "workers")), at_time("2026-03-01T10:01:00Z")};
  EXPECT_EQ(imported(never).at("gangs", "team/app")["minMember"], 4);
}

TEST(YunikornGangs, ASoftGangWithoutATimeoutHasAQuarterOfAnHour) {
  EXPECT_EQ(imported({yunikorn("a", "workers"), at_time("2026-03-01T10:14:59Z")}).pod("team/a")["gang"], "team/app");
  EXPECT_FALSE(imported({yunikorn("a", "workers"), at_time("2026-03-01T10:15:00Z")}).pod("team/a").contains("gang"));
}

TEST(YunikornGangs, OnceAPodHasStartedTheOthersStartOneByOne) {
  const auto made = imported({node("n"), hard(running(yunikorn("a", "workers"), "n")), hard(yunikorn("b", "workers"))});
  EXPECT_EQ(made.at("gangs", "team/app")["minMember"], 1);
}

TEST(YunikornGangs, APlaceholderKeepsTheRoomOfAPod) {
  const Json placeholder = annotated(yunikorn("tg-0", "workers"), "yunikorn.apache.org/placeholder", "true");
  const auto made = imported({placeholder, yunikorn("a", "workers"), yunikorn("b", "workers")});
  EXPECT_EQ(made.at("gangs", "team/app")["minMember"], 4);
  EXPECT_FALSE(made.pod("team/tg-0").contains("status"));
  EXPECT_EQ(made.pod("team/a")["status"], "gated");
  EXPECT_FALSE(made.pod("team/b").contains("status"));
  const auto reserving = imported({node("n"), running(placeholder, "n"), yunikorn("a", "workers")});
  EXPECT_EQ(reserving.at("gangs", "team/app")["minMember"], 4) << "a placeholder is no pod that has started";
}

TEST(YunikornGangs, TaskGroupsThatCannotBeReadHoldTheGang) {
  for (const char* broken : {"[", "{}", R"([{"name":"workers"}])", R"([{"minMember":2,"minResource":{}}])",
                             R"([{"name":"workers","minMember":0,"minResource":{}}])"}) {
    const auto made = imported({yunikorn("a", "workers", broken)});
    EXPECT_TRUE(made.says("yunikorn.apache.org/task-groups")) << broken;
    EXPECT_TRUE(made.pod("team/a").contains("held")) << broken;
  }
}

TEST(YunikornGangs, PreemptionIsForbiddenByThePodOrItsClass) {
  Json firm = object("scheduling.k8s.io/v1", "PriorityClass", "firm", Json());
  firm.erase("spec");
  firm["value"] = 5;
  firm = annotated(firm, "yunikorn.apache.org/allow-preemption", "false");
  const auto of_class = [](const char* name) {
    return pod(name, {{"schedulerName", "yunikorn"}, {"priorityClassName", "firm"}, {"priority", 5}});
  };
  const auto made =
      imported({node("n"), firm, running(of_class("a"), "n"),
                running(annotated(of_class("b"), "yunikorn.apache.org/allow-preemption", "true"), "n"),
                running(annotated(pod("c"), "yunikorn.apache.org/allow-preemption", "false"), "n"),
                running(yunikorn("d", "workers"), "n"),
                running(annotated(yunikorn("e", "workers"), "yunikorn.apache.org/allow-preemption", "false"), "n")});
  EXPECT_EQ(made.pod("team/a")["preemptible"], false);
  EXPECT_EQ(made.pod("team/b")["preemptible"], true);
  EXPECT_EQ(made.pod("team/c")["preemptible"], false);
  EXPECT_EQ(made.at("gangs", "team/app")["preemptible"], false) << "one pod protects its gang";
}

TEST(KoordinatorGangs, AnnotationsMakeAGang) {
  const auto made = imported({koordinator("a", "train", "3"), koordinator("b", "train", "3")});
  EXPECT_EQ(made.at("gangs", "team/train")["minMember"], 3);
  EXPECT_EQ(made.pod("team/a")["gang"], "team/train");
}

TEST(KoordinatorGangs, NonStrictModeChangesWhenPodsAreTriedAndNotWhatIsNeeded) {
  const Json made = annotated(koordinator("a", "train", "3"), "gang.scheduling.koordinator.sh/mode", "NonStrict");
  EXPECT_EQ(imported({made}).at("gangs", "team/train")["minMember"], 3);
}

TEST(KoordinatorGangs, WithoutAMinimumAreHeld) {
  const Json bare = annotated(pod("a"), "gang.scheduling.koordinator.sh/name", "train");
  EXPECT_TRUE(imported({bare}).says("gang.scheduling.koordinator.sh/min-available"));
  EXPECT_TRUE(imported({bare}).pod("team/a").contains("held"));
}

TEST(KoordinatorGangs, OnceAPodHasStartedTheOthersStartOneByOne) {
  const std::vector<Json> pods = {node("n"), running(koordinator("a", "train", "3"), "n"),
                                  koordinator("b", "train", "3")};
  EXPECT_EQ(imported(pods).at("gangs", "team/train")["minMember"], 1);
  std::vector<Json> counting = pods;
  for (std::size_t i : {1, 2}) {
    counting[i] = annotated(counting[i], "gang.scheduling.koordinator.sh/match-policy", "waiting-and-running");
  }
  EXPECT_EQ(imported(counting).at("gangs", "team/train")["minMember"], 3);
  for (std::size_t i : {1, 2})
    counting[i] = annotated(counting[i], "gang.scheduling.koordinator.sh/match-policy", "only-waiting");
  EXPECT_TRUE(imported(counting).says("only-waiting")) << "held";
}

TEST(KoordinatorGangs, OfOneGroupAreOneGangWithSubgroups) {
  constexpr const char* kGroups = R"(["team/a","team/b"])";
  const auto made = imported({bundled(koordinator("a-0", "a", "2"), kGroups),
                              bundled(koordinator("b-0", "b", "1"), kGroups), koordinator("c-0", "c", "1")});
  Json gang = made.at("gangs", "team/a+b");
  EXPECT_EQ(gang["subgroups"], Json::array({{{"name", "a"}, {"minMember", 2}}, {{"name", "b"}, {"minMember", 1}}}));
  EXPECT_EQ(made.pod("team/a-0")["gang"], "team/a+b");
  EXPECT_EQ(made.pod("team/b-0")["subgroup"], "b");
  EXPECT_EQ(made.find("gangs", "team/b"), nullptr);
  EXPECT_EQ(made.pod("team/c-0")["gang"], "team/c");
}

TEST(KoordinatorGangs, OfOneGroupWaitForAGangThatDoesNotExist) {
  const auto made = imported({bundled(koordinator("a-0", "a", "1"), R"(["team/a","team/b"])")});
  EXPECT_TRUE(made.pod("team/a-0").contains("held"));
  EXPECT_TRUE(made.says("names the gang team/b, which is not in the input"));
}

TEST(KoordinatorGangs, WhoseGroupsDifferAreHeld) {
  const auto made = imported({bundled(koordinator("a-0", "a", "1"), R"(["a","b"])"), koordinator("b-0", "b", "1")});
  EXPECT_TRUE(made.pod("team/a-0").contains("held"));
  EXPECT_FALSE(made.pod("team/b-0").contains("held"));
}

TEST(KoordinatorGangs, OfTheCoschedulingPluginsAreKoordinatorsIfItPlacesThem) {
  const Json group = in_namespace(object("scheduling.sigs.k8s.io/v1alpha1", "PodGroup", "train", {{"minMember", 3}}));
  const auto member = [](const char* name, const char* scheduler) {
    return labelled(pod(name, {{"schedulerName", scheduler}}), "pod-group.scheduling.sigs.k8s.io", "train");
  };
  const auto least = [&](const char* scheduler) {
    return imported({node("n"), group, running(member("a", scheduler), "n"), member("b", scheduler)})
        .at("gangs", "team/train")["minMember"];
  };
  EXPECT_EQ(least("koord-scheduler"), 1);
  EXPECT_EQ(least("scheduler-plugins"), 3);
}

TEST(KoordinatorGangs, OfOneGroupAreSatisfiedTogether) {
  constexpr const char* kGroups = R"(["a","b"])";
  const auto made =
      imported({node("n"), running(bundled(koordinator("a-0", "a", "2"), kGroups), "n"),
                bundled(koordinator("a-1", "a", "2"), kGroups), bundled(koordinator("b-0", "b", "2"), kGroups)});
  EXPECT_EQ(made.at("gangs", "team/a+b")["subgroups"],
            Json::array({{{"name", "a"}, {"minMember", 1}}, {{"name", "b"}, {"minMember", 0}}}));
}

TEST(KoordinatorGangs, PodGroupsMayBeBundledToo) {
  const auto group = [](const char* name, int least) {
    return annotated(in_namespace(object("scheduling.sigs.k8s.io/v1alpha1", "PodGroup", name, {{"minMember", least}})),
                     "gang.scheduling.koordinator.sh/groups", R"(["team/a","team/b"])");
  };
  const auto made =
      imported({group("a", 1), group("b", 2), labelled(pod("a-0"), "pod-group.scheduling.sigs.k8s.io", "a"),
                labelled(pod("b-0"), "pod-group.scheduling.sigs.k8s.io/name", "b")});
  EXPECT_EQ(made.at("gangs", "team/a+b")["subgroups"],
            Json::array({{{"name", "a"}, {"minMember", 1}}, {{"name", "b"}, {"minMember", 2}}}));
  EXPECT_EQ(made.pod("team/b-0")["subgroup"], "b");
}

TEST(KoordinatorGangs, ALayerOfTheNetworkThatIsRequiredHoldsTheGang) {
  const auto spread = [](const char* strategy) {
    return annotated(
        koordinator("a", "train", "1"), "gang.scheduling.koordinator.sh/network-topology-spec",
        (R"({"gatherStrategy":[{"layer":"spine","strategy":")" + std::string(strategy) + R"("}]})").c_str());
  };
  EXPECT_TRUE(imported({spread("MustGather")}).pod("team/a").contains("held"));
  EXPECT_FALSE(imported({spread("PreferGather")}).pod("team/a").contains("held"));
}

TEST(KoordinatorPods, LabelsProtectThem) {
  const auto made =
      imported({node("n"), running(labelled(pod("a"), "quota.scheduling.koordinator.sh/preemptible", "false"), "n"),
                running(labelled(pod("b"), "scheduling.koordinator.sh/disable-preemptible", "true"), "n"),
                running(labelled(pod("c"), "scheduling.koordinator.sh/disable-preemptible", "false"), "n")});
  EXPECT_EQ(made.pod("team/a")["preemptible"], false);
  EXPECT_EQ(made.pod("team/b")["preemptible"], false);
  EXPECT_EQ(made.pod("team/c")["preemptible"], true);
}

TEST(PolicyParameters, AreReadAsYunikornDoes) {
  EXPECT_FALSE(read_policy_parameters("").is_hard);
  EXPECT_TRUE(read_policy_parameters("gangSchedulingStyle=Hard").is_hard);
  EXPECT_FALSE(read_policy_parameters("gangSchedulingStyle=hard other").is_hard);
  EXPECT_EQ(read_policy_parameters("placeholderTimeoutInSeconds=30 x=y").timeout, 30'000'000'000);
  EXPECT_EQ(read_policy_parameters("placeholderTimeoutInSeconds=").timeout, 900'000'000'000);
}

}  // namespace
}  // namespace muster::kubernetes
