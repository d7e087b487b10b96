// What an answer prints to be pasted into a shell means there what it says.
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "test/cli/program.h"
#include "test/support/cluster.h"
#include "test/support/paths.h"

namespace muster::cli {
namespace {

using Json = nlohmann::json;

// Names that muster/v1 allows and a shell, or a reader of NAME=VALUE, could misread.
const std::string kGang = "it's $HOME; a=b", kQueue = "a queue=`x`", kBusy = "busy \\\"one\\\" *", kNode = "n=1 (new)";

std::string cluster() {
  test::Cluster cluster;
  cluster.queue(kQueue).queue("other").node(kNode, 4).node("open", 4);
  cluster.node("closed & 'old'", 4, R"("unschedulable":true)");
  cluster.node("2x4", 4, R"("taints":[{"key":"team","value":"x","effect":"NoSchedule"}])");
  cluster.running(kBusy, kNode, 4, R"("queue":"other","preemptible":false)");
  cluster.gang(kGang, R"("minMember":2,"queue":")" + kQueue + R"(")");
  cluster.pods(kGang, 2, 4, R"("gang":")" + kGang + R"(")");
  return cluster.line();
}

class Paste : public testing::Test {
 protected:
  // /bin/sh reads the line.
  Json what_if(const std::string& options) const {
    const Outcome found =
        place_.shell(test::program() + " what-if --deterministic --format json --from " + snapshot_ + " " + options);
    EXPECT_EQ(found.exit_code, 0) << options << "\n" << found.err;
    return Json::parse(found.out, nullptr, false);
  }
  Workplace place_;
  std::string snapshot_ = place_.file("snapshot.json", cluster() + "\n");
};

TEST_F(Paste, OptionsOfRemediesDoWhatTheyPromise) {
  const Outcome why = place_.run("why --deterministic --all --format json --from " + snapshot_);
  ASSERT_EQ(why.exit_code, 0) << why.err;
  std::set<std::string> kinds;
  const Json all = Json::parse(why.out);
  for (const Json& remedy : all["remedies"]) {
    kinds.insert(remedy["kind"]);
    const std::string options = remedy["options"];
    const Json answer = what_if(options);
    std::string changes;
    for (const std::string change : answer["changes"]) changes += (changes.empty() ? "" : " ") + change;
    EXPECT_EQ(changes, options);
    EXPECT_NE(answer["notes"][0].get<std::string>().find("1 gang more would have room (" + kGang + ")"),
              std::string::npos)
        << answer["notes"];
  }
  for (const char* kind : {"uncordon", "tolerate", "lowerMinimum", "stop", "addNodes"})
    EXPECT_TRUE(kinds.contains(kind)) << kind;
}

TEST_F(Paste, ListsOfChangesGiveTheSameChangesAgain) {
  const std::string options =
      R"(--cordon 'n=1 (new)' --uncordon 'closed & '"'"'old'"'"'' --add-nodes '2xn=1 (new)' --add-nodes 1x2x4 )"
      R"(--tolerate 'it'"'"'s $HOME; a=b=team=x' --set-limit 'a queue=`x`=gpu:12' --set-priority 'busy "one" *=-5' )"
      R"(--set-minimum 'it'"'"'s $HOME; a=b=1' --evict 'busy "one" *')";
  std::string changes;
  const Json answer = what_if(options);
  for (const std::string change : answer["changes"]) changes += (changes.empty() ? "" : " ") + change;
  EXPECT_EQ(changes, options);
  const Outcome table = place_.run("what-if --deterministic --from " + snapshot_ + " " + options);
  EXPECT_NE(table.out.find("\nChanges: " + options + "\n"), std::string::npos) << table.out;
}

TEST_F(Paste, ValuesThatBeginLikeOptionsAreJoinedToTheirs) {
  const std::string from = place_.file("dash.json", test::Cluster().node("-n", 4).line() + "\n");
  const Outcome found = place_.shell(test::program() + " what-if --deterministic --cordon=-n --from " + from);
  EXPECT_EQ(found.exit_code, 0) << found.err;
  EXPECT_NE(found.out.find("Changes: --cordon=-n\n"), std::string::npos) << found.out;
}

}  // namespace
}  // namespace muster::cli
