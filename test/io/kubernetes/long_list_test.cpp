// Pods of a long list, which several threads read: the same as one reads, and what is wrong with them, too.
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/snapshot_reader/snapshot_reader.h"

namespace muster::kubernetes {
namespace {

constexpr int kPods = 9'000;  // some parts of whole blocks, and a rest

// Of all kinds that a list mixes: with templates and with their own specs, the same ones again and ones that come once,
// numbers that go by their text, pods that are their own gang, and text.
std::string pod_text(int i) {
  const std::string number = std::to_string(i);
  std::string text = R"({"name":"team-)" + std::to_string(i % 7) + "/pod-" + number + "\"";
  switch (i % 6) {
    case 0:
      return text + R"(,"template":"small","gang":"gang-)" + std::to_string(i / 60) + "\"}";
    case 1:
      return text + R"(,"template":"small","gpu":{"fraction":0.)" + std::to_string(1 + i % 9) +
             R"(},"node":"node-1","gpus":[)" + std::to_string(i % 4) + R"(],"started":17672256)" +
             std::to_string(10 + i % 80) + ".5}";
    case 2:
      return text + R"(,"resources":{"cpu":")" + std::to_string(1 + i / 1000) +
             R"(m","memory":1.5e9},"queue":"q","priority":)" + std::to_string(i / 2500) + R"(,"created":)" + number +
             "}";
    case 3:
      return text + R"(,"resources":{"cpu":0.)" + std::to_string(1 + i / 7) +
             R"(},"created":1.25,"preemptible":false})";
    case 4:
      return text + R"(,"labels":{"app":"a-)" + number + R"(","zone":"z"},"nominatedNode":"node-)" +
             std::to_string(i % 3) + "\"}";
    default:
      return text + R"(,"gang":"gang-5","subgroup":"s","namespace":"n-)" + std::to_string(i / 900) +
             R"(","nodeSelector":{"pool":"p-)" + std::to_string(i % 11) + R"("}})";
  }
}

std::vector<std::string> pods() {
  std::vector<std::string> all;
  for (int i = 0; i < kPods; ++i) all.push_back(pod_text(i));
  return all;
}

std::string line_with_list(const std::vector<std::string>& pods) {
  std::string line = R"({"format":"muster/v1","podTemplates":{"small":{"resources":{"cpu":"100m"}}},"pods":[)";
  for (std::size_t i = 0; i < pods.size(); ++i) line += (i == 0 ? "" : ",") + pods[i];
  return line + "]}";
}

Result<Snapshot> read(const std::vector<std::string>& pods, int threads) {
  muster_v1::ReaderOptions options;
  options.threads = threads;
  return muster_v1::SnapshotReader(options).read(line_with_list(pods));
}

// Everything that a snapshot holds about its pods, except numbers that are only numbered in another order.
std::string told_by(const Snapshot& snapshot) {
  std::ostringstream out;
  for (const std::string_view name : snapshot.resource_names) out << name << ' ';
  for (const PodSpec& spec : snapshot.pod_specs) {
    for (const ResourceAmount& amount : spec.resources) out << amount.resource.value() << '=' << amount.amount << ' ';
    out << int(spec.gpu.kind) << ' ' << spec.gpu.devices << ' ' << spec.gpu.share;
    for (const auto& [key, value] : spec.node_selector) out << ' ' << key << '=' << value;
    out << '\n';
  }
  for (const SnapshotPod& pod : snapshot.pods) {
    out << pod.name << ' ' << pod.gang << ' ' << pod.subgroup << ' ' << pod.namespace_name << ' ' << pod.spec.value()
        << ' ' << int(pod.status) << ' ' << pod.node << ' ' << pod.started.value_or(-1) << ' '
        << pod.created.value_or(-1) << ' ' << pod.nominated_node;
    for (const std::int32_t device : pod.devices) out << " gpu" << device;
    for (const auto& [key, value] : pod.labels) out << ' ' << key << '=' << value;
    if (pod.own_gang >= 0) {
      const GangTerms& terms = snapshot.own_gang_terms.at(static_cast<std::size_t>(pod.own_gang));
      out << " own " << terms.queue << ' ' << terms.priority.value_or(-1) << ' ' << terms.preemptible.value_or(true)
          << ' ' << terms.created.value_or(-1);
    }
    out << '\n';
  }
  return out.str();
}

std::string list_error(const std::vector<std::string>& pods, int threads) {
  const Result<Snapshot> snapshot = read(pods, threads);
  return snapshot ? ""
                  : std::string(error_code_text(snapshot.error().code)) + " " + snapshot.error().path + " " +
                        snapshot.error().message;
}

TEST(LongList, IsReadTheSameByAnyNumberOfThreads) {
  const Result<Snapshot> one = read(pods(), 1);
  ASSERT_TRUE(one) << one.error().path << " " << one.error().message;
  ASSERT_EQ(one->pods.size(), std::size_t{kPods});
  const std::string expected = told_by(*one);
  for (const int threads : {2, 3, 4, 8}) {
    const Result<Snapshot> several = read(pods(), threads);
    ASSERT_TRUE(several);
    EXPECT_TRUE(told_by(*several) == expected) << threads << " threads";
  }
}

// Only the whole can number it: what comes after is read again.
TEST(LongList, NumbersResourcesAsTheyCome) {
  std::vector<std::string> list = pods();
  for (const int at : {8'000, 5'000, 6'000, 100}) {
    list[static_cast<std::size_t>(at)] =
        R"({"name":"x-)" + std::to_string(at) + R"(","resources":{"example.com/)" + std::to_string(at) + R"(":1}})";
  }
  const Result<Snapshot> one = read(list, 1);
  ASSERT_TRUE(one);
  ASSERT_EQ(one->resource_names.size(), 7U);
  EXPECT_EQ(one->resource_names[ResourceIndex(3)], "example.com/100");
  EXPECT_EQ(one->resource_names[ResourceIndex(6)], "example.com/8000");
  const std::string expected = told_by(*one);
  for (const int threads : {2, 4}) EXPECT_TRUE(told_by(*read(list, threads)) == expected) << threads << " threads";
}

TEST(LongList, TellsTheFirstOfSeveralErrors) {
  const std::vector<std::string> good = pods();
  for (const int first : {0, 1'023, 1'024, 4'096, 5'000, kPods - 1}) {
    std::vector<std::string> list = good;
    list[static_cast<std::size_t>(first)] = R"({"name":"x","template":"large"})";
    if (first < 8'500) list[8'500] = R"({"nam":"y"})";
    const std::string expected = list_error(list, 1);
    EXPECT_TRUE(expected.starts_with("UnknownName $.pods[" + std::to_string(first) + "].template")) << expected;
    for (const int threads : {2, 4, 8}) EXPECT_EQ(list_error(list, threads), expected);
  }
}

}  // namespace
}  // namespace muster::kubernetes
