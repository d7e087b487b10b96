// `muster what-if --submit`: what a cluster would make of a manifest, in each dialect of gangs.
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test/cli/program.h"
#include "test/support/cluster.h"

namespace muster::cli {
namespace {

std::string replaced(std::string text, std::string_view word, std::string_view value) {
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += value.size())
    text.replace(at, word.size(), value);
  return text;
}

// Two nodes of four GPUs, and the queues of each system.
const std::string& cluster_yaml() {
  static const std::string node = R"(
apiVersion: v1
kind: Node
metadata: {name: NAME, labels: {kubernetes.io/hostname: NAME}}
status:
  allocatable: {cpu: "32", memory: 64Gi, pods: "110", nvidia.com/gpu: "4"}
  conditions: [{type: Ready, status: "True"}]
---)";
  static const std::string text = replaced(node, "NAME", "n1") + replaced(node, "NAME", "n2") + R"(
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: kai-team}
spec: {resources: {gpu: {quota: -1, limit: -1}, cpu: {quota: -1, limit: -1}, memory: {quota: -1, limit: -1}}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: vc-team}
spec: {weight: 1}
status: {state: Open}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: research}
spec:
  resourceGroups:
  - coveredResources: [cpu, memory, nvidia.com/gpu]
    flavors:
    - name: any
      resources:
      - {name: cpu, nominalQuota: 64}
      - {name: memory, nominalQuota: 128Gi}
      - {name: nvidia.com/gpu, nominalQuota: 8}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: LocalQueue
metadata: {namespace: ml, name: users}
spec: {clusterQueue: research}
)";
  return text;
}

constexpr const char* kContainers =
    R"([{name: c, image: x, resources: {requests: {cpu: "1"}, limits: {cpu: "1", nvidia.com/gpu: "2"}}}])";

// A Job of PODS pods. `metadata` is that of the template, `spec` further members of the pods' spec.
std::string job(const std::string& metadata, const std::string& spec, const std::string& of_job = "") {
  return "apiVersion: batch/v1\nkind: Job\nmetadata: {namespace: ml, name: train" + of_job + "}\n" +
         "spec:\n  parallelism: PODS\n  completions: PODS\n  template:\n    metadata: {" + metadata + "}\n" +
         "    spec: {restartPolicy: Never, containers: " + kContainers + spec + "}\n";
}

struct Dialect {
  std::string name;
  std::string manifest;  // with PODS pods of two GPUs each
  std::string gang;
  std::string queue;
};

void PrintTo(const Dialect& dialect, std::ostream* out) { *out << dialect.name; }

std::vector<Dialect> dialects() {
  const std::string pod = "---\napiVersion: v1\nkind: Pod\nmetadata:\n  namespace: ml\n  name: train-NUMBER\n";
  std::string kueue;
  for (const char* number : {"0", "1", "2", "3"}) {
    kueue += replaced(pod, "NUMBER", number) +
             "  labels: {kueue.x-k8s.io/queue-name: users, kueue.x-k8s.io/pod-group-name: train}\n"
             "  annotations: {kueue.x-k8s.io/pod-group-total-count: \"PODS\"}\n"
             "spec: {schedulingGates: [{name: kueue.x-k8s.io/admission}], containers: " +
             kContainers + "}\n";
  }
  return {
      {"Kai",
       "apiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata: {namespace: ml, name: train}\n"
       "spec: {minMember: PODS, queue: kai-team}\n---\n" +
           job("annotations: {pod-group-name: train}", ", schedulerName: kai-scheduler"),
       "ml/train", "kai-team"},
      {"Volcano",
       "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {namespace: ml, name: train}\n"
       "spec: {minMember: PODS, queue: vc-team}\n---\n" +
           job("annotations: {scheduling.k8s.io/group-name: train}", ", schedulerName: volcano"),
       "ml/train", "vc-team"},
      {"Coscheduling",
       "apiVersion: scheduling.x-k8s.io/v1alpha1\nkind: PodGroup\nmetadata: {namespace: ml, name: train}\n"
       "spec: {minMember: PODS}\n---\n" +
           job("labels: {scheduling.x-k8s.io/pod-group: train}", ""),
       "ml/train", "default"},
      {"WorkloadApi",
       "apiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\nmetadata: {namespace: ml, name: train}\n"
       "spec: {schedulingPolicy: {gang: {minCount: PODS}}}\n---\n" +
           job("", ", schedulingGroup: {podGroupName: train}"),
       "ml/train", "default"},
      {"WorkloadApiOf135",
       "apiVersion: scheduling.k8s.io/v1alpha1\nkind: Workload\nmetadata: {namespace: ml, name: train}\n"
       "spec: {podGroups: [{name: workers, policy: {gang: {minCount: PODS}}}]}\n---\n" +
           job("", ", workloadRef: {name: train, podGroup: workers}"),
       "ml/train/workers", "default"},
      {"LeaderWorkerSet",
       "apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\n"
       "metadata: {namespace: ml, name: train, annotations: {scheduling.volcano.sh/queue-name: vc-team}}\n"
       "spec:\n  replicas: 1\n  leaderWorkerTemplate:\n    size: PODS\n    workerTemplate:\n"
       "      spec: {schedulerName: volcano, containers: " +
           std::string(kContainers) + "}\n",
       "", "vc-team"},
      {"Kueue", kueue, "ml/train", "research"},
  };
}

class Submit : public testing::TestWithParam<Dialect> {
 protected:
  // The answer to a manifest with so many pods in the gang.
  Outcome answer(const std::string& pods, const std::string& more = "") const {
    const std::string from = place_.file("cluster.yaml", cluster_yaml());
    const std::string manifest = place_.file("train.yaml", replaced(GetParam().manifest, "PODS", pods));
    return place_.run("what-if --deterministic --threads 1 --format json --from " + from + " --submit " + manifest +
                      more);
  }
  Workplace place_;
};

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (part) << " is not in " << (text)

TEST_P(Submit, StartsWhereThereIsRoom) {
  const Outcome found = answer("4");
  ASSERT_EQ(found.exit_code, 0) << found.out << found.err;
  if (!GetParam().gang.empty()) {
    EXPECT_HAS(found.out, R"({"gang":")" + GetParam().gang + R"(","queue":")" + GetParam().queue);
  }
  EXPECT_HAS(found.out,
             R"("queue":")" + GetParam().queue + R"(","starts":true,"phase":"Scheduled","placed":4,"pods":4)");
  EXPECT_HAS(found.out, R"("nodes":["n1: 2","n2: 2"])");
  EXPECT_HAS(found.out, R"({"what":"gpusAllocated","before":0,"after":8})");
  EXPECT_HAS(found.out, "proven optimal");
}

TEST_P(Submit, DoesNotStartIfOneNodeIsGone) {
  const Outcome found = answer("4", " --no-remedies --cordon n2");
  ASSERT_EQ(found.exit_code, 1) << found.out << found.err;
  EXPECT_HAS(found.out, R"("starts":false,)");
  EXPECT_HAS(found.out, R"("placed":0,"pods":4)");
  EXPECT_HAS(found.out, "would not start: ");
  EXPECT_HAS(found.out, R"("filter":"Unschedulable")");
}

TEST_P(Submit, MayBeOneThatASnapshotIsAskedFor) {
  const std::string from = place_.file("cluster.yaml", cluster_yaml());
  const Outcome line = place_.run("import kubernetes --quiet " + from);
  const std::string snapshot = place_.file("cluster.json", line.out);
  const std::string manifest = place_.file("train.yaml", replaced(GetParam().manifest, "PODS", "4"));
  const std::string more = GetParam().name == "Kueue" ? " --queue research" : "";
  const Outcome found = place_.run("what-if --deterministic --threads 1 --format json --from " + snapshot +
                                   " --submit " + manifest + more);
  ASSERT_EQ(found.exit_code, 0) << found.out << found.err;
  EXPECT_HAS(found.out,
             R"("queue":")" + GetParam().queue + R"(","starts":true,"phase":"Scheduled","placed":4,"pods":4)");
}

INSTANTIATE_TEST_SUITE_P(Dialects, Submit, testing::ValuesIn(dialects()),
                         [](const auto& info) { return info.param.name; });

class SubmitTo : public testing::Test {
 protected:
  std::string from() const { return place_.file("cluster.yaml", cluster_yaml()); }
  Outcome run(const std::string& arguments, const std::string& input = "") const {
    return place_.run("what-if --deterministic --threads 1 --from " + from() + " " + arguments, input);
  }
  Workplace place_;
};

TEST_F(SubmitTo, StdinIsAManifest) {
  const Outcome found = run("--submit -", replaced(job("", ""), "PODS", "1"));
  EXPECT_EQ(found.exit_code, 0) << found.err;
  EXPECT_HAS(found.out, "The gang ml/train-0 would start now on n1; proven optimal");
  EXPECT_HAS(found.out, "Changes: --submit -\nStdin:   Job ml/train\n");
  const Outcome json = run("--cordon n2 --submit - --format json", replaced(job("", ""), "PODS", "1"));
  EXPECT_HAS(json.out, R"("changes":["--cordon n2","--submit -"],"submittedObjects":["Job ml/train"])");
}

TEST_F(SubmitTo, JsonIsAManifest) {
  const std::string file = place_.file(
      "pod.json",
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"x"}]}})");
  EXPECT_HAS(run("--submit " + file).out, "The gang default/p would start now on n");
}

TEST_F(SubmitTo, PodsOfADeploymentAreGangsByThemselves) {
  const std::string file =
      place_.file("deployment.yaml",
                  "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 6\n"
                  "  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n    spec: "
                  "{containers: " +
                      std::string(kContainers) + "}\n");
  const Outcome found = run("--submit " + file);
  EXPECT_EQ(found.exit_code, 1) << found.err;
  EXPECT_HAS(found.out, "2 of 6 gangs would not start: ");
  EXPECT_HAS(run("--submit " + file + " --add-nodes n1").out, "All 6 gangs would start; proven optimal");
}

TEST_F(SubmitTo, OnlyTemplatesOfTheManifestMakePods) {
  const std::string deployment =
      "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 3\n"
      "  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n    spec: {containers: " +
      std::string(kContainers) + "}\n";
  const std::string both = place_.file("both.yaml", cluster_yaml() + deployment);
  const Outcome found = place_.run("what-if --deterministic --format json --from " + both + " --submit -",
                                   replaced(job("", ""), "PODS", "1"));
  EXPECT_EQ(found.exit_code, 0) << found.err;
  EXPECT_HAS(found.out, R"({"what":"podsPlaced","before":0,"after":1})");
}

TEST_F(SubmitTo, ASuspendedJobIsTakenAsOneThatMayRun) {
  const std::string file =
      place_.file("job.yaml", replaced(job("", "", ", labels: {kueue.x-k8s.io/queue-name: users}"), "PODS", "1") +
                                  "  suspend: true\n");
  const Outcome found = run("--submit " + file);
  EXPECT_EQ(found.exit_code, 0) << found.err;
  EXPECT_HAS(found.out, "1 pod is suspended or gated; the answer is for when it may be scheduled");
}

TEST_F(SubmitTo, ANameThatTheApiServerCompletesIsCut) {
  const std::string text = replaced(replaced(job("", ""), "name: train}", "generateName: train-}"), "PODS", "1");
  EXPECT_HAS(run("--submit -", text).out, "The gang ml/train-0 would start now on n1");
}

TEST_F(SubmitTo, WhatTheClusterHasAlreadyIsAnError) {
  const std::string pod = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c}]}\n";
  const std::string both = place_.file("both.yaml", cluster_yaml() + pod), file = place_.file("pod.yaml", pod);
  const Outcome found = place_.run("what-if --from " + both + " --submit " + file);
  EXPECT_EQ(found.exit_code, 65);
  EXPECT_HAS(found.err, "pod.yaml: Pod default/p is already in the cluster\n");
}

TEST_F(SubmitTo, WhatCannotBeSubmittedIsAnErrorWithItsReason) {
  const auto error = [&](const std::string& text, int code) {
    const Outcome found = run("--submit -", text);
    EXPECT_EQ(found.exit_code, code) << found.out;
    return found.err;
  };
  EXPECT_HAS(error("a: [\n", 65), "muster: --submit: -: ");
  EXPECT_HAS(error("a: b\n", 65), "there are no Kubernetes objects");
  EXPECT_HAS(error("apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: t}\n", 65),
             "it makes no pod that the cluster does not have already; 1 time: PyTorchJob cannot be expanded: its spec "
             "describes no pods");
  EXPECT_EQ(run("--submit " + place_.path("none.yaml")).exit_code, 66);
  EXPECT_EQ(place_.run("what-if --submit -").exit_code, 64);
}

TEST_F(SubmitTo, AQueueThatTheClusterDoesNotHaveIsTheReason) {
  const std::string file =
      place_.file("job.yaml", replaced(job("", "", ", labels: {kueue.x-k8s.io/queue-name: missing}"), "PODS", "1"));
  const Outcome found = run("--submit " + file);
  EXPECT_EQ(found.exit_code, 1) << found.err;
  EXPECT_HAS(found.out, "The gang ml/train would not start: unknown queue");
  EXPECT_HAS(found.out,
             "job.yaml: ml/train names the queue 'missing', which does not exist; give --queue with one of ");
  EXPECT_HAS(found.out, "kai-team, ");
  EXPECT_EQ(found.out.find("Nothing that was tried"), std::string::npos) << found.out;
  EXPECT_EQ(run("--submit " + file + " --queue research").exit_code, 0);
}

// Before KAI's pod grouper has made PodGroups of them, pods belong to the queue of their label.
TEST_F(SubmitTo, TheLabelOfKaiNamesTheQueueOfAJobWithoutAPodGroup) {
  const std::string full = replaced(cluster_yaml(), "gpu: {quota: -1, limit: -1}", "gpu: {quota: 2, limit: 2}") +
                           "---\napiVersion: v1\nkind: Pod\nmetadata:\n  namespace: ml\n  name: old\n"
                           "  labels: {kai.scheduler/queue: kai-team}\nspec: {schedulerName: kai-scheduler, "
                           "nodeName: n1, containers: " +
                           std::string(kContainers) + "}\nstatus: {phase: Running}\n";
  const std::string cluster = place_.file("full.yaml", full);
  const std::string manifest =
      replaced(job("labels: {kai.scheduler/queue: kai-team}", ", schedulerName: kai-scheduler"), "PODS", "1");
  const auto answer = [&](const std::string& from) {
    return place_.run("what-if --deterministic --threads 1 --no-remedies --format json --from " + from + " --submit -",
                      manifest);
  };
  const Outcome found = answer(cluster);
  EXPECT_EQ(found.exit_code, 1) << found.err;
  EXPECT_HAS(found.out, R"({"gang":"ml/train","queue":"kai-team","starts":false)");
  EXPECT_HAS(found.out, R"("reason":"LimitExceeded")");
  const Outcome saved = answer(place_.file("full.json", place_.run("import kubernetes --quiet " + cluster).out));
  EXPECT_EQ(saved.exit_code, 1) << saved.err;
  EXPECT_HAS(saved.out, R"("reason":"LimitExceeded")") << "the label counts for a snapshot, too";
  EXPECT_HAS(answer(from()).out, R"("queue":"kai-team","starts":true)");
}

}  // namespace
}  // namespace muster::cli
