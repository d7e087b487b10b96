// The records of a snapshot line: what they write, and what they leave out.
#include "io/snapshot_writer/records.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace muster::snapshot_writer {
namespace {

template <class Write>
std::string record_text(Write write) {
  std::string text;
  json::JsonWriter writer(text);
  write(writer);
  return text;
}

std::string gpu(GpuRequestKind kind, std::int64_t devices, std::int64_t share) {
  return record_text([&](json::JsonWriter& w) { write_gpu_request(w, kind, devices, share); });
}

std::string place(PodStatus status, std::string_view node, const std::vector<std::int32_t>& devices = {}) {
  SnapshotPod pod;
  pod.status = status;
  pod.node = node;
  pod.devices = devices;
  return record_text([&](json::JsonWriter& w) { write_pod_place(w, pod); });
}

std::string devices(std::int32_t count, std::int64_t memory_mib, std::string_view model) {
  SnapshotNode node;
  node.gpu_count = count;
  node.gpu_memory_mib = memory_mib;
  node.gpu_model = model;
  return record_text([&](json::JsonWriter& w) { write_devices(w, node); });
}

TEST(SnapshotRecords, AGpuRequestHasTheUnitOfItsKind) {
  EXPECT_EQ(gpu(GpuRequestKind::kNone, 0, 0), "");
  EXPECT_EQ(gpu(GpuRequestKind::kWhole, 2, 0), R"(,"gpu":{"count":2})");
  EXPECT_EQ(gpu(GpuRequestKind::kFraction, 1, 250'000), R"(,"gpu":{"fraction":0.25})");
  EXPECT_EQ(gpu(GpuRequestKind::kFraction, 1, 1'000'000), R"(,"gpu":{"fraction":1})");
  EXPECT_EQ(gpu(GpuRequestKind::kMemory, 3, 4096), R"(,"gpu":{"memory":"4096Mi","devices":3})");
}

TEST(SnapshotRecords, AStatusThatFollowsFromTheNodeIsLeftOut) {
  EXPECT_EQ(place(PodStatus::kPending, ""), "");
  EXPECT_EQ(place(PodStatus::kRunning, "n"), R"(,"node":"n")");
  EXPECT_EQ(place(PodStatus::kReleasing, "n"), R"(,"status":"releasing","node":"n")");
  EXPECT_EQ(place(PodStatus::kSucceeded, ""), R"(,"status":"succeeded")");
}

TEST(SnapshotRecords, DevicesOfAPodAreListed) {
  EXPECT_EQ(place(PodStatus::kRunning, "n", {0, 3}), R"(,"node":"n","gpus":[0,3])");
}

TEST(SnapshotRecords, ANodeWithoutDevicesHasNoGpus) {
  EXPECT_EQ(devices(0, 80, "A"), "");
  EXPECT_EQ(devices(2, 0, ""), R"(,"gpus":{"count":2})");
  EXPECT_EQ(devices(2, 80, "A"), R"(,"gpus":{"count":2,"memory":"80Mi","model":"A"})");
}

TEST(SnapshotRecords, EmptyTextsAreLeftOut) {
  EXPECT_EQ(record_text([](json::JsonWriter& w) { write_text(w, "key", ""); }), "");
  EXPECT_EQ(record_text([](json::JsonWriter& w) { write_topology_request(w, {}); }), "");
  EXPECT_EQ(record_text([](json::JsonWriter& w) { write_subgroups(w, {}); }), "");
}

}  // namespace
}  // namespace muster::snapshot_writer
