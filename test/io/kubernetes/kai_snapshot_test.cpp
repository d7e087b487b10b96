// Archives of KAI's scheduler: what is in them, and what is refused.
#include "io/kubernetes/kai_snapshot.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>
#include <zip.h>

#include "test/io/kubernetes_objects.h"

namespace muster::kubernetes {
namespace {

class KaiSnapshot : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(file_); }

  const std::string& archive(const std::string& text, const char* member = "snapshot.json") {
    std::filesystem::remove(file_);
    zip_t* made = zip_open(file_.c_str(), ZIP_CREATE, nullptr);
    zip_source_t* source = zip_source_buffer(made, text.data(), text.size(), 0);
    EXPECT_GE(zip_file_add(made, member, source, ZIP_FL_ENC_UTF_8), 0);
    EXPECT_EQ(zip_close(made), 0);
    return file_;
  }
  const std::string& plain(const std::string& text) {
    std::ofstream(file_) << text;
    return file_;
  }
  static std::string code_of(const std::string& file, std::size_t most = kMostSnapshotBytes) {
    const auto made = kai_snapshot_objects(file, most);
    EXPECT_FALSE(made);
    return made ? "" : std::string(error_code_text(made.error().code));
  }

  std::string file_ = testing::TempDir() + "kai-snapshot-" + std::to_string(getpid()) + ".zip";
};

Json without_kind(Json one) {
  one.erase("kind");
  one.erase("apiVersion");
  return one;
}

TEST_F(KaiSnapshot, ItsObjectsAreThoseOfAList) {
  const Json group =
      in_namespace(object("scheduling.run.ai/v2alpha2", "PodGroup", "g", {{"minMember", 2}, {"queue", "q"}}));
  const Json queue =
      object("scheduling.run.ai/v2", "Queue", "q", {{"resources", {{"gpu", {{"quota", 4}, {"limit", -1}}}}}});
  Json priority = object("scheduling.k8s.io/v1", "PriorityClass", "high", Json::object());
  priority["value"] = 75;
  const Json topology = object("kai.scheduler/v1alpha1", "Topology", "t", {{"levels", {{{"nodeLabel", "rack"}}}}});
  const Json one = annotated(pod("p"), "pod-group-name", "g");
  const Json raw = {{"pods", {without_kind(one)}},
                    {"nodes", {without_kind(node("n"))}},
                    {"queues", {without_kind(queue)}},
                    {"podGroups", {without_kind(group)}},
                    {"bindRequests", nullptr},
                    {"priorityClasses", {without_kind(priority)}},
                    {"topologies", {without_kind(topology)}},
                    {"configMaps", {{{"data", {{"a", "b"}}}}}}};
  const Json snapshot = {{"config", {{"actions", "allocate"}}}, {"schedulerParams", nullptr}, {"rawObjects", raw}};
  const auto objects = kai_snapshot_objects(archive(snapshot.dump()));
  ASSERT_TRUE(objects) << objects.error().message;
  EXPECT_EQ(imported_text(objects->objects).line, imported({one, node("n"), queue, group, priority, topology}).line);
}

// The scheduler's configuration as its archive has it, and what becomes of it.
TEST_F(KaiSnapshot, ItsConfigurationBecomesThePolicy) {
  Json group = in_namespace(object("scheduling.run.ai/v2alpha2", "PodGroup", "g", {{"queue", "q"}}));
  const Json queue = object("scheduling.run.ai/v2", "Queue", "q", Json::object());
  const Json raw = {{"podGroups", {without_kind(group)}},
                    {"queues", {without_kind(queue)}},
                    {"nodeResourceTopologies", {Json::object(), Json::object()}}};
  const Json placement = {{"name", "nodeplacement"}, {"arguments", {{"gpu", "spread"}, {"cpu", "binpack"}}}};
  const Json proportion = {{"name", "proportion"}, {"arguments", {{"kValue", "0.5"}}}};
  const Json snapshot = {{"config",
                          {{"actions", "allocate, consolidation, stalegangeviction, dance"},
                           {"tiers", {{{"plugins", {{{"name", "predicates"}}, placement, proportion}}}}}}},
                         {"schedulerParams",
                          {{"globalDefaultStalenessGracePeriod", 120'000'000'000},
                           {"partitionParams", {{"NodePoolLabelKey", "pool"}}},
                           {"queueLabelKey", "team/queue"},
                           {"schedulerName", "night"}}},
                         {"rawObjects", raw}};
  const auto made = kai_snapshot_objects(archive(snapshot.dump()));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->configuration.queue_label, "team/queue");
  EXPECT_EQ(made->configuration.scheduler, "night");
  KubernetesOptions options;
  options.policy = made->configuration.policy;
  options.grace_period = made->configuration.grace_period;
  const Json line = imported_text(made->objects, options).line;
  EXPECT_EQ(line["policy"],
            Json::parse(
                R"({"actions":["place","consolidate","stale"],"overTime":{"usageFactor":0.5},"placement":"spread"})"));
  EXPECT_EQ(line["gangs"][0]["stalenessGracePeriod"], 120);
  std::string remarks;
  for (const std::string& remark : made->configuration.remarks) remarks += remark + "\n";
  for (const char* told : {"action dance", "nodeplacement", "label pool", "2 times: NodeResourceTopology"}) {
    EXPECT_NE(remarks.find(told), std::string::npos) << told << " in " << remarks;
  }
}

TEST_F(KaiSnapshot, ItsVolumesAreRead) {
  Json one = pod("p");
  one["spec"]["volumes"] = Json::parse(R"([{"name":"data","persistentVolumeClaim":{"claimName":"gone"}}])");
  const Json claim = in_namespace(object("v1", "PersistentVolumeClaim", "data", Json::object()));
  const Json raw = {{"pods", {without_kind(one)}}, {"persistentVolumeClaims", {without_kind(claim)}}};
  const auto made = kai_snapshot_objects(archive(Json{{"rawObjects", raw}}.dump()));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(imported_text(made->objects).pod("team/p")["status"], "gated");
}

TEST_F(KaiSnapshot, WhatIsNoSnapshotIsRefused) {
  EXPECT_EQ(code_of("/no/such/archive.zip"), "NoInput");
  EXPECT_EQ(code_of(plain("no archive")), "InvalidArchive");
  EXPECT_EQ(code_of(plain("")), "InvalidArchive");
  EXPECT_EQ(code_of(archive("{}", "other.json")), "InvalidArchive");
  EXPECT_EQ(code_of(archive("{")), "InvalidJson");
  EXPECT_EQ(code_of(archive("[]")), "WrongType");
  EXPECT_EQ(code_of(archive("{}")), "UnsupportedFormat");
  EXPECT_EQ(code_of(archive(R"({"rawObjects":[]})")), "WrongType");
}

TEST_F(KaiSnapshot, ADamagedArchiveIsRefused) {
  archive(R"({"rawObjects":{"pods":[)" + std::string(4096, ' ') + "]}}");
  std::ifstream file(file_, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  bytes[45] = static_cast<char>(bytes[45] ^ 0x55);
  EXPECT_NE(code_of(plain(bytes)), "");
}

TEST_F(KaiSnapshot, WhatUnpacksToTooMuchIsRefused) {
  const std::string bomb = R"({"rawObjects":{}})" + std::string(std::size_t{1} << 22, ' ');
  EXPECT_LT(std::filesystem::file_size(archive(bomb)), 1U << 14);
  EXPECT_EQ(code_of(file_, std::size_t{1} << 20), "TooLarge");
  EXPECT_TRUE(kai_snapshot_objects(file_));
}

}  // namespace
}  // namespace muster::kubernetes
