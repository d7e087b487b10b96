#include "cli/answers/names.h"

#include <string>

#include <gtest/gtest.h>

#include "test/support/case.h"
#include "test/support/cluster.h"

namespace muster::cli {
namespace {

// Gangs as the import of Kubernetes objects names them.
Snapshot cluster() {
  test::Cluster cluster;
  cluster.node("gpu-1.example.com", 8).node("gpu-2.example.com", 8).node("cpu", 0);
  cluster.queue("research").queue("team-a@kueue.x-k8s.io");
  for (const char* gang :
       {"ml/train", "lab/train", "ml/pg-sweep-0a1b", "ml/lab-work/workers", "ml/pair/a", "ml/pair/b", "ml/lr-7"})
    cluster.gang(gang);
  const auto pod = [&](const std::string& space, const std::string& name, const std::string& more = "") {
    cluster.pod(space + "/" + name, 1, R"("namespace":")" + space + '"' + more);
  };
  pod("ml", "train-0", R"(,"gang":"ml/train")");
  pod("lab", "train-0", R"(,"gang":"lab/train")");
  pod("ml", "sweep-x7k2p", R"(,"gang":"ml/pg-sweep-0a1b","labels":{"batch.kubernetes.io/job-name":"sweep"})");
  pod("ml", "workers-0", R"(,"gang":"ml/lab-work/workers")");
  pod("ml", "pair-a", R"(,"gang":"ml/pair/a")");
  pod("ml", "pair-b", R"(,"gang":"ml/pair/b")");
  pod("ml", "notebook");
  pod("ml", "web-5d9-aaaaa", R"(,"labels":{"pod-template-hash":"5d9"})");
  pod("ml", "web-5d9-bbbbb", R"(,"labels":{"pod-template-hash":"5d9"})");
  pod("lab", "db-0", R"(,"labels":{"statefulset.kubernetes.io/pod-name":"db-0"})");
  pod("ml", "lr-a", R"(,"owner":"PyTorchJob/lr","gang":"ml/lr-7")");
  pod("ml", "lr-b", R"(,"owner":"PyTorchJob/lr","gang":"ml/lr-7")");
  pod("ml", "night-29-x", R"(,"owner":"CronJob/night","labels":{"batch.kubernetes.io/job-name":"night-29"})");
  pod("lab", "api-1", R"(,"owner":"Deployment/api")");
  pod("ml", "sts-1", R"(,"owner":"StatefulSet/cache")");
  return test::Case::read(cluster.line());
}

std::string gang(const std::string& typed, const std::string& default_namespace = "") {
  static const Snapshot snapshot = cluster();
  const Result<std::string> name = resolve_gang(snapshot, typed, default_namespace);
  return name ? *name : name.error().message;
}
std::string node(const std::string& typed) {
  static const Snapshot snapshot = cluster();
  const Result<std::string> name = resolve_node(snapshot, typed);
  return name ? *name : name.error().message;
}
std::string queue(const Snapshot& snapshot, const std::string& typed) {
  const Result<std::string> name = resolve_queue(snapshot, typed);
  return name ? *name : name.error().message;
}

TEST(GangNames, AreTakenAsTheyAre) {
  EXPECT_EQ(gang("lab/train"), "lab/train");
  EXPECT_EQ(gang("lab/train", "ml"), "lab/train");
  EXPECT_EQ(gang("ml/lab-work/workers"), "ml/lab-work/workers");
  EXPECT_EQ(gang("ml/notebook"), "ml/notebook");
}

TEST(GangNames, OfTheDefaultNamespaceComeFirst) {
  EXPECT_EQ(gang("train", "ml"), "ml/train");
  EXPECT_EQ(gang("train", "lab"), "lab/train");
  EXPECT_EQ(gang("train-0", "lab"), "lab/train");
  EXPECT_EQ(gang("notebook", "lab"), "ml/notebook");
  EXPECT_EQ(gang("workers"), "ml/lab-work/workers");
  EXPECT_EQ(gang("lab-work"), "ml/lab-work/workers");
}

TEST(GangNames, ThatAreAmbiguousAreListed) {
  EXPECT_EQ(gang("train"), "'train' may be any of 2 gangs: lab/train, ml/train; name one");
  EXPECT_EQ(gang("pod/train-0"), "'pod/train-0' may be any of 2 gangs: lab/train, ml/train; name one");
  EXPECT_EQ(gang("pair", "ml"), "'pair' may be any of 2 gangs: ml/pair/a, ml/pair/b; name one");
  EXPECT_EQ(gang("deploy/web"), "'deploy/web' may be any of 2 gangs: ml/web-5d9-aaaaa, ml/web-5d9-bbbbb; name one");
}

TEST(GangNames, OfAPodOrOfTheObjectThatMadeItsPodsAreThoseOfItsGang) {
  EXPECT_EQ(gang("pod/sweep-x7k2p"), "ml/pg-sweep-0a1b");
  EXPECT_EQ(gang("ml/sweep-x7k2p"), "ml/pg-sweep-0a1b");
  EXPECT_EQ(gang("job/sweep"), "ml/pg-sweep-0a1b");
  EXPECT_EQ(gang("jobs.batch/ml/sweep"), "ml/pg-sweep-0a1b");
  EXPECT_EQ(gang("sweep"), "ml/pg-sweep-0a1b");
  EXPECT_EQ(gang("statefulset/db"), "lab/db-0");
  EXPECT_EQ(gang("podgroup/pg-sweep-0a1b"), "ml/pg-sweep-0a1b");
  EXPECT_EQ(gang("pod/lab/train-0", "ml"), "lab/train");
}

TEST(GangNames, OfAnOutermostOwnerAreThoseOfItsPods) {
  EXPECT_EQ(gang("pytorchjob/lr"), "ml/lr-7");
  EXPECT_EQ(gang("PyTorchJob/lr"), "ml/lr-7");
  EXPECT_EQ(gang("pytorchjobs.kubeflow.org/ml/lr"), "ml/lr-7");
  EXPECT_EQ(gang("lr"), "ml/lr-7");
  EXPECT_EQ(gang("cronjob/night"), "ml/night-29-x");
  EXPECT_EQ(gang("cj/night"), "ml/night-29-x");
  EXPECT_EQ(gang("job/night-29"), "ml/night-29-x") << "labels tell of the owners below";
  EXPECT_EQ(gang("deploy/api", "ml"), "lab/api-1");
  EXPECT_EQ(gang("sts/cache"), "ml/sts-1");
  EXPECT_EQ(gang("job/night"), "no gang or pod 'job/night' in the cluster");
  EXPECT_EQ(gang("mpijob/lr"), "no gang or pod 'mpijob/lr' in the cluster");
  EXPECT_EQ(gang("nigth"), "no gang or pod 'nigth' in the cluster; did you mean 'night'?");
}

TEST(GangNames, OfAnotherKindAreNotTaken) {
  EXPECT_EQ(gang("job/notebook"), "no gang or pod 'job/notebook' in the cluster");
  EXPECT_EQ(gang("podgroup/notebook"), "no gang or pod 'podgroup/notebook' in the cluster");
  EXPECT_EQ(gang("pod/pg-sweep-0a1b"), "no gang or pod 'pod/pg-sweep-0a1b' in the cluster");
  EXPECT_EQ(gang("research/train"), "no gang or pod 'research/train' in the cluster");
}

TEST(GangNames, ThatAreUnknownNameTheNearest) {
  EXPECT_EQ(gang("notebok"), "no gang or pod 'notebok' in the cluster; did you mean 'notebook'?");
  EXPECT_EQ(gang("ml/trian"), "no gang or pod 'ml/trian' in the cluster; did you mean 'ml/train'?");
  EXPECT_EQ(gang(""), "no gang or pod '' in the cluster");
  EXPECT_EQ(gang("/"), "no gang or pod '/' in the cluster");
}

TEST(NodeNames, MayLackTheirDomain) {
  EXPECT_EQ(node("gpu-2"), "gpu-2.example.com");
  EXPECT_EQ(node("node/gpu-1.example.com"), "gpu-1.example.com");
  EXPECT_EQ(node("nodes/cpu"), "cpu");
  EXPECT_EQ(node("gpu"), "no node 'gpu' in the cluster; did you mean 'cpu'?");
}

TEST(QueueNames, MayLackTheirSystem) {
  const Snapshot snapshot = cluster();
  EXPECT_EQ(queue(snapshot, "team-a"), "team-a@kueue.x-k8s.io");
  EXPECT_EQ(queue(snapshot, "queue/research"), "research");
  EXPECT_EQ(queue(snapshot, "reserch"),
            "no queue 'reserch' in the cluster (queues: research, team-a@kueue.x-k8s.io); did you mean 'research'?");
  EXPECT_EQ(queue(test::Case::read(test::Cluster().node("n", 1).line()), "default"), "default");
}

}  // namespace
}  // namespace muster::cli
