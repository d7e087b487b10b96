// How long pods and gangs are expected to run, and how long those took that have finished.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "test/io/kubernetes_objects.h"

namespace muster::kubernetes {
namespace {

constexpr const char* kKey = "muster/expected-duration";

Json limited(Json made, Json seconds) {
  made["spec"]["activeDeadlineSeconds"] = std::move(seconds);
  return made;
}

Json grouped(Json made, const char* group = "g") {
  return labelled(std::move(made), "kueue.x-k8s.io/pod-group-name", group);
}

Json owned(Json made, const char* kind, const char* name) {
  made["metadata"]["ownerReferences"].push_back({{"kind", kind}, {"name", name}});
  return made;
}

Json job(Json spec = Json::object()) { return in_namespace(object("batch/v1", "Job", "train", std::move(spec))); }

Json workload(const char* name, Json seconds, const char* version = "kueue.x-k8s.io/v1beta1") {
  return in_namespace(object(version, "Workload", name, {{"maximumExecutionTimeSeconds", std::move(seconds)}}));
}

Json finished(const char* name, const char* start, const char* end, const char* gpus = "1") {
  Json made = asking(pod(name), "nvidia.com/gpu", gpus);
  made["status"] = {{"phase", "Succeeded"},
                    {"startTime", start},
                    {"containerStatuses", {{{"state", {{"terminated", {{"finishedAt", end}}}}}}}}};
  return made;
}

// The expected duration of the pod "p" in seconds; 0: it tells none.
double told(const std::vector<Json>& items, const KubernetesOptions& options = {}) {
  return imported(items, options).pod("team/p").value("expectedDuration", 0.0);
}

Json history_of(const ImportedObjects& made, std::int64_t from) {
  const Json none = Json::array();
  for (const Json& history : made.line.value("policy", Json::object()).value("expectedDurations", none)) {
    if (history["gpus"][0] == from) return history;
  }
  return nullptr;
}

TEST(KubernetesExpectedDuration, IsTheAnnotationElseTheDeadline) {
  EXPECT_EQ(told({pod("p")}), 0);
  EXPECT_EQ(told({limited(pod("p"), 600)}), 600);
  EXPECT_EQ(told({annotated(pod("p"), kKey, "1h30m")}), 5400);
  EXPECT_EQ(told({annotated(limited(pod("p"), 600), kKey, "1-00:00:00")}), 86'400);
}

TEST(KubernetesExpectedDuration, AnotherAnnotationMayTellIt) {
  KubernetesOptions options;
  options.duration_annotation = "example.com/limit";
  EXPECT_EQ(told({annotated(annotated(pod("p"), "example.com/limit", "90:00"), kKey, "60")}, options), 5400);
  EXPECT_EQ(told({annotated(pod("p"), kKey, "60")}, options), 0);
}

TEST(KubernetesExpectedDuration, TheJobOfAPodTellsItToo) {
  const Json of_job = owned(pod("p"), "Job", "train");
  EXPECT_EQ(told({of_job, job({{"activeDeadlineSeconds", 900}})}), 900);
  EXPECT_EQ(told({limited(of_job, 600), job({{"activeDeadlineSeconds", 900}})}), 600);
  EXPECT_EQ(told({limited(of_job, 600), job({{"activeDeadlineSeconds", 300}})}), 300);
  EXPECT_EQ(told({limited(of_job, 600), annotated(job({{"activeDeadlineSeconds", 300}}), kKey, "7200")}), 7200);
  EXPECT_EQ(told({annotated(of_job, kKey, "60"), annotated(job(), kKey, "7200")}), 60);
}

TEST(KubernetesExpectedDuration, AWorkloadOfKueueLimitsItsOwners) {
  const Json of_job = owned(workload("w", 1200), "Job", "train");
  EXPECT_EQ(told({owned(pod("p"), "Job", "train"), of_job}), 1200);
  EXPECT_EQ(told({owned(pod("p"), "Job", "train"), of_job, job({{"activeDeadlineSeconds", 900}})}), 900);
  EXPECT_EQ(told({owned(pod("p"), "Job", "other"), of_job}), 0);
  EXPECT_EQ(told({pod("p"), owned(owned(workload("w", 60, "kueue.x-k8s.io/v1beta2"), "Pod", "q"), "Pod", "p")}), 60);
  const auto said = [](Json made, const char* text) { return annotated(std::move(made), kKey, text); };
  EXPECT_EQ(told({owned(pod("p"), "Job", "train"), said(of_job, "5m"), said(job(), "9m")}), 540);
  const Json other = owned(workload("v", 1000), "Job", "train");
  for (const auto& pair : {std::pair(said(of_job, "5m"), said(other, "7m")), {said(other, "7m"), said(of_job, "5m")}})
    EXPECT_EQ(told({owned(pod("p"), "Job", "train"), pair.first, pair.second}), 420) << "the longest one";
  EXPECT_EQ(told({owned(pod("p"), "Job", "train"), of_job, other}), 1000);
  const Json of_set = owned(workload("w", 300), "JobSet", "set");
  EXPECT_EQ(told({owned(pod("p"), "Job", "train"), owned(job(), "JobSet", "set"), of_set}), 300);
}

TEST(KubernetesExpectedDuration, ALabelOfKueueIsADeadline) {
  constexpr const char* kLabel = "kueue.x-k8s.io/max-exec-time-seconds";
  EXPECT_EQ(told({labelled(limited(pod("p"), 600), kLabel, "300")}), 300);
  EXPECT_EQ(told({owned(pod("p"), "Job", "train"), labelled(job({{"activeDeadlineSeconds", 900}}), kLabel, "60")}), 60);
  for (const char* text : {"", "0", "-5", "1.5", "1h", "9999999999"}) {
    const auto made = imported({labelled(limited(pod("p"), 600), kLabel, text)});
    EXPECT_EQ(made.pod("team/p")["expectedDuration"], 600) << text;
    EXPECT_TRUE(made.says("kueue.x-k8s.io/max-exec-time-seconds is not a number of seconds")) << text;
  }
}

TEST(KubernetesExpectedDuration, OfAGangIsTheLongestOfItsPods) {
  const auto made = imported({grouped(limited(pod("p"), 600)), grouped(annotated(pod("q"), kKey, "900")),
                              grouped(pod("r")), grouped(pod("s"), "other")});
  EXPECT_EQ(made.gang("team/g")["expectedDuration"], 900);
  EXPECT_FALSE(made.pod("team/p").contains("expectedDuration"));
  EXPECT_FALSE(made.gang("team/other").contains("expectedDuration"));
}

TEST(KubernetesExpectedDuration, PodsOfTemplatesHaveIt) {
  const Json spec = {{"activeDeadlineSeconds", 900}, {"template", {{"spec", {{"activeDeadlineSeconds", 1800}}}}}};
  const KubernetesOptions expand{.expand = true};
  const auto made = imported({job(spec)}, expand);
  EXPECT_EQ(made.pod("team/train-0")["expectedDuration"], 900);
  const auto limited = imported({job(spec), owned(workload("w", 60), "Job", "train")}, expand);
  EXPECT_EQ(limited.pod("team/train-0")["expectedDuration"], 60);
}

TEST(KubernetesExpectedDuration, AValueThatCannotBeReadIsARemark) {
  for (const char* text : {"", "soon", "0", "-1", "1:99", "99999999999999"}) {
    const auto made = imported({annotated(limited(pod("p"), 600), kKey, text)});
    EXPECT_EQ(made.pod("team/p")["expectedDuration"], 600) << text;
    EXPECT_TRUE(made.says("the annotation muster/expected-duration is not a duration")) << text;
  }
  for (const Json& value : {Json("600"), Json(0), Json(-1), Json(1.5), Json(9'223'372'037), Json::object()}) {
    const auto made = imported({limited(pod("p"), value)});
    EXPECT_FALSE(made.pod("team/p").contains("expectedDuration")) << value;
    EXPECT_TRUE(made.says("activeDeadlineSeconds is not a number of seconds above 0")) << value;
    const auto of_kueue = imported({pod("p"), owned(workload("w", value), "Pod", "p")});
    EXPECT_TRUE(of_kueue.says("maximumExecutionTimeSeconds is not a number of seconds above 0")) << value;
    const auto of_job = imported({pod("p"), job({{"activeDeadlineSeconds", value}})});
    EXPECT_TRUE(of_job.says("first: Job team/train")) << value;
  }
  Json number = pod("p");
  number["metadata"]["annotations"][kKey] = 600;
  EXPECT_TRUE(imported({number}).says("the annotation muster/expected-duration is not a duration"));
  Json broken = workload("w", 60);
  broken["metadata"]["ownerReferences"] = Json::array({7, {{"kind", "Pod"}, {"name", "p"}}});
  EXPECT_EQ(told({pod("p"), broken}), 60);
  EXPECT_TRUE(imported({pod("p"), broken}).says("an owner of a Workload that cannot be read is ignored"));
  broken["metadata"]["ownerReferences"] = "p";
  EXPECT_TRUE(imported({pod("p"), broken}).says("a Workload that cannot be read is ignored"));
}

TEST(KubernetesHistory, IsOfTheGangsThatHaveFinished) {
  const auto made = imported({grouped(finished("a", "2026-03-01T10:00:00Z", "2026-03-01T11:00:00Z", "4")),
                              grouped(finished("b", "2026-03-01T10:10:00Z", "2026-03-01T11:30:00Z", "4")),
                              finished("alone", "2026-03-01T10:00:00Z", "2026-03-01T10:10:00Z"), pod("waits")});
  EXPECT_EQ(history_of(made, 8)["count"], 1);
  EXPECT_EQ(history_of(made, 8)["mean"], 5400);
  EXPECT_EQ(history_of(made, 1)["count"], 1);
  EXPECT_EQ(history_of(made, 1)["mean"], 600);
  EXPECT_TRUE(history_of(made, 2).is_null()) << "none of this size";
}

TEST(KubernetesHistory, TheLatestContainerEndsAPod) {
  Json one = finished("a", "2026-03-01T10:00:00Z", "2026-03-01T10:10:00Z");
  one["status"]["containerStatuses"].push_back({{"state", {{"terminated", {{"finishedAt", "2026-03-01T10:20:00Z"}}}}}});
  one["status"]["containerStatuses"].push_back({{"state", Json::object()}});
  EXPECT_EQ(history_of(imported({one}), 1)["mean"], 1200);
}

TEST(KubernetesHistory, SharesAreAddedAndRoundedUp) {
  const auto share = [](const char* name) {
    return annotated(finished(name, "2026-03-01T10:00:00Z", "2026-03-01T10:10:00Z", "0"), "gpu-fraction", "0.6");
  };
  Json none = finished("cpu", "2026-03-01T10:00:00Z", "2026-03-01T10:20:00Z", "0");
  const auto made = imported({grouped(share("a")), grouped(share("b")), none});
  EXPECT_EQ(history_of(made, 2)["mean"], 600);
  EXPECT_EQ(history_of(made, 1)["mean"], 1200);
}

TEST(KubernetesHistory, IsAbsentUnlessAllOfAGangIsKnown) {
  const Json done = grouped(finished("a", "2026-03-01T10:00:00Z", "2026-03-01T11:00:00Z"));
  Json failed = done, without_start = done, without_end = done;
  failed["metadata"]["name"] = without_start["metadata"]["name"] = without_end["metadata"]["name"] = "b";
  failed["status"]["phase"] = "Failed";
  without_start["status"].erase("startTime");
  without_end["status"].erase("containerStatuses");
  for (const Json& other : {grouped(pod("b")), failed, without_start, without_end}) {
    EXPECT_FALSE(imported({done, other}).line.contains("policy")) << other;
    EXPECT_FALSE(imported({other, done}).line.contains("policy")) << other;
  }
  EXPECT_FALSE(imported({pod("p")}).line.contains("policy"));
  EXPECT_TRUE(imported({done}).line.contains("policy"));
}

TEST(KubernetesHistory, WhatEndsAfterTheSnapshotDoesNotCount) {
  const Json done = finished("a", "1970-01-01T00:10:00Z", "1970-01-01T00:20:00Z");
  KubernetesOptions options;
  options.time = 1200 * kNanosecondsPerSecond;
  EXPECT_EQ(history_of(imported({done}, options), 1)["mean"], 600);
  options.time = 1199 * kNanosecondsPerSecond;
  EXPECT_FALSE(imported({done}, options).line.contains("policy"));
}

TEST(KubernetesHistory, IsAddedToThePolicy) {
  KubernetesOptions options;
  options.policy = R"({"placement":"spread"})";
  const Json done = finished("a", "2026-03-01T10:00:00Z", "2026-03-01T11:00:00Z");
  EXPECT_EQ(imported({done}, options).line["policy"]["placement"], "spread");
  EXPECT_EQ(history_of(imported({done}, options), 1)["count"], 1);
  EXPECT_EQ(imported({pod("p")}, options).line["policy"], Json({{"placement", "spread"}}));
}

TEST(KubernetesHistory, AnEndThatCannotBeReadIsARemark) {
  const auto odd = imported({finished("a", "2026-03-01T10:00:00Z", "yesterday")});
  EXPECT_FALSE(odd.line.contains("policy"));
  EXPECT_TRUE(odd.says("the end of a finished pod cannot be read"));
  const auto early = imported({finished("a", "2026-03-01T10:00:00Z", "2026-03-01T09:00:00Z")});
  EXPECT_FALSE(early.line.contains("policy"));
  EXPECT_TRUE(early.says("they end before they start"));
}

TEST(KubernetesHistory, SurvivesTheShorterText) {
  const std::vector<Json> items = {finished("a", "2026-03-01T10:00:00Z", "2026-03-01T11:00:00Z"),
                                   finished("b", "2026-03-01T10:00:00Z", "2026-03-01T10:10:00Z")};
  const auto made = import_kubernetes_text(list_of(items), {}, {std::size_t{1} << 20, 64});
  ASSERT_TRUE(made);
  EXPECT_EQ(json_of(*made), imported(items).line);
}

TEST(KubernetesHistory, DoesNotDependOnTheOrder) {
  std::vector<Json> items;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    const std::string end = std::string("2026-03-01T10:00:0") + std::to_string(items.size()) + ".123456789Z";
    items.push_back(finished(name, "2026-03-01T10:00:00Z", end.c_str()));
  }
  const Json forward = imported(items).line["policy"];
  std::ranges::reverse(items);
  EXPECT_EQ(imported(items).line["policy"], forward);
}

}  // namespace
}  // namespace muster::kubernetes
