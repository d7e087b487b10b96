// The table of what is known of annotations, labels and fields: that it is complete, and what it does.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "io/kubernetes/known/dialects.h"
#include "io/kubernetes/known/find.h"
#include "test/io/kubernetes_objects.h"
#include "test/support/paths.h"

namespace muster::kubernetes {
namespace {

std::string content_of(const std::string& path) {
  std::ifstream stream(test::source_folder() + "/" + path);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

bool has_word(std::string_view words, std::string_view wanted) {
  std::istringstream stream{std::string(words)};
  for (std::string word; stream >> word;)
    if (word == wanted) return true;
  return false;
}

bool is_below(std::string_view path, std::string_view above) {
  return path == above || (path.starts_with(above) && path.size() > above.size() && path[above.size()] == '.');
}

bool has_key_row(std::string_view key) {
  for (const known::Dialect* dialect : known::dialects()) {
    for (const auto rows : {dialect->annotations, dialect->labels, dialect->resources})
      for (const known::KeyRow& row : rows)
        if (row.key == key || (row.key.ends_with('*') && key.starts_with(row.key.substr(0, row.key.size() - 1))))
          return true;
  }
  return false;
}

bool has_field_row(const std::string& group, const std::string& kind, const std::string& path) {
  for (const known::Dialect* dialect : known::dialects()) {
    if (!has_word(dialect->groups, group)) continue;
    for (const known::FieldRow& row : dialect->fields)
      if (row.kind == kind && !row.path.empty() && (is_below(path, row.path) || is_below(row.path, path))) return true;
  }
  return false;
}

const Json* unread(const ImportedObjects& made, const std::string& key) {
  if (!made.line.contains("unread")) return nullptr;
  for (const Json& one : made.line["unread"])
    if (one["key"] == key) return &one;
  return nullptr;
}

std::string treatment(const ImportedObjects& made, const std::string& key) {
  const Json* found = unread(made, key);
  return found == nullptr ? "" : (*found)["treatment"].get<std::string>();
}

TEST(KnownKeys, EveryKeyOfTheProjectsHasARow) {
  std::vector<std::string> missing;
  std::size_t files = 0, lines = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(test::source_folder() + "/test/io/kubernetes/known_keys")) {
    if (entry.path().extension() != ".txt") continue;
    ++files;
    std::ifstream stream(entry.path());
    for (std::string line; std::getline(stream, line);) {
      std::istringstream words(line);
      std::string word, group, kind, path;
      words >> word;
      if (word == "key" && words >> path && !has_key_row(path)) missing.push_back(line);
      if (word == "field" && words >> group >> kind >> path && !has_field_row(group, kind, path))
        missing.push_back(line);
      ++lines;
    }
  }
  EXPECT_EQ(missing, std::vector<std::string>{});
  EXPECT_GE(files, 10U);
  EXPECT_GT(lines, 1000U);
}

TEST(KnownKeys, ARowThatMayChangeSomethingTellsWhat) {
  for (const known::Dialect* dialect : known::dialects()) {
    for (const auto rows : {dialect->annotations, dialect->labels, dialect->resources})
      for (const known::KeyRow& row : rows)
        EXPECT_EQ(row.rule.may_change.empty(), row.rule.treatment <= known::Treatment::kHarmless) << row.key;
    for (const known::FieldRow& row : dialect->fields)
      EXPECT_EQ(row.rule.may_change.empty(), row.rule.treatment <= known::Treatment::kHarmless) << row.path;
  }
}

TEST(KnownKeys, ThePageIsTheTable) {
  const std::string page = content_of("docs/known-keys.md");
  const std::string mark = "<!-- table -->\n\n";
  ASSERT_NE(page.find(mark), std::string::npos);
  EXPECT_EQ(page.substr(page.find(mark) + mark.size()), known::table_text());
}

TEST(KnownKeys, AnAnnotationThatRestrictsPlacementHoldsItsPods) {
  const auto made = imported({node("n"), annotated(pod("p"), "scheduling.koordinator.sh/reservation-affinity", "{}")});
  EXPECT_NE(made.pod("team/p").value("held", "").find("scheduling.koordinator.sh/reservation-affinity"),
            std::string::npos);
  const Json* told = unread(made, "scheduling.koordinator.sh/reservation-affinity");
  ASSERT_NE(told, nullptr);
  EXPECT_EQ((*told)["kind"], "Pod");
  EXPECT_EQ((*told)["name"], "team/p");
  EXPECT_EQ((*told)["place"], "annotation");
  EXPECT_EQ((*told)["value"], "{}");
  EXPECT_EQ((*told)["treatment"], "held");
}

TEST(KnownKeys, WhatProtectsARunningPodKeepsItFromEvictionAndDoesNotHoldAWaitingOne) {
  const auto protects = [](Json made) {
    return annotated(std::move(made), "scheduling.koordinator.sh/eviction-cost", "5");
  };
  const auto made = imported({node("n"), protects(running(pod("r"), "n")), protects(pod("w"))});
  EXPECT_EQ(made.pod("team/r")["preemptible"], false);
  EXPECT_FALSE(made.pod("team/w").contains("held"));
  EXPECT_NE(made.pod("team/w").value("preemptible", true), false);
  EXPECT_EQ(treatment(made, "scheduling.koordinator.sh/eviction-cost"), "protected");
}

TEST(KnownKeys, AValueWithoutEffectIsNotTold) {
  const auto made =
      imported({node("n"), annotated(running(pod("r"), "n"), "scheduling.koordinator.sh/eviction-cost", "0")});
  EXPECT_EQ(treatment(made, "scheduling.koordinator.sh/eviction-cost"), "");
  EXPECT_FALSE(made.line.contains("unread"));
}

TEST(KnownKeys, AKeyInNoRowOfAKnownSystemIsToldAsUnknown) {
  const auto made = imported({node("n"), annotated(pod("p"), "kai.scheduler/of-next-year", "x"),
                              annotated(pod("q"), "example.com/of-next-year", "x")});
  EXPECT_EQ(treatment(made, "kai.scheduler/of-next-year"), "unknown");
  EXPECT_EQ(treatment(made, "example.com/of-next-year"), "");
  EXPECT_FALSE(made.pod("team/p").contains("held"));
}

TEST(KnownKeys, OneEntryCountsAllObjectsOfAKey) {
  const auto made = imported({node("n"), annotated(pod("p"), "kai.scheduler/of-next-year", "x"),
                              annotated(pod("q"), "kai.scheduler/of-next-year", "y")});
  ASSERT_EQ(made.line["unread"].size(), 1U);
  EXPECT_EQ(made.line["unread"][0]["count"], 2);
  EXPECT_EQ(made.line["unread"][0]["name"], "team/p");
}

TEST(KnownKeys, ALongValueIsShortenedBetweenCharacters) {
  std::string value;
  for (int i = 0; i < 60; ++i) value += "\u00e9";
  const auto made = imported({node("n"), annotated(pod("p"), "kai.scheduler/of-next-year", value.c_str())});
  const std::string told = (*unread(made, "kai.scheduler/of-next-year"))["value"];
  EXPECT_EQ(told.size(), 83U);
  EXPECT_TRUE(told.ends_with("..."));
}

TEST(KnownKeys, AFieldOfAGroupThatIsInNoRowIsTold) {
  const auto made = imported({node("n"), in_namespace(object("scheduling.run.ai/v2alpha2", "PodGroup", "g",
                                                             {{"minMember", 1}, {"queue", "q"}, {"colour", "red"}}))});
  EXPECT_EQ(treatment(made, "spec.colour"), "unknown");
  EXPECT_EQ(treatment(made, "spec.minMember"), "");
}

TEST(KnownKeys, AnnotationsForTheMakerOfGroupsDoNotHoldPodsThatHaveTheirGroup) {
  const Json group =
      in_namespace(object("scheduling.volcano.sh/v1beta1", "PodGroup", "g", {{"minMember", 1}, {"queue", "q"}}));
  const Json required = annotated(pod("p"), "volcano.sh/network-topology-highest-tier", "1");
  const auto alone = imported({node("n"), required});
  EXPECT_EQ(treatment(alone, "volcano.sh/network-topology-highest-tier"), "held");
  const auto grouped = imported({node("n"), group, annotated(required, "scheduling.k8s.io/group-name", "g")});
  EXPECT_EQ(treatment(grouped, "volcano.sh/network-topology-highest-tier"), "");
}

TEST(KnownKeys, AQueueThatMayRestrictItsPodsHoldsThem) {
  const Json queue = annotated(object("scheduling.volcano.sh/v1beta1", "Queue", "q", {{"weight", 1}}),
                               "volcano.sh/nodegroup-resource-limits", "{}");
  const Json group =
      in_namespace(object("scheduling.volcano.sh/v1beta1", "PodGroup", "g", {{"minMember", 1}, {"queue", "q"}}));
  const auto made = imported({node("n"), queue, group, annotated(pod("p"), "scheduling.k8s.io/group-name", "g")});
  EXPECT_EQ(treatment(made, "volcano.sh/nodegroup-resource-limits"), "held");
  EXPECT_NE(made.pod("team/p").value("held", "").find("volcano.sh/nodegroup-resource-limits"), std::string::npos);
}

TEST(KnownKeys, KeysOfANamespaceCountForItsPods) {
  Json space =
      annotated(object("v1", "Namespace", "team", Json::object()), "yunikorn.apache.org/namespace.quota", "{}");
  const auto made = imported({node("n"), space, pod("p"), in_namespace(pod("q"), "other")});
  EXPECT_NE(made.pod("team/p").value("held", "").find("namespace.quota"), std::string::npos);
  EXPECT_FALSE(made.pod("other/q").contains("held"));
}

TEST(KnownKeys, WhatTheMakerOfPodsWouldAddToThemHoldsOnlyPodsThatDoNotExistYet) {
  Json set = in_namespace(object("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "s", {{"replicas", 1}}));
  set["spec"]["leaderWorkerTemplate"] = {{"size", 2}, {"workerTemplate", {{"spec", {{"containers", Json::array()}}}}}};
  set = annotated(set, "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology", "rack");
  Json leader = labelled(pod("s-0"), "leaderworkerset.sigs.k8s.io/name", "s");
  leader["metadata"]["ownerReferences"] = {
      {{"kind", "LeaderWorkerSet"}, {"name", "s"}, {"controller", true}, {"apiVersion", "x/v1"}, {"uid", "u"}}};
  KubernetesOptions expand;
  expand.expand = true;
  const auto made = imported({node("n"), set, leader}, expand);
  EXPECT_FALSE(made.pod("team/s-0").contains("held"));
  EXPECT_TRUE(made.pod("team/s-0-1").contains("held"));
}

TEST(KnownKeys, ANodeWithAKeyThatMayRestrictItTakesNoPods) {
  const auto made = imported({labelled(node("n"), "volcano.sh/revocable-zone", "rz1"), node("m")});
  EXPECT_EQ(made.at("nodes", "n").value("unschedulable", false), true);
  EXPECT_EQ(made.at("nodes", "m").value("unschedulable", false), false);
}

TEST(KnownKeys, AKindThatIsNotReadIsOneEntry) {
  const auto made = imported({node("n"), object("topology.node.k8s.io/v1alpha2", "NodeResourceTopology", "n", {}),
                              object("topology.node.k8s.io/v1alpha2", "NodeResourceTopology", "m", {})});
  const Json* told = unread(made, "NodeResourceTopology");
  ASSERT_NE(told, nullptr);
  EXPECT_EQ((*told)["place"], "kind");
  EXPECT_EQ((*told)["count"], 2);
}

TEST(KnownKeys, AHarmlessAnnotationIsNotKeptAndAnUnknownOneIs) {
  EXPECT_FALSE(known::is_needed_annotation("kai.scheduler/top-owner-metadata"));
  EXPECT_FALSE(known::is_needed_annotation("example.com/any"));
  EXPECT_TRUE(known::is_needed_annotation("kai.scheduler/of-next-year"));
  EXPECT_TRUE(known::is_needed_annotation("gpu-fraction"));
  EXPECT_TRUE(known::is_needed_annotation("kueue.x-k8s.io/podset-required-topology"));
}

}  // namespace
}  // namespace muster::kubernetes
