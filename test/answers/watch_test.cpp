// `--watch` of top and why: files, a live cluster, terminals, and failures.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "test/answers/fake_kubectl.h"
#include "test/cli/program.h"
#include "test/support/cluster.h"
#include "test/support/paths.h"

namespace muster::cli {
namespace {

// A gang that waits, of this many pods of four GPUs; the cluster has two nodes of four.
std::string cluster(int pods) {
  test::Cluster cluster;
  cluster.queue("q", R"("gpu":{"quota":8})").node("n1", 4).node("n2", 4);
  cluster.gang("ns/g", "\"queue\":\"q\",\"minMember\":" + std::to_string(pods))
      .pods("ns/g", pods, 4, R"("gang":"ns/g")");
  return cluster.line() + "\n";
}

class Watch : public testing::Test {
 protected:
  static bool wait_for(const std::function<bool()>& condition) {
    for (int i = 0; i < 1200; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(25));
    }
    return false;
  }

  // Runs `muster` with these arguments and takes each step once there is one more line of output; ends it by a signal
  // after the last of them.
  Outcome watch(const std::string& arguments, const std::vector<std::function<void()>>& steps) const {
    std::thread actor([&] {
      const auto wait_for_lines = [&](std::size_t count) {
        EXPECT_TRUE(wait_for([&] { return lines_of(place_.content("out")).size() >= count; })) << arguments;
      };
      for (std::size_t i = 0; i < steps.size(); ++i) {
        wait_for_lines(i + 1);
        steps[i]();
      }
      wait_for_lines(steps.size() + 1);
      std::this_thread::sleep_for(std::chrono::milliseconds(200));  // nothing more is printed
      place_.file("stop", "");
    });
    const Outcome outcome =
        place_.shell("'" + test::program() + "' " + arguments + " --watch 20ms --format json > " + place_.path("out") +
                     " & pid=$!; for i in $(seq 2400); do [ -e " + place_.path("stop") +
                     " ] && break; sleep 0.025; done; kill -TERM $pid; wait $pid");
    actor.join();
    return {outcome.exit_code, place_.content("out"), outcome.err};
  }

  Workplace place_;
};

TEST_F(Watch, GivesTheAnswerAgainWhenTheFileHasChanged) {
  const std::string why = " --deterministic --no-remedies --from ";
  for (const std::string& command : {std::string("top "), std::string("top gangs "), "why" + why, "why g" + why}) {
    const std::string file = place_.file("s.jsonl", cluster(3));
    std::filesystem::remove(place_.path("stop"));
    place_.file("out", "");
    const auto once = [&] { return place_.run(command + file + " --format json").out; };
    const std::string before = once();
    const Outcome outcome = watch(command + file, {[&] { std::ofstream(file, std::ios::app) << cluster(4); }});
    EXPECT_EQ(outcome.exit_code, 128 + 15) << outcome.err;
    EXPECT_NE(once(), before) << command;
    EXPECT_EQ(outcome.out, before + once()) << command;
  }
}

TEST_F(Watch, ReadsALiveClusterAgainAndWaitsForOneThatDoesNotAnswer) {
  const std::string kubectl = install_fake_kubectl(place_);
  const std::string source = " --time 2000000000 --from kubectl --kubectl " + kubectl;
  const auto fail = [&] {
    place_.file("nodes.error", "error: no route to host\n");
    EXPECT_TRUE(wait_for([&] { return place_.content(".err").find("no route to host") != std::string::npos; }));
    place_.file("pods", fake_list(fake_pod("a")));
    std::filesystem::remove(place_.path("nodes.error"));
  };
  const Outcome outcome = watch("top gangs" + source, {fail});
  EXPECT_EQ(outcome.exit_code, 128 + 15) << outcome.err;
  const std::vector<std::string> lines = lines_of(outcome.out);
  ASSERT_EQ(lines.size(), 2U) << "once for each change: " << outcome.out;
  EXPECT_EQ(lines[0].find("ml/a"), std::string::npos);
  EXPECT_NE(lines[1].find("ml/a"), std::string::npos);
}

TEST_F(Watch, EndsIfTheFirstAnswerCannotBeGiven) {
  const std::string file = place_.file("s.jsonl", cluster(3));
  const struct {
    std::string arguments;
    int exit_code;
    const char* named;
  } cases[] = {{"top no-such-file", 66, "no-such-file"},
               {"why --from no-such-file", 66, "no-such-file"},
               {"why unknown --from " + file, 65, "unknown"},
               {"top", 64, "stdin cannot be read again"},
               {"why", 64, "stdin cannot be read again"},
               {"why --plan - --from " + file, 64, "stdin cannot be read again"},
               {"top gangs --plans - " + file, 64, "stdin cannot be read again"}};
  for (const auto& one : cases) {
    const Outcome outcome = place_.run(one.arguments + " --watch 20ms");
    EXPECT_EQ(outcome.exit_code, one.exit_code) << one.arguments << ": " << outcome.err;
    EXPECT_NE(outcome.err.find(one.named), std::string::npos) << one.arguments << ": " << outcome.err;
    EXPECT_EQ(outcome.out, "") << one.arguments;
  }
  EXPECT_EQ(place_.run("why --plan -").exit_code, 64) << "stdin is the cluster already";
}

TEST_F(Watch, ErasesATerminalOnlyAndHasRemarksBelowTheAnswer) {
  const std::string kubectl = install_fake_kubectl(place_);
  place_.file("resources", place_.content("resources") + "csinodes storage.k8s.io/v1 false CSINode\n");
  place_.file("csinodes.v1.storage.k8s.io.error", "error: forbidden\n");
  for (const char* command : {"top", "why"}) {
    const std::string program = test::program() + " " + command + " --watch 500ms --from kubectl --kubectl " + kubectl;
    const Outcome piped = place_.shell("timeout -s INT 3 " + program);
    EXPECT_EQ(piped.out.find('\x1b'), std::string::npos) << piped.out;
    EXPECT_NE(piped.err.find("cannot list csinodes"), std::string::npos) << piped.err;
    const std::string shown = place_.shell("timeout -s INT 3 script -qec \"" + program + "\" /dev/null").out;
    const std::size_t erased = shown.find("\x1b[H\x1b[2J"), remark = shown.find("cannot list csinodes");
    ASSERT_NE(erased, std::string::npos) << shown;
    ASSERT_NE(remark, std::string::npos) << shown;
    EXPECT_LT(erased, remark) << shown;
  }
}

}  // namespace
}  // namespace muster::cli
