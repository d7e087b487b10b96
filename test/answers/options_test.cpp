#include "cli/terminal/options.h"

#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test/cli/program.h"

namespace muster::cli {
namespace {

const CommandSyntax& syntax() {
  static const CommandSyntax syntax{"muster x",
                                    "Does nothing.",
                                    {{"once", "TEXT", "once"},
                                     {"node", "NODE", "nodes", 'n', "", Repetition::kLists},
                                     {"file", "FILE", "files", kNoLetter, "", Repetition::kOften},
                                     {"config", "FILE", "a file"}},
                                    0,
                                    9};
  return syntax;
}

Settings settings(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "x");
  return {syntax(), static_cast<int>(arguments.size()), arguments.data()};
}

std::string in_order(const Settings& settings) {
  std::string text;
  for (const GivenOption& given : settings.repeated()) text += given.name + "=" + given.value + " ";
  return text;
}

using Texts = std::vector<std::string>;

TEST(RepeatedOptions, KeepTheOrderOfTheCommandLine) {
  const Settings found = settings({"--node", "a,b", "--file", "x,y", "-n", "c", "word", "--file=z", "--once", "o"});
  EXPECT_EQ(in_order(found), "node=a node=b file=x,y node=c file=z ");
  EXPECT_EQ(found.texts("node"), (Texts{"a", "b", "c"}));
  EXPECT_EQ(found.texts("file"), (Texts{"x,y", "z"}));
  EXPECT_EQ(found.texts("once"), Texts());
  EXPECT_EQ(found.text("once"), "o");
  EXPECT_EQ(found.arguments(), Texts{"word"});
}

TEST(RepeatedOptions, AreEmptyIfTheyAreNotGiven) {
  EXPECT_TRUE(settings({}).repeated().empty());
  EXPECT_TRUE(settings({}).texts("node").empty());
}

TEST(RepeatedOptions, LeaveOutEmptyElements) { EXPECT_EQ(settings({"-n", ",a,,b,"}).texts("node"), (Texts{"a", "b"})); }

TEST(RepeatedOptions, AreRefusedForOptionsThatMayBeGivenOnce) {
  EXPECT_THROW(settings({"--once", "a", "--once", "b"}), UsageError);
}

TEST(RepeatedOptions, OfTheCommandLineReplaceThoseOfTheEnvironmentAndOfTheFile) {
  const Workplace place;
  const std::string file = place.file("muster.ini", "node = f\nnode = g,h\nfile = i\n");
  setenv("MUSTER_FILE", "e", 1);
  const Settings none = settings({"--config", file.c_str()}), some = settings({"--config", file.c_str(), "-n", "c"});
  unsetenv("MUSTER_FILE");
  EXPECT_EQ(none.texts("node"), (Texts{"f", "g", "h"}));
  EXPECT_EQ(none.texts("file"), Texts{"e"});
  EXPECT_EQ(some.texts("node"), Texts{"c"});
  EXPECT_EQ(some.texts("file"), Texts{"e"});
}

}  // namespace
}  // namespace muster::cli
