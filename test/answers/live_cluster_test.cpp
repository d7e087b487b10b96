// `--from kubectl`, against a script in place of kubectl that answers from files and notes its calls.
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/answers/cluster.h"
#include "cli/terminal/children.h"
#include "cli/terminal/console.h"
#include "io/kubernetes/import.h"
#include "io/snapshot_writer/write_snapshot.h"
#include "test/answers/fake_kubectl.h"
#include "test/cli/program.h"
#include "test/support/paths.h"

namespace muster::cli {
namespace {

std::string forbidden(const std::string& kind) {
  return "E0301 10:00:00.000000       1 memcache.go:1] \"Unhandled Error\"\nError from server (Forbidden): " + kind +
         " is forbidden: User \"u\" cannot list resource \"" + kind + "\"\n";
}

// What read_cluster returned, and what stood on stderr.
struct Reading {
  std::variant<ClusterInput, int> result;
  std::string err;
  const ClusterInput& cluster() const { return std::get<ClusterInput>(result); }
  int exit_code() const { return std::holds_alternative<int>(result) ? std::get<int>(result) : -1; }
};

class LiveCluster : public testing::Test {
 protected:
  LiveCluster() : kubectl_(install_fake_kubectl(place_)) {
    place_.file("pods", fake_list(fake_pod("a") + "," + fake_pod("b")));
  }

  // The server has further kinds, as rows of `kubectl api-resources`.
  void serve(const std::string& rows) const { place_.file("resources", place_.content("resources") + rows); }

  Reading read(std::vector<std::string> words) const {
    words.insert(words.begin(), "test");
    std::vector<const char*> arguments;
    for (const std::string& word : words) arguments.push_back(word.c_str());
    const Settings settings({"muster test", "", with_cluster_options({})}, static_cast<int>(arguments.size()),
                            arguments.data());
    testing::internal::CaptureStderr();
    std::variant<ClusterInput, int> result = read_cluster(settings);
    return {std::move(result), testing::internal::GetCapturedStderr()};
  }
  Reading read_live(std::vector<std::string> words = {}) const {
    words.insert(words.end(), {"--from", "kubectl", "--kubectl", kubectl_});
    return read(words);
  }

  std::vector<std::string> calls() const {
    std::vector<std::string> calls = lines_of(place_.content("calls"));
    std::ranges::sort(calls);
    return calls;
  }

  Workplace place_;
  std::string kubectl_;
};

std::string text(const Snapshot& snapshot) {
  std::string line;
  snapshot_writer::write_snapshot(snapshot, line);
  return line;
}

TEST_F(LiveCluster, HasTheKindsThatTheServerListsAndMusterReads) {
  serve(
      "services               svc  v1      true    Service\n"
      "deployments                 apps/v1 true    Deployment\n"
      "replicasets                 apps/v1 true    ReplicaSet\n"
      "podgroups  pg,podgroup scheduling.run.ai/v2alpha2 true  PodGroup\n"
      "queues                 scheduling.run.ai/v2 false Queue\n");
  place_.file(
      "deployments.v1.apps",
      fake_list(
          R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"ml"},"spec":{}})"));
  place_.file("podgroups.v2alpha2.scheduling.run.ai", fake_list(""));
  place_.file(
      "queues.v2.scheduling.run.ai",
      fake_list(R"({"apiVersion":"scheduling.run.ai/v2","kind":"Queue","metadata":{"name":"team"},"spec":{}})"));
  place_.file("namespace", "ml");
  const Reading live = read_live();
  ASSERT_EQ(live.exit_code(), -1) << live.err;
  EXPECT_EQ(live.err, "");
  EXPECT_EQ(live.cluster().snapshot.nodes.size(), 1U);
  EXPECT_EQ(live.cluster().snapshot.pods.size(), 2U);
  EXPECT_EQ(live.cluster().snapshot.queues.at(0).name, "team");
  EXPECT_EQ(live.cluster().namespace_name, "ml");
  EXPECT_TRUE(live.cluster().is_kubernetes);
  EXPECT_NE(live.cluster().objects.find(R"("name":"web")"), std::string::npos);
  EXPECT_EQ(calls(), (std::vector<std::string>{
                         "api-resources --verbs=list --no-headers", "config view --minify -o jsonpath={..namespace}",
                         "get deployments.v1.apps -o json --all-namespaces", "get nodes -o json",
                         "get podgroups.v2alpha2.scheduling.run.ai -o json --all-namespaces",
                         "get pods -o json --all-namespaces", "get queues.v2.scheduling.run.ai -o json"}));
}

TEST_F(LiveCluster, HasTheTimeOfTheClock) {
  const Reading live = read_live();
  constexpr Nanoseconds kYear2026 = 1'767'225'600 * kNanosecondsPerSecond;
  EXPECT_GT(live.cluster().snapshot.time, kYear2026);
  EXPECT_EQ(read_live({"--time", "1000000"}).cluster().snapshot.time, 1'000'000 * kNanosecondsPerSecond);
}

TEST_F(LiveCluster, WithoutAKindThatIsForbiddenSaysWhatItCosts) {
  serve("persistentvolumeclaims pvc  v1      true    PersistentVolumeClaim\n");
  place_.file("persistentvolumeclaims.error", forbidden("persistentvolumeclaims"));
  const Reading live = read_live();
  EXPECT_EQ(live.err,
            "muster: cannot list persistentvolumeclaims: volumes do not restrict the nodes of their pods (Error from "
            "server (Forbidden): persistentvolumeclaims is forbidden: User \"u\" cannot list resource "
            "\"persistentvolumeclaims\")\n");
  ASSERT_EQ(live.cluster().snapshot.anomalies.warnings.size(), 1U);
  EXPECT_EQ(read_live({"--quiet"}).err, "");
}

TEST_F(LiveCluster, OfOneNamespaceSaysThatTheUsageOfOthersIsUnknown) {
  place_.file("pods.forbidden", forbidden("pods"));
  const Reading named = read_live({"-n", "ml"});
  ASSERT_EQ(named.exit_code(), -1) << named.err;
  EXPECT_EQ(named.cluster().snapshot.pods.size(), 2U);
  EXPECT_TRUE(
      named.err.starts_with("muster: cannot list pods of all namespaces, only of ml: what other pods use is "
                            "unknown"))
      << named.err;
  EXPECT_EQ(calls().back(), "get pods -o json --namespace ml");
  const Reading unnamed = read_live();
  EXPECT_NE(unnamed.err.find("only of default"), std::string::npos) << unnamed.err;
  EXPECT_EQ(std::ranges::count(calls(), "get pods -o json"), 1);
}

TEST_F(LiveCluster, WithoutNodesIsRefused) {
  place_.file("nodes.error", forbidden("nodes"));
  const Reading live = read_live();
  EXPECT_EQ(live.exit_code(), kExitNoInput);
  EXPECT_EQ(live.err,
            "muster: cannot list nodes: Error from server (Forbidden): nodes is forbidden: User \"u\" cannot list "
            "resource \"nodes\"; Muster needs the permission to list nodes and pods\n");
}

TEST_F(LiveCluster, IsReadThoughAnAggregatedApiIsDown) {
  place_.file("down",
              "error: unable to retrieve the complete list of server APIs: metrics.k8s.io/v1beta1: the server is "
              "currently unable to handle the request\n");
  EXPECT_EQ(read_live().err, "");
  place_.file("down",
              "error: unable to retrieve the complete list of server APIs: metrics.k8s.io/v1beta1: x, "
              "scheduling.volcano.sh/v1beta1: x\n");
  EXPECT_EQ(
      read_live().err,
      "muster: the API server cannot describe scheduling.volcano.sh, so PodGroup and other kinds of this group are "
      "missing: pods that refer to one are held and not planned\n");
}

TEST_F(LiveCluster, IsAskedForEachVersionThatMusterReads) {
  serve("workloads wl kueue.x-k8s.io/v1 true Workload\nqueues q scheduling.volcano.sh/v2 false Queue\n");
  place_.file("workloads.v1beta1.kueue.x-k8s.io", fake_list(""));
  const Reading live = read_live();
  EXPECT_EQ(live.err,
            "muster: cannot list queues.scheduling.volcano.sh: gangs that name one of these queues are not planned "
            "(error: the "
            "server doesn't have a resource type \"queues.v1beta1.scheduling.volcano.sh\")\n");
  EXPECT_EQ(std::ranges::count(calls(), "get workloads.v1beta2.kueue.x-k8s.io -o json --all-namespaces"), 1);
  EXPECT_EQ(std::ranges::count(calls(), "get workloads.v1beta1.kueue.x-k8s.io -o json --all-namespaces"), 1);
}

TEST_F(LiveCluster, IsReadByOldKubectlWhichNamesNoVersions) {
  place_.file("resources", "nodes no false Node\npods po true Pod\ndeployments deploy apps true Deployment\n");
  place_.file("deployments.v1.apps", fake_list(""));
  EXPECT_EQ(read_live().err, "");
  EXPECT_EQ(std::ranges::count(calls(), "get deployments.v1.apps -o json --all-namespaces"), 1);
}

TEST_F(LiveCluster, IsThatOfTheContextAndOfTheUrl) {
  const Reading live = read_live({"--context", "prod", "--kubeconfig", "/etc/kube config"});
  ASSERT_EQ(live.exit_code(), -1);
  for (const std::string& call : calls())
    EXPECT_TRUE(call.ends_with(" --context=prod --kubeconfig=/etc/kube config")) << call;
  place_.file("calls", "");
  ASSERT_EQ(read({"--from", "http://127.0.0.1:8001", "--kubectl", kubectl_}).exit_code(), -1);
  for (const std::string& call : calls()) EXPECT_TRUE(call.ends_with(" --server=http://127.0.0.1:8001")) << call;
  place_.file("calls", "");
  ASSERT_EQ(read({"--context", "prod", "--kubectl", kubectl_}).exit_code(), -1);
  EXPECT_EQ(calls().size(), 4U);
}

TEST_F(LiveCluster, WithoutKubectlIsRefused) {
  const Reading live = read({"--from", "kubectl", "--kubectl", place_.path("missing")});
  EXPECT_EQ(live.exit_code(), kExitNoInput);
  EXPECT_EQ(live.err,
            "muster: " + place_.path("missing") +
                ": No such file or directory; install kubectl, name it with --kubectl PATH, or give --from FILE\n");
}

TEST_F(LiveCluster, ThatDoesNotAnswerIsRefusedInTheWordsOfKubectl) {
  place_.file("resources", "");
  place_.file("down",
              "E0301 10:00:00.000000       1 memcache.go:265] \"Unhandled Error\" err=\"...\"\n"
              "The connection to the server 10.0.0.1:6443 was refused - did you specify the right host or port?\n");
  const Reading live = read_live();
  EXPECT_EQ(live.exit_code(), kExitNoInput);
  EXPECT_EQ(
      live.err,
      "muster: The connection to the server 10.0.0.1:6443 was refused - did you specify the right host or port?\n");
}

TEST_F(LiveCluster, ThatHasNoPodsIsRefused) {
  place_.file("resources", "nodes no v1 false Node\n");
  const Reading live = read_live();
  EXPECT_EQ(live.exit_code(), kExitNoInput);
  EXPECT_EQ(live.err, "muster: the API server does not list nodes and pods, so there is nothing to answer about\n");
}

TEST_F(LiveCluster, MayBeLarge) {
  std::string pods = fake_pod("p0");
  for (int i = 1; i < 20'000; ++i) pods += ",\n" + fake_pod("p" + std::to_string(i));
  place_.file("pods", fake_list(pods));
  const Reading live = read_live();
  ASSERT_EQ(live.exit_code(), -1) << live.err;
  EXPECT_EQ(live.cluster().snapshot.pods.size(), 20'000U);
}

TEST_F(LiveCluster, ThatIsSavedGivesTheSameSnapshot) {
  serve("csinodes storage.k8s.io/v1 false CSINode\n");
  place_.file("csinodes.v1.storage.k8s.io.error", forbidden("csinodes"));
  const Reading live = read_live({"--save", place_.path("saved")});
  ASSERT_EQ(live.exit_code(), -1) << live.err;
  EXPECT_EQ(place_.content("saved"), kubernetes::line_of(live.cluster().snapshot) + "\n");
  const Reading again = read({"--from", place_.path("saved")});
  ASSERT_EQ(again.exit_code(), -1) << again.err;
  EXPECT_EQ(text(again.cluster().snapshot), text(live.cluster().snapshot));
  EXPECT_EQ(again.err, live.err);  // what could not be read is known there, too
  EXPECT_FALSE(again.cluster().is_kubernetes);
}

TEST_F(LiveCluster, ThatCannotBeSavedIsAnError) {
  EXPECT_EQ(read_live({"--save", place_.path("missing/saved")}).exit_code(), kExitCannotCreate);
  EXPECT_EQ(read_live({"--save", "/dev/full"}).exit_code(), kExitCannotWrite);
}

TEST_F(LiveCluster, MayComeFromFilesOfAllForms) {
  const std::string one_line =
      text(read({"--from", place_.file("c.json", std::string(kFakeNode) + "\n" + fake_list(fake_pod("a")))})
               .cluster()
               .snapshot);
  EXPECT_NE(one_line.find("ml/a"), std::string::npos);
  EXPECT_NE(one_line.find("n1"), std::string::npos);
  const Reading last = read({"--from", place_.file("old.jsonl", R"({"format":"muster/v1","time":1})"
                                                                "\n" +
                                                                    one_line + "\n\n")});
  EXPECT_EQ(text(last.cluster().snapshot), one_line);
  const Reading yaml = read({"--from", place_.file("c.yaml",
                                                   "apiVersion: v1\nkind: Node\nmetadata: {name: y1}\n---\n"
                                                   "apiVersion: v1\nkind: Node\nmetadata: {name: y2}\n")});
  EXPECT_EQ(yaml.cluster().snapshot.nodes.size(), 2U);
  EXPECT_TRUE(yaml.cluster().is_kubernetes);
  const Reading pretty = read({"--from", place_.file("pretty.json",
                                                     "{\n  \"format\": \"muster/v1\",\n  \"time\": 7,\n"
                                                     "  \"nodes\": [\n    {\n      \"name\": \"x\"\n    }\n  ]\n}\n")});
  ASSERT_EQ(pretty.exit_code(), -1) << pretty.err;
  EXPECT_EQ(pretty.cluster().snapshot.nodes.at(0).name, "x");
}

TEST_F(LiveCluster, ThatIsAFileMayBeBroken) {
  EXPECT_EQ(read({"--from", place_.file("empty", " \n")}).exit_code(), kExitNoInput);
  EXPECT_EQ(read({"--from", place_.path("missing")}).exit_code(), kExitNoInput);
  EXPECT_EQ(read({"--from", place_.file("bad.yaml", "a: [")}).exit_code(), kExitNoValidLine);
  EXPECT_EQ(read({"--from", place_.file("bad.json", R"({"format":"muster/v1","time":1,"nodes":[)")}).exit_code(),
            kExitNoValidLine);
}

TEST_F(LiveCluster, IsSolvedAndGivesTheSamePlanAgain) {
  const std::string options = " --deterministic --quiet -o json";
  const Outcome live =
      place_.run("solve --from kubectl --kubectl " + kubectl_ + " --save " + place_.path("saved") + options);
  ASSERT_EQ(live.exit_code, 0) << live.err;
  EXPECT_NE(live.out.find(R"("pod":"ml/a","node":"n1")"), std::string::npos) << live.out;
  EXPECT_EQ(place_.run("solve " + place_.path("saved") + options).out, live.out);
  EXPECT_EQ(place_.run("solve --from " + place_.path("saved") + options).out, live.out);
}

TEST_F(LiveCluster, IsSolvedWithWhatCouldNotBeListedAsWarnings) {
  serve("csinodes storage.k8s.io/v1 false CSINode\n");
  const Outcome live = place_.run("solve --from kubectl -o json", "", "MUSTER_KUBECTL=" + kubectl_);
  ASSERT_EQ(live.exit_code, 0) << live.err;
  EXPECT_NE(live.out.find("cannot list csinodes.storage.k8s.io: limits on the volumes of a node do not count"),
            std::string::npos)
      << live.out;
}

TEST_F(LiveCluster, IsNotReadBesideFiles) { EXPECT_EQ(place_.run("solve --from kubectl file").exit_code, kExitUsage); }

TEST_F(LiveCluster, IsTheDefaultOfThePluginOfKubectl) {
  const std::string plugin = place_.path("kubectl-muster");
  ASSERT_EQ(place_.shell("ln -s " + test::program() + " " + plugin).exit_code, 0);
  const Outcome solved = place_.shell("MUSTER_KUBECTL=" + kubectl_ + " " + plugin + " solve -o table");
  EXPECT_EQ(solved.exit_code, 0) << solved.err;
  EXPECT_NE(solved.out.find("ml/b"), std::string::npos) << solved.out;
  EXPECT_TRUE(place_.shell(plugin + " solve --help").out.starts_with("Usage: kubectl muster solve "));
  EXPECT_NE(place_.shell(plugin + " help").out.find("Usage: kubectl muster COMMAND"), std::string::npos);
  EXPECT_TRUE(place_.run("solve --help").out.starts_with("Usage: muster solve "));
}

TEST_F(LiveCluster, ThatTakesTooLongMayBeInterrupted) {
  place_.file("kubectl", "#!/bin/sh\necho $$ > " + place_.path("child") + "\nexec sleep 600\n");
  const Outcome ended =
      place_.shell("timeout --preserve-status 1 " + test::program() + " solve --from kubectl --kubectl " + kubectl_);
  EXPECT_EQ(ended.exit_code, kExitSignalled + SIGTERM);
  EXPECT_EQ(kill(std::stoi(place_.content("child")), 0), -1);
}

TEST(Children, PrintOnBothStreamsAtOnce) {
  const std::string flood =
      "i=0; while [ $i -lt 3000 ]; do echo 0123456789012345678901234567890123456789; "
      "echo abcdefghijklmnopqrstuvwxyzabcdefghijklmnop >&2; i=$((i+1)); done";
  const auto ended = run_children({{"sh", "-c", flood}, {"sh", "-c", "exit 3"}, {"sh", "-c", "kill -KILL $$"}}, 2);
  ASSERT_TRUE(ended);
  EXPECT_EQ((*ended)[0].exit_code, 0);
  EXPECT_EQ((*ended)[0].out.size(), 3000U * 41);
  EXPECT_EQ((*ended)[0].err.size(), 3000U * 43);
  EXPECT_EQ((*ended)[1].exit_code, 3);
  EXPECT_EQ((*ended)[2].exit_code, 128 + SIGKILL);
}

TEST(Children, ReadNothing) {
  const auto ended = run_children({{"cat"}}, 1);
  ASSERT_TRUE(ended);
  EXPECT_EQ((*ended)[0].out, "");
}

// As a plugin for authentication does that waits for a login.
void show_a_prompt_on_a_terminal() {
  int terminal = -1, ours = -1;
  if (openpty(&terminal, &ours, nullptr, nullptr, nullptr) != 0) std::_Exit(1);
  dup2(ours, STDERR_FILENO);
  static_cast<void>(run_children({{"sh", "-c", "echo enter the code ABC >&2; sleep 4"}}, 1));
  fcntl(terminal, F_SETFL, O_NONBLOCK);
  std::array<char, 100> seen{};
  const ssize_t size = ::read(terminal, seen.data(), seen.size() - 1);
  std::_Exit(size > 0 && std::string_view(seen.data()).starts_with("enter the code ABC") ? 0 : 1);
}

TEST(ChildrenDeathTest, ShowWhatTheySayBeforeTheyWait) {
  EXPECT_EXIT(show_a_prompt_on_a_terminal(), testing::ExitedWithCode(0), "");
}

TEST(ChildrenDeathTest, AreKilledAndReapedBeforeASignalEndsTheProgram) {
  const Workplace place;
  const std::string note = "echo $$ > " + place.path("child") + "; kill -TERM $PPID; exec sleep 600";
  EXPECT_EXIT(run_children({{"sh", "-c", note}}, 1), testing::KilledBySignal(SIGTERM), "");
  const int child = std::stoi(place.content("child"));
  EXPECT_EQ(kill(child, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

}  // namespace
}  // namespace muster::cli
