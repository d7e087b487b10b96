#include "cli/agent/planning/planner.h"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "test/support/paths.h"

namespace muster::cli {
namespace {

using Json = nlohmann::json;
using exporting::ExportPhase;

Json node(const char* name) {
  return {{"apiVersion", "v1"},
          {"kind", "Node"},
          {"metadata", {{"name", name}, {"uid", name}}},
          {"status",
           {{"allocatable", {{"cpu", "64"}, {"memory", "256Gi"}, {"pods", "110"}, {"nvidia.com/gpu", "8"}}},
            {"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}};
}

// Of 8 GPUs.
Json pod(const std::string& name, int priority, const std::string& place = "") {
  Json made = {
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata", {{"name", name}, {"namespace", "ml"}, {"uid", name}, {"creationTimestamp", "2026-01-01T00:00:00Z"}}},
      {"spec",
       {{"schedulerName", "muster"},
        {"priority", priority},
        {"containers", {{{"name", "c"}, {"resources", {{"limits", {{"nvidia.com/gpu", "8"}}}}}}}}}},
      {"status", {{"phase", place.empty() ? "Pending" : "Running"}}}};
  if (!place.empty()) made["spec"]["nodeName"] = place;
  return made;
}

kubernetes::KeptObjects kept(const std::vector<Json>& objects, const kubernetes::KubernetesOptions& options) {
  kubernetes::KeptObjects all;
  json::JsonDocument document;
  kubernetes::ObjectKeeper keeper(std::make_shared<const kubernetes::KubernetesOptions>(options));
  for (const Json& object : objects) {
    EXPECT_FALSE(document.parse(object.dump(), json::JsonLimits()));
    all.push_back(keeper.keep(keeper.slim(document.root(), "", "")));
  }
  return all;
}

constexpr Nanoseconds kTime = 1'767'225'660'000'000'000;  // 2026-01-01T00:01:00Z

class Planner : public testing::Test {
 protected:
  Planner() {
    options_.mode = ApplyMode::kBindings;
    options_.reader.strict = options_.reader.kubernetes.strict = false;
    options_.reader.policy.schedulers = {"muster"};
    options_.line.budget = 300'000'000;
    options_.line.solve.engine = portfolio::Engine::kGreedy;
    options_.line.solve.threads = 1;
  }

  // Pods of the plan by phase: "now first", "later first", "evict old".
  std::vector<std::string> planned(const std::vector<Json>& objects) {
    auto cluster = std::make_shared<ClusterObjects>();
    cluster->objects = kept(objects, options_.reader.kubernetes);
    cluster->time = kTime;
    std::optional<Result<exporting::ExportedPlan>> exported;
    AgentPlanner planner(
        options_, test::program(), [](const SolvedLine&) {}, [](const std::function<void()>& task) { task(); });
    std::string at_once;  // without a check
    planner.plan(cluster, [&](const AgentPlan& plan) {
      EXPECT_FALSE(plan.answer.is_error) << plan.answer.error.message;
      at_once = plan.steps->exported ? plan.steps->exported->text() : plan.steps->exported.error().message;
      planner.check(cluster, plan.steps, [&](const Result<exporting::ExportedPlan>& checked) {
        const std::scoped_lock lock(mutex_);
        exported = checked;
        done_.notify_one();
      });
    });
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return exported.has_value(); });
    EXPECT_TRUE(*exported) << exported->error().message;
    std::vector<std::string> pods;
    if (!*exported) return pods;
    EXPECT_EQ((*exported)->text(), at_once);
    for (const exporting::ExportedObject& object : (*exported)->objects) {
      const char* phase = object.phase == ExportPhase::kNow         ? "now "
                          : object.phase == ExportPhase::kEvictions ? "evict "
                                                                    : "later ";
      pods.push_back(phase + object.name);
    }
    return pods;
  }

  AgentPlan plan_of(AgentPlanner& planner, const std::shared_ptr<const ClusterObjects>& cluster) {
    std::optional<AgentPlan> plan;
    planner.plan(cluster, [&](AgentPlan made) {
      const std::scoped_lock lock(mutex_);
      plan = std::move(made);
      done_.notify_one();
    });
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return plan.has_value(); });
    return std::move(*plan);
  }

  AgentOptions options_;
  std::mutex mutex_;
  std::condition_variable done_;
};

// `first` waits for `old-1` to leave n1. Two larger pods of one gang have come since.
std::vector<Json> cluster_that_is_left() {
  Json leaving = pod("old-1", 1, "n1"), first = pod("first", 9),
       group = {{"apiVersion", "scheduling.x-k8s.io/v1alpha1"},
                {"kind", "PodGroup"},
                {"metadata", {{"name", "large"}, {"namespace", "ml"}, {"uid", "g"}}},
                {"spec", {{"minMember", 2}}}};
  leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:02:00Z";
  first["status"]["nominatedNodeName"] = "n1";
  std::vector<Json> objects = {node("n1"), node("n2"), leaving, pod("old-2", 1, "n2"), first, group};
  for (const char* name : {"large-1", "large-2"}) {
    objects.push_back(pod(name, 9));
    objects.back()["metadata"]["labels"]["scheduling.x-k8s.io/pod-group"] = "large";
  }
  return objects;
}

TEST_F(Planner, RoomThatPodsLeaveIsForTheGangThatTheyLeaveFor) {
  EXPECT_EQ(planned(cluster_that_is_left()), std::vector<std::string>{"later first"});
}

TEST_F(Planner, RoomThatHasBecomeFreeIsForItToo) {
  std::vector<Json> objects = cluster_that_is_left();
  objects.erase(objects.begin() + 2);
  EXPECT_EQ(planned(objects), std::vector<std::string>{"now first"});
}

TEST_F(Planner, WhatThePlanLeavesIsKnownToTheExtenderAlone) {
  std::shared_ptr<const PlannedPods> pods;
  for (const ApplyMode mode : {ApplyMode::kBindings, ApplyMode::kExtender}) {
    options_.mode = mode;
    auto cluster = std::make_shared<ClusterObjects>();
    cluster->objects = kept(cluster_that_is_left(), options_.reader.kubernetes);
    AgentPlanner planner(
        options_, test::program(), [](const SolvedLine&) {}, [](const std::function<void()>& task) { task(); });
    const AgentPlan plan = plan_of(planner, cluster);
    EXPECT_EQ(plan.pods->room != nullptr, mode == ApplyMode::kExtender);
    EXPECT_EQ(plan.pods->pending.size(), 3U);
  }
}

// In any mode: only KAI's groups say themselves since when they are in part.
TEST_F(Planner, AGangInPartIsReportedAndFreedAfterItsGracePeriod) {
  options_.mode = ApplyMode::kGates;
  const Json group = {{"apiVersion", "scheduling.x-k8s.io/v1alpha1"},
                      {"kind", "PodGroup"},
                      {"metadata", {{"name", "half"}, {"namespace", "ml"}, {"uid", "g"}}},
                      {"spec", {{"minMember", 3}}}};
  std::vector<Json> objects = {node("n1"), group, pod("h-0", 1, "n1"), pod("h-1", 1), pod("h-2", 1)};
  for (std::size_t i = 2; i < 5; ++i) objects[i]["metadata"]["labels"]["scheduling.x-k8s.io/pod-group"] = "half";
  AgentPlanner planner(
      options_, test::program(), [](const SolvedLine&) {}, [](const std::function<void()>& task) { task(); });
  const auto plan_at = [&](Nanoseconds seconds) {
    auto cluster = std::make_shared<ClusterObjects>();
    cluster->objects = kept(objects, options_.reader.kubernetes);
    cluster->time = kTime + seconds * kNanosecondsPerSecond;
    return plan_of(planner, cluster);
  };
  const AgentPlan first = plan_at(0);
  ASSERT_EQ(first.staleness.partial.size(), 1U);
  EXPECT_EQ(first.staleness.partial[0].sentence, "1 pod of it runs, below its minimum of 3");
  EXPECT_EQ(first.staleness.next, kTime + 60 * kNanosecondsPerSecond);
  ASSERT_EQ(first.pods->waiting.size(), 1U);
  EXPECT_EQ(first.pods->waiting[0].reason, "GangInPart");
  EXPECT_NE(first.pods->waiting[0].note.find("1 pod of it runs, below its minimum of 3"), std::string::npos)
      << first.pods->waiting[0].note;
  EXPECT_TRUE(plan_at(59).steps->exported->objects.empty());
  const auto freed = plan_at(60).steps->exported->objects;
  ASSERT_EQ(freed.size(), 1U);
  EXPECT_EQ(freed[0].name, "h-0");
  EXPECT_EQ(freed[0].phase, ExportPhase::kEvictions);
  objects.insert(objects.begin() + 1, node("n2"));
  objects.insert(objects.begin() + 1, node("n3"));
  EXPECT_TRUE(plan_at(30).pods->waiting.empty()) << "the plan completes it";
  objects.erase(objects.begin() + 1, objects.begin() + 3);
  objects.erase(objects.begin() + 3, objects.end());  // nothing waits any more
  const AgentPlan alone = plan_at(30);
  ASSERT_EQ(alone.pods->waiting.size(), 1U);
  EXPECT_EQ(alone.pods->waiting[0].pod, "ml/h-0");
  EXPECT_EQ(alone.pods->waiting[0].note, "1 pod of it runs, below its minimum of 3, and no other pod of it waits.");
  objects.erase(objects.begin() + 2);
  EXPECT_TRUE(plan_at(31).staleness.partial.empty());
}

}  // namespace
}  // namespace muster::cli
