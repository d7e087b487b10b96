// The reader against a second parser: random snapshots are built and understood through nlohmann-json alone, and
// compared with what the reader makes of their text.
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "io/snapshot_reader/snapshot_reader.h"

namespace muster::muster_v1 {
namespace {

using nlohmann::json;

constexpr int kSnapshots = 400;

class Maker {
 public:
  explicit Maker(unsigned seed) : random_(seed) {}
  json snapshot();

 private:
  int up_to(int most) { return std::uniform_int_distribution<int>(0, most)(random_); }
  bool chance() { return up_to(1) == 1; }
  std::string pick(const std::vector<std::string>& from) {
    return from[static_cast<std::size_t>(up_to(static_cast<int>(from.size()) - 1))];
  }
  json quantity();
  json resources();
  json labels();
  json gpu();
  void add_spec(json& pod);
  json pod(int number);

  std::mt19937 random_;
};

// Small enough to be exact in 80-bit floating point, which is how this test understands them.
json Maker::quantity() {
  switch (up_to(3)) {
    case 0:
      return up_to(1'000'000);
    case 1:
      return up_to(1'000) / 8.0;
    default:
      return std::to_string(up_to(4'000)) + pick({"", "m", "k", "M", "G", "Ki", "Mi", "Gi", "e3", "E2", ".5Gi", ".25"});
  }
}

json Maker::resources() {
  json object = json::object();
  for (const char* name : {"cpu", "memory", "rdma/hca", "nvidia.com/mig-1g.10gb", "pods"}) {
    if (chance()) object[name] = quantity();
  }
  return object;
}

json Maker::labels() {
  json object = json::object();
  for (int i = up_to(4); i > 0; --i)
    object[pick({"app", "a/b", "töpologie", "k\"ey", "zone"})] = pick({"", "x", "ü", "line\nfeed", "\\"});
  return object;
}

json Maker::gpu() {
  switch (up_to(2)) {
    case 0:
      return {{"count", up_to(8)}};
    case 1:
      return {{"fraction", (1 + up_to(63)) / 64.0}, {"devices", 1 + up_to(3)}};
    default:
      return {{"memory", std::to_string(1 + up_to(80'000)) + pick({"Mi", "M", "k"})}};
  }
}

void Maker::add_spec(json& pod) {
  if (chance()) pod["resources"] = resources();
  if (chance()) pod["gpu"] = gpu();
  if (chance()) pod["nodeSelector"] = labels();
  if (chance()) pod["gpuModels"] = json::array({pick({"A100", "H100"}), pick({"T4", "H100"})});
}

json Maker::pod(int number) {
  json pod = {{"name", pick({"ns/", "", "other/"}) + "pod-" + std::to_string(number)}};
  if (chance()) {
    pod["gang"] = "gang-" + std::to_string(up_to(3));
  } else if (chance()) {
    pod["queue"] = pick({"q1", "q2"});
    pod["priority"] = up_to(200) - 100;
  }
  if (chance()) pod["template"] = pick({"t0", "t1"});
  add_spec(pod);
  if (chance()) pod["node"] = "node-" + std::to_string(up_to(3));
  if (chance()) pod["labels"] = labels();
  if (chance()) pod["created"] = up_to(1'000'000) / 4.0;
  return pod;
}

json Maker::snapshot() {
  json snapshot = {
      {"format", "muster/v1"}, {"id", pick({"a", "ß\t"})}, {"nodes", json::array()}, {"pods", json::array()}};
  for (const char* name : {"t0", "t1"}) {
    snapshot["podTemplates"][name] = json::object();
    add_spec(snapshot["podTemplates"][name]);
  }
  for (int i = 0; i < 4; ++i) {
    json node = {{"name", "node-" + std::to_string(i)}, {"resources", resources()}, {"labels", labels()}};
    if (chance()) node["gpus"] = {{"count", up_to(8)}, {"memory", std::to_string(1 + up_to(80)) + "Gi"}};
    snapshot["nodes"].push_back(node);
  }
  for (int i = up_to(12); i > 0; --i) snapshot["pods"].push_back(pod(i));
  return snapshot;
}

// Another way to understand a quantity, right where 64 bits of mantissa suffice.
std::int64_t understand(const json& value, long double unit, bool up) {
  long double amount = 0;
  if (value.is_string()) {
    static const std::map<std::string, long double> kFactors = {
        {"", 1.0L},   {"m", 1e-3L}, {"k", 1e3L},     {"M", 1e6L},        {"G", 1e9L},
        {"e3", 1e3L}, {"E2", 1e2L}, {"Ki", 1024.0L}, {"Mi", 1048576.0L}, {"Gi", 1073741824.0L}};
    const auto text = value.get<std::string>();
    const std::size_t end = text.find_first_not_of("0123456789.");
    const std::string suffix = end == std::string::npos ? "" : text.substr(end);
    const std::string digits = text.substr(0, end);
    // A thousandth has no exact binary form: divide by its inverse instead.
    amount = std::stold(digits) * (suffix == "m" ? unit / 1000.0L : kFactors.at(suffix) * unit);
  } else {
    amount = value.get<long double>() * unit;
  }
  return static_cast<std::int64_t>(up ? std::ceil(amount) : std::floor(amount));
}

std::map<std::string, std::int64_t> understand_resources(const json& object, bool up, std::int64_t default_pods) {
  std::map<std::string, std::int64_t> amounts = {{"pods", default_pods}};
  for (const auto& [name, value] : object.items())
    amounts[name] = understand(value, name == "cpu" ? 1000.0L : 1.0L, up);
  if (up) std::erase_if(amounts, [](const auto& entry) { return entry.second == 0; });
  return amounts;
}

std::map<std::string, std::int64_t> named(const Snapshot& snapshot, const std::vector<ResourceAmount>& amounts) {
  std::map<std::string, std::int64_t> result;
  for (const ResourceAmount& amount : amounts)
    result[std::string(snapshot.resource_names[amount.resource])] = amount.amount;
  return result;
}

std::map<std::string, std::string> named(const Labels& labels) { return {labels.begin(), labels.end()}; }

GpuRequest understand_gpu(const json& gpu) {
  if (gpu.contains("count")) {
    const auto count = gpu["count"].get<std::int32_t>();
    return count == 0 ? GpuRequest{} : GpuRequest{GpuRequestKind::kWhole, count, 0};
  }
  const auto devices = gpu.value("devices", 1);
  if (gpu.contains("fraction")) {
    return {GpuRequestKind::kFraction, devices, static_cast<std::int64_t>(gpu["fraction"].get<double>() * 1e6)};
  }
  return {GpuRequestKind::kMemory, devices, understand(gpu["memory"], 1.0L / 1048576, true)};
}

void expect_spec(const json& snapshot, const json& pod, const Snapshot& read, const PodSpec& spec) {
  json keys = pod.contains("template") ? snapshot["podTemplates"][pod["template"].get<std::string>()] : json::object();
  for (const char* key : {"resources", "gpu", "nodeSelector", "gpuModels"}) {
    if (pod.contains(key)) keys[key] = pod[key];
  }
  EXPECT_EQ(named(read, spec.resources), understand_resources(keys.value("resources", json::object()), true, 1))
      << keys;
  EXPECT_EQ(spec.gpu, keys.contains("gpu") ? understand_gpu(keys["gpu"]) : GpuRequest{}) << keys;
  EXPECT_EQ(named(spec.node_selector),
            keys.value("nodeSelector", json::object()).get<decltype(named(spec.node_selector))>());
  std::set<std::string> models;
  for (const auto& model : keys.value("gpuModels", json::array())) models.insert(model.get<std::string>());
  EXPECT_EQ(std::set<std::string>(spec.gpu_models.begin(), spec.gpu_models.end()), models);
  EXPECT_EQ(spec.gpu_models.size(), models.size());
}

void expect_pod(const json& snapshot, const json& pod, const Snapshot& read, const SnapshotPod& got) {
  EXPECT_EQ(got.name, pod["name"].get<std::string>());
  EXPECT_EQ(got.gang, pod.value("gang", ""));
  EXPECT_EQ(got.node, pod.value("node", ""));
  EXPECT_EQ(got.status, pod.contains("node") ? PodStatus::kRunning : PodStatus::kPending);
  EXPECT_EQ(named(got.labels), pod.value("labels", json::object()).get<decltype(named(got.labels))>());
  EXPECT_EQ(got.created.has_value(), pod.contains("created"));
  if (pod.contains("created")) {
    EXPECT_EQ(*got.created, static_cast<Nanoseconds>(pod["created"].get<double>() * 1e9));
  }
  if (pod.contains("queue")) {
    const GangTerms& terms = read.own_gang_terms[static_cast<std::size_t>(got.own_gang)];
    EXPECT_EQ(terms.queue, pod["queue"].get<std::string>());
    EXPECT_EQ(terms.priority, pod["priority"].get<int>());
    EXPECT_EQ(terms.created, got.created);
  }
  expect_spec(snapshot, pod, read, read.pod_specs[got.spec]);
}

TEST(Differential, RandomSnapshotsAreReadAsASecondParserReadsThem) {
  SnapshotReader reader;
  for (unsigned seed = 0; seed < kSnapshots && !testing::Test::HasFailure(); ++seed) {
    const json snapshot = Maker(seed).snapshot();
    const std::string line = snapshot.dump(-1, ' ', seed % 2 == 0);
    const auto read = reader.read(line);
    ASSERT_TRUE(read) << line << "\n" << read.error().path << " " << read.error().message;
    EXPECT_EQ(read->id, snapshot["id"].get<std::string>());
    ASSERT_EQ(read->nodes.size(), snapshot["nodes"].size());
    for (std::size_t i = 0; i < read->nodes.size(); ++i) {
      const json& node = snapshot["nodes"][i];
      EXPECT_EQ(named(*read, read->nodes[i].resources), understand_resources(node["resources"], false, 110)) << node;
      EXPECT_EQ(named(read->nodes[i].labels), node["labels"].get<decltype(named(read->nodes[i].labels))>());
      EXPECT_EQ(read->nodes[i].gpu_count, node.contains("gpus") ? node["gpus"]["count"].get<int>() : 0);
    }
    ASSERT_EQ(read->pods.size(), snapshot["pods"].size());
    for (std::size_t i = 0; i < read->pods.size(); ++i) expect_pod(snapshot, snapshot["pods"][i], *read, read->pods[i]);
  }
}

TEST(Differential, EqualSpecsAndOnlyTheseShareAnIndex) {
  SnapshotReader reader;
  for (unsigned seed = 0; seed < kSnapshots; ++seed) {
    const auto read = reader.read(Maker(seed).snapshot().dump());
    ASSERT_TRUE(read);
    for (const PodSpecIndex a : read->pod_specs.indices()) {
      for (const PodSpecIndex b : read->pod_specs.indices()) {
        ASSERT_EQ(a == b, read->pod_specs[a] == read->pod_specs[b]);
      }
    }
  }
}

}  // namespace
}  // namespace muster::muster_v1
