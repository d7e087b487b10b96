// The records of a snapshot line: what they write, and what they leave out.
#include "io/snapshot_writer/records.h"

#include <string>

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

std::string place(const PodPlaceRecord& record) {
  return record_text([&](json::JsonWriter& w) { write_pod_place(w, record); });
}

TEST(SnapshotRecords, AGpuRequestHasTheUnitOfItsKind) {
  EXPECT_EQ(gpu(GpuRequestKind::kNone, 0, 0), "");
  EXPECT_EQ(gpu(GpuRequestKind::kWhole, 2, 0), R"(,"gpu":{"count":2})");
  EXPECT_EQ(gpu(GpuRequestKind::kFraction, 1, 250'000), R"(,"gpu":{"fraction":0.25})");
  EXPECT_EQ(gpu(GpuRequestKind::kFraction, 1, 1'000'000), R"(,"gpu":{"fraction":1})");
  EXPECT_EQ(gpu(GpuRequestKind::kMemory, 3, 4096), R"(,"gpu":{"memory":"4096Mi","devices":3})");
}

TEST(SnapshotRecords, AStatusThatFollowsFromTheNodeIsLeftOut) {
  EXPECT_EQ(place({PodStatus::kPending, "", ""}), "");
  EXPECT_EQ(place({PodStatus::kRunning, "", "n"}), R"(,"node":"n")");
  EXPECT_EQ(place({PodStatus::kReleasing, "", "n"}), R"(,"status":"releasing","node":"n")");
  EXPECT_EQ(place({PodStatus::kSucceeded, "", ""}), R"(,"status":"succeeded")");
}

TEST(SnapshotRecords, AHeldPodIsGated) {
  EXPECT_EQ(place({PodStatus::kPending, "why", ""}), R"(,"status":"gated","held":"why")");
}

TEST(SnapshotRecords, DevicesOfAPodAreListed) {
  const std::vector<std::int32_t> devices = {0, 3};
  EXPECT_EQ(place({PodStatus::kRunning, "", "n", devices}), R"(,"node":"n","gpus":[0,3])");
}

TEST(SnapshotRecords, ANodeWithoutDevicesHasNoGpus) {
  EXPECT_EQ(record_text([](json::JsonWriter& w) { write_devices(w, {0, 80, "Mi", "A"}); }), "");
  EXPECT_EQ(record_text([](json::JsonWriter& w) { write_devices(w, {2, 0, "Mi", ""}); }), R"(,"gpus":{"count":2})");
  EXPECT_EQ(record_text([](json::JsonWriter& w) {
              write_devices(w, {2, 80, "", "A"});
            }),
            R"(,"gpus":{"count":2,"memory":"80","model":"A"})");
}

TEST(SnapshotRecords, EmptyTextsAreLeftOut) {
  EXPECT_EQ(record_text([](json::JsonWriter& w) { write_text(w, "key", ""); }), "");
  EXPECT_EQ(record_text([](json::JsonWriter& w) {
              write_toleration(w, {"", "Exists", "", ""});
            }),
            R"({"operator":"Exists"})");
  EXPECT_EQ(record_text([](json::JsonWriter& w) { write_topology_request(w, {}); }), "");
  EXPECT_EQ(record_text([](json::JsonWriter& w) { write_subgroups(w, {}); }), "");
}

}  // namespace
}  // namespace muster::snapshot_writer
