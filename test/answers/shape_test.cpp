#include "cli/answers/shape.h"

#include <string>

#include <gtest/gtest.h>

#include "test/support/case.h"
#include "test/support/cluster.h"

namespace muster::cli {
namespace {

constexpr Amount kGi = Amount{1} << 30;

change::GangShape shape(std::string_view text) {
  const Result<change::GangShape> parsed = parse_shape(text);
  if (!parsed) throw std::runtime_error(parsed.error().message);
  return *parsed;
}

TEST(Shape, HasPodsGpusAndAModel) {
  const change::GangShape parsed = shape("16x8:H100,cpu=4500m,memory=16Gi,rdma/hca=1");
  EXPECT_EQ(parsed.pods, 16);
  EXPECT_EQ(parsed.pod.gpu, (GpuRequest{GpuRequestKind::kWhole, 8, 0}));
  EXPECT_EQ(parsed.pod.gpu_models, std::vector<std::string>{"H100"});
  const std::vector<std::pair<std::string, Amount>> resources{{"cpu", 4500}, {"memory", 16 * kGi}, {"rdma/hca", 1}};
  EXPECT_EQ(parsed.pod.resources, resources);
}

TEST(Shape, SharesADeviceByPartOrByMemory) {
  EXPECT_EQ(shape("0.5").pod.gpu, (GpuRequest{GpuRequestKind::kFraction, 1, 500'000}));
  EXPECT_EQ(shape("gpu-memory=10Gi").pod.gpu, (GpuRequest{GpuRequestKind::kMemory, 1, 10'240}));
  EXPECT_EQ(shape("3x2,gpu-memory=1Mi").pod.gpu, (GpuRequest{GpuRequestKind::kMemory, 2, 1}));
}

TEST(Shape, NeedsNoGpu) {
  const change::GangShape parsed = shape("2xcpu=4,memory=1M");
  EXPECT_EQ(parsed.pods, 2);
  EXPECT_EQ(parsed.pod.gpu.kind, GpuRequestKind::kNone);
  EXPECT_EQ(parsed.pod.resources.size(), 2U);
}

TEST(Shape, TextIsReadAsTheSameShape) {
  for (const char* text : {"16x8:H100,cpu=4500m,memory=16Gi,level=rack", "0.25,tolerate=spot",
                           "2xgpu-memory=10Gi,model=A", "cpu=1", "3x2,gpu-memory=1Gi,memory=5"}) {
    EXPECT_EQ(shape(change::text_of(shape(text))), shape(text)) << text;
  }
}

TEST(Shape, ThatCannotBeReadIsNamed) {
  const std::vector<std::pair<const char*, const char*>> cases = {{"", "is empty"},
                                                                  {"0x8", "before x"},
                                                                  {"100001x8", "before x"},
                                                                  {"8,", "is empty"},
                                                                  {"8,cpu", "not KEY=VALUE"},
                                                                  {"8,cpu=", "no value"},
                                                                  {"8,=1", "no key"},
                                                                  {"8,cpu=x", "x"},
                                                                  {"8,cpu=1,cpu=2", "cpu is given twice"},
                                                                  {"8,gpu=2", "GPUs is given twice"},
                                                                  {"1.5", "neither a part"},
                                                                  {"0.0000001", "no number of GPUs"},
                                                                  {"H100", "no number of GPUs"},
                                                                  {"8:", "model is empty"},
                                                                  {"0.5,gpu-memory=1Gi", "both"},
                                                                  {"cpu=1,model=A", "no number of GPUs"},
                                                                  {"gpu-memory=0", "is 0"},
                                                                  {"level=rack", "asks for nothing"},
                                                                  {"-1", "no number of GPUs"}};
  for (const auto& [text, message] : cases) {
    const Result<change::GangShape> parsed = parse_shape(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_NE(parsed.error().message.find(message), std::string::npos) << text << ": " << parsed.error().message;
  }
}

TEST(Shape, OfNodesHasACountDevicesAndLabels) {
  const Result<change::AddShapedNodes> parsed =
      parse_node_shape("4xgpu=8:H100,cpu=96,memory=1Ti,label=rack:r1,gpu-memory=80Gi");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->count, 4);
  EXPECT_EQ(parsed->shape.gpus, 8);
  EXPECT_EQ(parsed->shape.gpu_model, "H100");
  EXPECT_EQ(parsed->shape.gpu_memory_mib, 81'920);
  EXPECT_EQ(parsed->shape.labels.front(), (std::pair<std::string, std::string>{"rack", "r1"}));
  EXPECT_TRUE(is_node_shape("gpu=8"));
  EXPECT_FALSE(is_node_shape("node-7"));
  for (const char* text : {"gpu=0.5", "8", "label=rack", "0xgpu=8", "gpu=8,cpu=-1"})
    EXPECT_FALSE(parse_node_shape(text)) << text;
}

TEST(AddGang, IsAGangOfTheSnapshotThatWaits) {
  test::Cluster cluster;
  cluster.node("n1", R"("gpus":{"count":8,"model":"H100"},"taints":[{"key":"nvidia.com/gpu","effect":"NoSchedule"}])")
      .queue("a");
  Snapshot snapshot = test::Case::read(cluster.line());
  ASSERT_FALSE(change::apply(change::AddGang{"new", "a", 50, shape("2x4:H100"), 2, {}}, snapshot));
  const test::Case built(std::move(snapshot));
  ASSERT_EQ(built->gangs.size(), 2U);
  const Gang& gang = built->gangs[built.gang("new+2")];
  EXPECT_EQ(gang.priority, 50);
  EXPECT_TRUE(gang.preemptible);
  EXPECT_EQ(gang.pods.size(), 2U);
  EXPECT_EQ(built->groups[gang.root].minimum, 2);
  EXPECT_TRUE(built.class_of("new+1+2").allowed[built->nodes[built.node("n1")].node_class.value()]);
}

TEST(AddGang, RefusesWhatTheSnapshotLacksAndNamesThatAreTaken) {
  test::Cluster cluster;
  cluster.node("n1", 8).queue("a").gang("g").pods("g", 1, 1, R"("gang":"g")");
  Snapshot snapshot = test::Case::read(cluster.line());
  const auto code = [&](const change::AddGang& change) {
    const auto failure = change::apply(change, snapshot);
    return failure ? failure->code : ErrorCode::kNone;
  };
  EXPECT_EQ(code({"new", "b", 0, shape("1"), 1, {}}), ErrorCode::kUnknownName);
  EXPECT_EQ(code({"g", "a", 0, shape("1"), 1, {}}), ErrorCode::kDuplicateName);
  EXPECT_EQ(code({"new", "a", 0, shape("1,level=rack"), 1, {}}), ErrorCode::kUnknownName);
  EXPECT_EQ(code({"new", "a", 0, shape("1"), 0, {}}), ErrorCode::kInvalidValue);
  EXPECT_EQ(code({"new", "a", 0, shape("1"), 1, {}}), ErrorCode::kNone);
  EXPECT_EQ(code({"new", "a", 0, shape("1"), 1, {}}), ErrorCode::kDuplicateName);
}

}  // namespace
}  // namespace muster::cli
