// Workloads: a snapshot line, then events.
#include "io/snapshot_reader/event_reader.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace muster::muster_v1 {
namespace {

constexpr const char* kStart =
    R"({"format":"muster/v1","time":100,"nodes":[{"name":"n0","gpus":{"count":8}}],"podTemplates":{"one":{"gpu":{"count":1}}}})";

// The first error of the lines, as CODE PATH; empty: none.
std::string event_error(const std::vector<std::string>& lines) {
  EventReader reader;
  for (const std::string& line : lines) {
    if (const auto error = reader.read(line)) return std::string(error_code_text(error->code)) + " " + error->path;
  }
  return "";
}
std::string error_of_event(const std::string& event) { return event_error({kStart, event}); }

TEST(EventReader, ReadsWhatIsThereAndWhatComes) {
  EventReader reader;
  ASSERT_FALSE(reader.read(kStart));
  ASSERT_FALSE(reader.read(
      R"({"time":101.5,"event":"submit","gangs":[{"name":"g","minMember":1}],"pods":[{"name":"g-0","gang":"g","template":"one"},{"name":"p","gpu":{"fraction":0.5}}],"duration":"1m"})"));
  ASSERT_FALSE(reader.read(R"({"time":102,"event":"addNodes","nodes":[{"name":"n1"}]})"));
  ASSERT_FALSE(reader.read(R"({"time":102,"event":"cordon","names":["n0","n1"]})"));
  ASSERT_FALSE(reader.read(R"({"time":103,"event":"queues","queues":[{"name":"q"}]})"));
  const Workload workload = reader.take();
  EXPECT_EQ(workload.start_nodes.size(), 1U);
  EXPECT_EQ(workload.start_pods.size(), 0U);
  ASSERT_EQ(workload.events.size(), 4U);
  const WorkloadEvent& submit = workload.events[0];
  EXPECT_EQ(submit.time, 101'500'000'000);
  EXPECT_EQ(submit.duration, 60 * kNanosecondsPerSecond);
  EXPECT_EQ(submit.gangs.size(), 1U);
  ASSERT_EQ(submit.pods.size(), 2U);
  const SnapshotPod& member = workload.all.pods[submit.pods.begin];
  EXPECT_EQ(member.gang, "g");
  EXPECT_EQ(workload.all.pod_specs[member.spec].gpu.devices, 1);
  EXPECT_EQ(workload.all.nodes[workload.events[1].nodes.begin].name, "n1");
  EXPECT_EQ(workload.events[2].names, (std::vector<std::string_view>{"n0", "n1"}));
  EXPECT_EQ(workload.all.queues[workload.events[3].queues.begin].name, "q");
}

TEST(EventReader, KeepsEqualSpecsOnce) {
  EventReader reader;
  ASSERT_FALSE(reader.read(kStart));
  for (const char* name : {"a", "b", "c"}) {
    ASSERT_FALSE(reader.read(R"({"time":101,"event":"submit","pods":[{"name":")" + std::string(name) +
                             R"(","gpu":{"count":1}}]})"));
  }
  EXPECT_EQ(reader.take().all.pod_specs.size(), 1U);
}

TEST(EventReader, NamesThePathOfWhatIsWrong) {
  EXPECT_EQ(event_error({R"({"event":"submit"})"}), "MissingKey $.format");
  EXPECT_EQ(error_of_event(R"({"time":101,"event":"submit"})"), "MissingKey $.pods");
  EXPECT_EQ(error_of_event(R"({"event":"submit","pods":[]})"), "MissingKey $.time");
  EXPECT_EQ(error_of_event(R"({"time":101,"event":"leave"})"), "InvalidValue $.event");
  EXPECT_EQ(error_of_event(R"({"time":99,"event":"submit","pods":[]})"), "InvalidValue $.time");
  EXPECT_EQ(error_of_event(R"({"time":101,"event":"submit","pods":[],"nodes":[]})"), "UnknownKey $.nodes");
  EXPECT_EQ(error_of_event(R"({"time":101,"event":"submit","pods":[],"size":3})"), "UnknownKey $.size");
  EXPECT_EQ(error_of_event(R"({"time":101,"event":"submit","pods":[],"duration":0})"), "InvalidValue $.duration");
  EXPECT_EQ(error_of_event(R"({"time":101,"event":"submit","pods":[{"name":"p","gpu":{"count":-1}}]})"),
            "InvalidValue $.pods[0].gpu.count");
  EXPECT_EQ(error_of_event(R"({"time":101,"event":"submit","pods":[{"name":"p","node":"n0"}]})"),
            "InvalidValue $.pods[0]");
  EXPECT_EQ(error_of_event(R"({"time":101,"event":"submit","pods":[{"name":"p","gang":"g"}]})"),
            "UnknownName $.pods[0]");
  EXPECT_EQ(error_of_event(R"({"time":101,"event":"submit","pods":[{"name":"p","template":"one","gpu":{"count":2}}]})"),
            "InvalidValue $.pods[0].gpu");
  EXPECT_EQ(error_of_event(R"({"time":101,"event":"removeNodes","names":["n7"]})"), "UnknownName $.names[0]");
}

TEST(EventReader, RefusesANameThatCameBefore) {
  const std::string pod = R"({"time":101,"event":"submit","pods":[{"name":"p"}]})";
  EXPECT_EQ(event_error({kStart, pod, pod}), "DuplicateName $");
  const std::string gang =
      R"({"time":101,"event":"submit","gangs":[{"name":"g","minMember":1}],"pods":[{"name":"PPP","gang":"g"}]})";
  std::string again = gang;
  again.replace(again.find("PPP"), 3, "QQQ");
  EXPECT_EQ(event_error({kStart, gang, again}), "DuplicateName $");
}

TEST(EventReader, ChecksEachGangOfLaterEventsAsTheFirst) {
  const std::string good = R"({"time":101,"event":"submit","gangs":[{"name":"g"}],"pods":[{"name":"p","gang":"g"}]})";
  const std::string bad =
      R"({"time":102,"event":"submit","gangs":[{"name":"h","minSubgroups":1}],"pods":[{"name":"q","gang":"h"}]})";
  EXPECT_EQ(event_error({kStart, good, bad}), "InvalidValue $.gangs[0]");
}

}  // namespace
}  // namespace muster::muster_v1
