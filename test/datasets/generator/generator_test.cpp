#include "datasets/generator/generator.h"

#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "datasets/generator/presets.h"

namespace muster::generator {
namespace {

using Json = nlohmann::json;

Json snapshot(const GeneratorOptions& options, std::uint64_t k = 0) {
  const auto fault = generator_fault(options);
  EXPECT_FALSE(fault) << fault->path << " " << fault->message;
  return Json::parse(generate_snapshot(options, k));
}

const Json& template_of(const Json& line, const Json& pod) {
  return line["podTemplates"][pod["template"].get<std::string>()];
}

// How many entries of the list have the key (in themselves, or in the template of a pod).
int count_with(const Json& list, const char* key) {
  int count = 0;
  for (const Json& item : list) count += item.contains(key) ? 1 : 0;
  return count;
}
int count_requests(const Json& line, const char* kind) {
  int count = 0;
  for (const Json& pod : line["pods"])
    count += template_of(line, pod).value("gpu", Json::object()).contains(kind) ? 1 : 0;
  return count;
}
int count_status(const Json& line, const char* status) {
  int count = 0;
  for (const Json& pod : line["pods"]) {
    count += pod.value("status", pod.contains("node") ? "running" : "pending") == status ? 1 : 0;
  }
  return count;
}

// With the option a feature is there; without it, it is not.
struct Feature {
  const char* what;
  void (*ask)(GeneratorOptions&);
  int (*count)(const Json& line);
};
void PrintTo(const Feature& feature, std::ostream* out) { *out << feature.what; }

class GeneratorFeature : public testing::TestWithParam<Feature> {};

TEST_P(GeneratorFeature, IsThereWhenAskedForAndOnlyThen) {
  GeneratorOptions options;
  options.cluster.nodes = 60;
  options.gangs.largest = 16;
  options.pods.fractions = 0;
  EXPECT_EQ(GetParam().count(snapshot(options)), 0);
  GetParam().ask(options);
  EXPECT_GT(GetParam().count(snapshot(options)), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Of, GeneratorFeature,
    testing::Values(
        Feature{"fractions", [](GeneratorOptions& o) { o.pods.fractions = 0.4; },
                [](const Json& l) { return count_requests(l, "fraction"); }},
        Feature{"memory requests",
                [](GeneratorOptions& o) { o.pods.memory_requests = 0.2, o.cluster.gpu_memory_gib = 80; },
                [](const Json& l) { return count_requests(l, "memory"); }},
        Feature{"pods without GPU", [](GeneratorOptions& o) { o.pods.cpu_only = 0.2; },
                [](const Json& l) { return static_cast<int>(l["pods"].size()) - count_requests(l, "count"); }},
        Feature{"device memory", [](GeneratorOptions& o) { o.cluster.gpu_memory_gib = 40; },
                [](const Json& l) { return static_cast<int>(l["nodes"][0]["gpus"].contains("memory")); }},
        Feature{"models of nodes", [](GeneratorOptions& o) { o.cluster.gpu_models = {"A100"}; },
                [](const Json& l) { return static_cast<int>(l["nodes"][0]["gpus"].contains("model")); }},
        Feature{"models asked for",
                [](GeneratorOptions& o) {
                  o.cluster.gpu_models = {"A", "B"}, o.pods.selecting_models = 0.5;
                },
                [](const Json& l) { return count_with(l["podTemplates"], "gpuModels"); }},
        Feature{"topology", [](GeneratorOptions& o) { o.cluster.zones = 2; },
                [](const Json& l) { return static_cast<int>(l.value("topology", Json::array()).size()); }},
        Feature{"required topology", [](GeneratorOptions& o) { o.cluster.zones = 2, o.gangs.topology_required = 0.5; },
                [](const Json& l) {
                  int count = 0;
                  for (const Json& gang : l["gangs"])
                    count += gang.value("topology", Json::object()).contains("required");
                  return count;
                }},
        Feature{"preferred topology",
                [](GeneratorOptions& o) { o.cluster.zones = 2, o.gangs.topology_preferred = 0.5; },
                [](const Json& l) {
                  int count = 0;
                  for (const Json& gang : l["gangs"])
                    count += gang.value("topology", Json::object()).contains("preferred");
                  return count;
                }},
        Feature{"taints", [](GeneratorOptions& o) { o.cluster.tainted = 0.3; },
                [](const Json& l) { return count_with(l["nodes"], "taints"); }},
        Feature{"tolerations", [](GeneratorOptions& o) { o.cluster.tainted = 0.3; },
                [](const Json& l) { return count_with(l["podTemplates"], "tolerations"); }},
        Feature{"selectors", [](GeneratorOptions& o) { o.cluster.selecting = 0.3; },
                [](const Json& l) { return count_with(l["podTemplates"], "nodeSelector"); }},
        Feature{"queues", [](GeneratorOptions& o) { o.queues.count = 3; },
                [](const Json& l) { return count_with(l["gangs"], "queue"); }},
        Feature{"departments", [](GeneratorOptions& o) { o.queues.count = 5; },
                [](const Json& l) { return count_with(l.value("queues", Json::array()), "parent"); }},
        Feature{"limits", [](GeneratorOptions& o) { o.queues.count = 2, o.queues.limit = 1.5; },
                [](const Json& l) {
                  int count = 0;
                  for (const Json& queue : l.value("queues", Json::array())) count += queue["gpu"].contains("limit");
                  return count;
                }},
        Feature{"priorities", [](GeneratorOptions& o) { o.priorities = 4; },
                [](const Json& l) { return count_with(l["gangs"], "priorityClass"); }},
        Feature{"elastic gangs", [](GeneratorOptions& o) { o.gangs.elastic = 0.5; },
                [](const Json& l) {
                  std::map<std::string, int> sizes;
                  for (const Json& pod : l["pods"]) ++sizes[pod.value("gang", "")];
                  int count = 0;
                  for (const Json& gang : l["gangs"]) count += gang["minMember"] < sizes[gang["name"]];
                  return count;
                }},
        Feature{"subgroups", [](GeneratorOptions& o) { o.gangs.subgroups = 0.5; },
                [](const Json& l) { return count_with(l["pods"], "subgroup"); }},
        Feature{"one pod a node", [](GeneratorOptions& o) { o.gangs.one_a_node = 0.3; },
                [](const Json& l) { return count_with(l["pods"], "podAntiAffinity"); }},
        Feature{"gated pods", [](GeneratorOptions& o) { o.gangs.gated = 0.3; },
                [](const Json& l) { return count_status(l, "gated"); }},
        Feature{"running pods", [](GeneratorOptions& o) { o.running.occupied = 0.5; },
                [](const Json& l) { return count_status(l, "running"); }},
        Feature{"releasing pods", [](GeneratorOptions& o) { o.running.occupied = 0.5, o.running.releasing = 0.3; },
                [](const Json& l) { return count_status(l, "releasing"); }},
        Feature{"preemptible gangs", [](GeneratorOptions& o) { o.running.occupied = 0.5, o.running.preemptible = 0.5; },
                [](const Json& l) {
                  int count = 0;
                  for (const Json& gang : l["gangs"]) count += gang.value("preemptible", false);
                  return count;
                }}),
    [](const testing::TestParamInfo<Feature>& feature) {
      std::string name;
      for (const char* c = feature.param.what; *c != '\0'; ++c) name += *c == ' ' ? '_' : *c;
      return name;
    });

TEST(Generator, GivesNothingButPodsAndNodesWhenNothingElseIsAskedFor) {
  GeneratorOptions options;
  options.cluster.nodes = 10;
  const Json line = snapshot(options);
  std::set<std::string> keys;
  for (const auto& [key, value] : line.items()) keys.insert(key);
  EXPECT_EQ(keys, (std::set<std::string>{"format", "id", "time", "nodes", "podTemplates", "pods"}));
  EXPECT_EQ(line["nodes"].size(), 10u);
}

TEST(GeneratorPreset, SynthHasTheSharesOfTheBenchmark) {
  GeneratorOptions options = *generator_preset("synth");
  options.cluster.nodes = 5000;
  const Json line = snapshot(options);
  EXPECT_EQ(line["nodes"][0]["resources"], Json::parse(R"({"cpu":96,"memory":"786432Mi"})"));
  EXPECT_EQ(line["nodes"][0]["gpus"]["count"], 8);
  std::map<std::string, double> share;
  const double one = 1.0 / static_cast<double>(line["pods"].size());
  double asked = 0;
  std::map<std::string, int> sizes;
  for (const Json& pod : line["pods"]) {
    const Json& gpu = template_of(line, pod)["gpu"];
    share[gpu.contains("fraction") ? "fraction" : gpu["count"].dump()] += one;
    asked += gpu.value("count", 0.0) + gpu.value("fraction", 0.0);
    if (pod.contains("gang")) ++sizes[pod["gang"]];
  }
  EXPECT_NEAR(share["fraction"], 0.40, 0.05);
  EXPECT_NEAR(share["1"], 0.35, 0.05);
  EXPECT_NEAR(share["2"], 0.10, 0.03);
  EXPECT_NEAR(share["4"], 0.05, 0.03);
  EXPECT_NEAR(share["8"], 0.10, 0.03);
  EXPECT_NEAR(asked, 1.2 * 40'000, 8);
  int largest = 0;
  for (const auto& [gang, size] : sizes) largest = std::max(largest, size);
  EXPECT_EQ(largest, 64);
  EXPECT_LE(line["podTemplates"].size(), 120u);
}

TEST(GeneratorPreset, SynthLoadsWhatIsFreeOfAnOccupiedCluster) {
  GeneratorOptions options = *generator_preset("synth");
  options.cluster.nodes = 200;
  options.running.occupied = 0.5;
  const Json line = snapshot(options);
  double running = 0, asked = 0;
  for (const Json& pod : line["pods"]) {
    const Json& gpu = template_of(line, pod)["gpu"];
    (pod.contains("node") ? running : asked) += gpu.value("count", 0.0) + gpu.value("fraction", 0.0);
  }
  EXPECT_NEAR(running, 800, 8);
  EXPECT_NEAR(asked, 1.5 * (1600 - running), 8);
  for (const Json& gang : line["gangs"]) EXPECT_FALSE(gang.value("preemptible", false));
}

TEST(GeneratorPreset, FullHasNoFaultAndUnknownOnesAreNone) {
  ASSERT_TRUE(generator_preset("full"));
  EXPECT_FALSE(generator_fault(*generator_preset("full")));
  EXPECT_FALSE(generator_preset("Synth"));
}

TEST(Generator, GivesTheSameBytesForTheSameSeedAndOthersForAnother) {
  GeneratorOptions options = *generator_preset("full");
  const std::string first = generate_snapshot(options);
  EXPECT_EQ(generate_snapshot(options), first);
  EXPECT_NE(generate_snapshot(options, 1), first);
  EXPECT_EQ(generate_snapshot(options, 1), generate_snapshot(options, 1));
  options.seed = 2;
  EXPECT_NE(generate_snapshot(options), first);
}

// FNV-1a. Results are quoted by seed, so the bytes of a seed are kept from release to release and from platform to
// platform; if the generator has to change, note it in the changelog and put the new number here.
std::uint64_t digest(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

TEST(Generator, KeepsTheBytesOfASeed) {
  EXPECT_EQ(digest(generate_snapshot(*generator_preset("synth"))), 915072419044644484u);
  EXPECT_EQ(digest(generate_snapshot(*generator_preset("full"))), 15621407651419488589u);
}

TEST(Generator, LetsRunningPodsStartAtAsManyTimesAsAreAskedFor) {
  GeneratorOptions options;
  options.running.occupied = 0.5;
  options.running.start_times = 5;
  std::set<std::int64_t> times;
  const Json line = snapshot(options);
  for (const Json& pod : line["pods"]) {
    if (pod.contains("node")) times.insert(pod["started"].get<std::int64_t>());
  }
  EXPECT_EQ(times.size(), 5u);
}

TEST(Generator, PutsNoMoreIntoAQueueThanTheSumOfItsChildrenAsQuota) {
  GeneratorOptions options;
  options.cluster.nodes = 40;
  options.queues.count = 10;
  const Json line = snapshot(options);
  std::map<std::string, std::int64_t> children, own;
  for (const Json& queue : line["queues"]) {
    if (queue.contains("parent")) {
      children[queue["parent"]] += queue["gpu"]["quota"].get<std::int64_t>();
    } else {
      own[queue["name"]] = queue["gpu"]["quota"];
    }
  }
  EXPECT_EQ(own.size(), 3u);
  EXPECT_EQ(own, children);
}

TEST(Generator, AsksForWholeDevicesThatANodeHas) {
  GeneratorOptions options;
  options.cluster.gpus_per_node = 3;
  options.pods.fractions = 0;
  const Json line = snapshot(options);
  for (const Json& pod : line["pods"]) EXPECT_LE(template_of(line, pod)["gpu"]["count"], 3);
}

TEST(Generator, LetsNoGangAskForMoreThanAQuarterOfTheCluster) {
  GeneratorOptions options = *generator_preset("synth");
  options.cluster.nodes = 10;
  std::map<std::string, double> asked;
  const Json line = snapshot(options);
  for (const Json& pod : line["pods"]) {
    const Json& gpu = template_of(line, pod)["gpu"];
    if (pod.contains("gang")) asked[pod["gang"]] += gpu.value("count", 0.0) + gpu.value("fraction", 0.0);
  }
  EXPECT_FALSE(asked.empty());
  for (const auto& [gang, gpus] : asked) EXPECT_LE(gpus, 20.0001) << gang;
}

struct BadOption {
  const char* option;
  void (*spoil)(GeneratorOptions&);
};
void PrintTo(const BadOption& bad, std::ostream* out) { *out << bad.option; }
class BadGeneratorOptions : public testing::TestWithParam<BadOption> {};
TEST_P(BadGeneratorOptions, AreNamed) {
  GeneratorOptions options;
  GetParam().spoil(options);
  const auto fault = generator_fault(options);
  ASSERT_TRUE(fault);
  EXPECT_EQ(error_code_text(fault->code), "InvalidOption");
  EXPECT_EQ(fault->path, GetParam().option);
}
INSTANTIATE_TEST_SUITE_P(
    Of, BadGeneratorOptions,
    testing::Values(BadOption{"nodes", [](GeneratorOptions& o) { o.cluster.nodes = 0; }},
                    BadOption{"gpus-per-node", [](GeneratorOptions& o) { o.cluster.gpus_per_node = 0; }},
                    BadOption{"gangs-max", [](GeneratorOptions& o) { o.gangs.largest = 0; }},
                    BadOption{"occupied", [](GeneratorOptions& o) { o.running.occupied = 1.1; }},
                    BadOption{"elastic", [](GeneratorOptions& o) { o.gangs.elastic = -0.1; }},
                    BadOption{"fractions", [](GeneratorOptions& o) { o.pods.fractions = 0.8, o.pods.cpu_only = 0.3; }},
                    BadOption{"cpu-only", [](GeneratorOptions& o) { o.pods.fractions = 0, o.pods.cpu_only = 1; }},
                    BadOption{"memory-requests", [](GeneratorOptions& o) { o.pods.memory_requests = 0.1; }},
                    BadOption{"selecting-models", [](GeneratorOptions& o) { o.pods.selecting_models = 0.1; }},
                    BadOption{"topology-required", [](GeneratorOptions& o) { o.gangs.topology_preferred = 0.1; }},
                    BadOption{"zones", [](GeneratorOptions& o) { o.cluster.nodes = 7, o.cluster.zones = 2; }},
                    BadOption{"load", [](GeneratorOptions& o) { o.load = -1; }},
                    BadOption{"pending-above", [](GeneratorOptions& o) { o.pending_above = true; }},
                    BadOption{"skew", [](GeneratorOptions& o) { o.queues.skew = 0.5; }},
                    BadOption{"quota", [](GeneratorOptions& o) { o.queues.quota = -1; }}));

TEST(Generator, SaysThatNothingIsDoneButToPlaceWhereAsked) {
  GeneratorOptions options;
  EXPECT_FALSE(snapshot(options).contains("policy"));
  options.place_only = true;
  EXPECT_EQ(snapshot(options)["policy"], Json::parse(R"({"actions":["place"]})"));
}

// GPUs of pods by queue: running, pending.
std::map<std::string, std::pair<double, double>> gpus_by_queue(const Json& line) {
  std::map<std::string, std::string> queue_of_gang;
  for (const Json& gang : line["gangs"]) queue_of_gang[gang["name"]] = gang["queue"];
  std::map<std::string, std::pair<double, double>> gpus;
  for (const Json& pod : line["pods"]) {
    const Json gpu = template_of(line, pod).value("gpu", Json::object());
    auto& [running, pending] =
        gpus[pod.contains("gang") ? queue_of_gang.at(pod["gang"]) : pod["queue"].get<std::string>()];
    (pod.contains("node") ? running : pending) += gpu.value("count", 0.0) + gpu.value("fraction", 0.0);
  }
  return gpus;
}

// The preset guarantees: requests plus running pods are a ninth more than the cluster, the first queue runs more than
// its third, and what the others have and want is less than theirs.
TEST(GeneratorPreset, ContendedLeavesAFifthOfTheLoadToEvictions) {
  const GeneratorOptions options = *generator_preset("contended");
  const Json line = snapshot(options);
  EXPECT_FALSE(line.contains("policy"));
  double running = 0, pending = 0;
  auto gpus = gpus_by_queue(line);
  ASSERT_EQ(gpus.size(), 3u);
  for (const auto& [queue, both] : gpus) {
    running += both.first;
    pending += both.second;
  }
  EXPECT_NEAR(running, 4000, 8);
  EXPECT_NEAR(pending, 5000, 16);
  const double third = 8000.0 / 3;
  EXPECT_GT(gpus["team-0"].first, third + 400);
  EXPECT_GT(gpus["team-0"].first, 0.85 * running);
  for (const char* queue : {"team-1", "team-2"}) EXPECT_LT(gpus[queue].first, 0.1 * running);
  EXPECT_EQ(line["priorityClasses"].size(), 3u);
  for (const Json& pod : line["pods"]) {
    if (pod.contains("gang")) continue;
    EXPECT_EQ(pod.contains("preemptible"), pod.contains("node"));
    EXPECT_EQ(pod.value("preemptible", true), true);
    EXPECT_NE(pod["priorityClass"], pod.contains("node") ? "class-2" : "class-0");
  }
}

}  // namespace
}  // namespace muster::generator
