// Manifests in the shapes of the samples of schedulers and controllers (test/answers/manifests), submitted to one
// cluster: the pods and the gangs that their controllers would make. Prints a table of all of them.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "test/cli/program.h"
#include "test/support/paths.h"

namespace muster::cli {
namespace {

using Json = nlohmann::json;

struct Manifest {
  std::string name, text;
  std::multimap<std::string, std::string> expected;
};

void PrintTo(const Manifest& manifest, std::ostream* out) { *out << manifest.name; }

std::string trimmed(const std::string& text) {
  const std::size_t from = text.find_first_not_of(' ');
  return from == std::string::npos ? "" : text.substr(from, text.find_last_not_of(' ') - from + 1);
}

void replace_all(std::string& text, const std::string& word, const std::string& value) {
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += value.size())
    text.replace(at, word.size(), value);
}

// `### NAME | KEY VALUE | KEY VALUE ...`
Manifest read_heading(const std::string& line) {
  Manifest manifest;
  std::istringstream parts(line.substr(4));
  std::string part;
  std::getline(parts, part, '|');
  manifest.name = trimmed(part);
  while (std::getline(parts, part, '|')) {
    part = trimmed(part);
    const std::size_t space = part.find(' ');
    manifest.expected.emplace(part.substr(0, space), space == std::string::npos ? "" : part.substr(space + 1));
  }
  return manifest;
}

std::vector<Manifest> manifests() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_folder() + "/test/answers/manifests"))
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  std::ranges::sort(files);
  std::vector<Manifest> all;
  for (const auto& file : files) {
    std::ifstream stream(file);
    bool has_begun = false;
    for (std::string line; std::getline(stream, line);) {
      if (line.starts_with("### ")) {
        all.push_back(read_heading(line));
        has_begun = true;
      } else if (has_begun) {
        all.back().text += line + "\n";
      }
    }
  }
  for (Manifest& manifest : all) {
    replace_all(manifest.text, "@gpu1",
                R"(containers: [{name: node, image: x, resources: {limits: {cpu: "1", nvidia.com/gpu: "1"}}}])");
    replace_all(manifest.text, "@cpu", R"(containers: [{name: node, image: x, resources: {requests: {cpu: "1"}}}])");
  }
  return all;
}

std::string cluster_of_manifests() {
  std::string text;
  for (const char* name : {"n1", "n2", "n3"}) {
    text += fmt::format(
        "apiVersion: v1\nkind: Node\nmetadata: {{name: {0}, labels: {{kubernetes.io/hostname: {0}}}}}\nstatus:\n"
        "  allocatable: {{cpu: \"64\", memory: 256Gi, pods: \"110\", nvidia.com/gpu: \"8\"}}\n"
        "  conditions: [{{type: Ready, status: \"True\"}}]\n---\n",
        name);
  }
  return text + R"(apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: team}
spec: {resources: {gpu: {quota: -1, limit: -1}, cpu: {quota: -1, limit: -1}, memory: {quota: -1, limit: -1}}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: research}
spec: {weight: 1}
status: {state: Open}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: farm}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu, memory, nvidia.com/gpu]
    flavors:
    - name: any
      resources: [{name: cpu, nominalQuota: 64}, {name: memory, nominalQuota: 256Gi}, {name: nvidia.com/gpu, nominalQuota: 8}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {namespace: ml, name: users}
spec: {clusterQueue: farm}
---
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: kata}
handler: kata
overhead: {podFixed: {cpu: "1", memory: 1Gi}}
scheduling: {nodeSelector: {runtime: kata}}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: torch-plain}
spec:
  mlPolicy: {numNodes: 1, torch: {}}
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
          spec: {template: {spec: {containers: [{name: node, image: x}]}}}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainingRuntime
metadata: {namespace: ml, name: torch-gang}
spec:
  mlPolicy: {numNodes: 2}
  podGroupPolicy: {coscheduling: {scheduleTimeoutSeconds: 100}}
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
          spec: {template: {spec: {containers: [{name: node, image: x}]}}}
)";
}

// What the import makes of a manifest, as texts that a heading may expect.
std::map<std::string, std::string> facts_of(const Json& line, const std::string& gang) {
  std::map<std::string, std::int64_t> sizes;
  std::set<std::string> queues;
  std::size_t held = 0;
  const Json pods = line.value("pods", Json::array()), gangs = line.value("gangs", Json::array());
  for (const Json& pod : pods) {
    ++sizes[pod.value("gang", std::string(pod["name"]))];
    if (pod.contains("held")) ++held;
    if (pod.contains("queue")) queues.insert(pod["queue"]);
  }
  std::map<std::string, std::string> facts{{"pods", std::to_string(pods.size())},
                                           {"gangs", std::to_string(sizes.size())}};
  if (held == pods.size() && held > 0) facts["held"] = "";
  for (const Json& one : gangs) {
    if (!gang.empty() && one["name"] != gang) continue;
    facts["gang"] = one["name"];
    facts["minimum"] = std::to_string(one.value("minMember", sizes[one["name"]]));
    queues = {one.value("queue", "")};
    for (const Json& subgroup : one.value("subgroups", Json::array())) {
      std::string& text = facts["subgroups"];
      if (!text.empty()) text += ", ";
      text += std::string(subgroup["name"]) + " " + std::to_string(subgroup.value("minMember", 0));
    }
  }
  if (queues.size() == 1) facts["queue"] = *queues.begin();
  return facts;
}

class Manifests : public testing::TestWithParam<Manifest> {
 protected:
  Workplace place_;
};

TEST_P(Manifests, MakeWhatTheirControllersWould) {
  const Manifest& manifest = GetParam();
  const auto value = [&](const std::string& key) {
    const auto found = manifest.expected.find(key);
    return found == manifest.expected.end() ? "" : found->second;
  };
  const std::string cluster = place_.file("cluster.yaml", cluster_of_manifests());
  const std::string file = place_.file("manifest.yaml", manifest.text);
  const Outcome answer =
      place_.run("what-if --deterministic --threads 1 --no-remedies --from " + cluster + " --submit " + file);
  EXPECT_EQ(std::to_string(answer.exit_code), value("exit")) << answer.out << answer.err;
  const Outcome made = place_.run("import kubernetes --expand " + cluster + " " + file);
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const Json line = Json::parse(made.out);
  const std::map<std::string, std::string> facts = facts_of(line, value("gang"));
  std::string row = fmt::format("{:<40}", manifest.name);
  for (const auto& [key, expected] : manifest.expected) {
    row += fmt::format(" | {} {}", key, expected);
    if (key == "says") {
      EXPECT_NE((answer.out + answer.err + made.err).find(expected), std::string::npos) << answer.out << answer.err;
    } else if (key == "pod") {
      EXPECT_TRUE(std::ranges::any_of(line["pods"], [&](const Json& pod) { return pod["name"] == expected; }))
          << made.out;
    } else if (key != "exit") {
      const auto found = facts.find(key);
      EXPECT_TRUE(found != facts.end() && found->second == expected)
          << key << ": " << (found == facts.end() ? "none" : found->second) << "\n"
          << made.out;
    }
  }
  std::cout << row << (HasFailure() ? "   WRONG\n" : "\n");
}

INSTANTIATE_TEST_SUITE_P(All, Manifests, testing::ValuesIn(manifests()), [](const auto& info) {
  std::string name = info.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST(ManifestFiles, CoverTheSamplesOfManyProjects) { EXPECT_GE(manifests().size(), 60U); }

}  // namespace
}  // namespace muster::cli
