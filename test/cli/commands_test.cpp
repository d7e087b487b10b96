// What is made of the table of commands: every command has its line in `muster help`, a help of its own, a section in
// docs/cli.md, a manual page, and completions.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "test/cli/program.h"
#include "test/cli/snapshots.h"
#include "test/support/paths.h"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

std::string document(const fs::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// `name` is not part of a longer option.
bool names_option(const std::string& text, const std::string& name) {
  return std::regex_search(text, std::regex("--" + name + "(?![a-z-])"));
}

std::string replaced(std::string text, char from, char to) {
  std::ranges::replace(text, from, to);
  return text;
}

struct ListedCommand {
  std::string name, summary, help;
  Lines options;  // without dashes
  std::string first_word() const { return name.substr(0, name.find(' ')); }
};

class Commands : public testing::Test {
 protected:
  // Of `muster help --list`.
  std::vector<ListedCommand> listed() const {
    std::vector<ListedCommand> commands;
    for (const std::string& line : lines_of(workplace.run("help --list").out)) {
      const std::size_t tab = line.find('\t');
      ListedCommand command{
          line.substr(0, tab), line.substr(tab + 1), workplace.run("help " + line.substr(0, tab)).out, {}};
      for (const std::string& row : lines_of(command.help)) {
        std::smatch match;
        if (std::regex_search(row, match, std::regex("^  (?:-., )?--([a-z-]+)"))) command.options.push_back(match[1]);
      }
      commands.push_back(std::move(command));
    }
    return commands;
  }

  // What bash would offer after these words, the last of which is begun.
  Lines in_bash(const Lines& words, const std::string& program = test::program()) const {
    std::string script = "source <(" + test::program() + " completion bash); cd " + workplace.path("files") +
                         "; COMP_WORDS=('" + program + "'";
    for (const std::string& word : words) script += " '" + word + "'";
    script += "); COMP_CWORD=" + std::to_string(words.size()) + "; _muster; printf '%s\\n' \"${COMPREPLY[@]}\"";
    const Outcome outcome = workplace.shell("bash " + workplace.file("complete.bash", script));
    EXPECT_EQ(outcome.err, "");
    Lines offered = lines_of(outcome.out);
    if (offered == Lines{""}) offered.clear();
    return offered;
  }

  // The same by the program itself.
  Lines offered(const std::string& words) const { return lines_of(workplace.run("__complete " + words).out); }

  void SetUp() override {
    fs::create_directories(workplace.path("files/folder"));
    workplace.file("files/cluster.json", "");
    workplace.file("files/two words", "");
  }

  Workplace workplace;
};

TEST_F(Commands, AreListedWithTheirSummariesByGroup) {
  const std::string help = workplace.run("help").out;
  const auto commands = listed();
  ASSERT_GT(commands.size(), 15U);
  for (const ListedCommand& command : commands) {
    const std::string padded =
        command.name + std::string(std::max<std::size_t>(20, command.name.size()) - command.name.size(), ' ');
    EXPECT_TRUE(has(help, "\n  " + padded + " " + command.summary + "\n")) << command.name;
  }
  for (const char* group : {"Plan", "Explain", "Import and export", "Measure", "Serve"}) {
    EXPECT_EQ(std::ranges::count(lines_of(help), std::string(group) + ":"), 1) << group;
  }
}

TEST_F(Commands, HaveAHelpOfTheirOwnByBothWays) {
  for (const ListedCommand& command : listed()) {
    const Outcome outcome = workplace.run(command.name + " --help");
    EXPECT_EQ(outcome.exit_code, 0) << command.name;
    EXPECT_EQ(outcome.err, "") << command.name;
    EXPECT_TRUE(outcome.out.starts_with("Usage: muster " + command.name)) << command.name << ": " << outcome.out;
    EXPECT_EQ(outcome.out, command.help) << command.name;
  }
}

TEST_F(Commands, ThatDoNotExistHaveNoHelp) {
  for (const char* arguments :
       {"help slove", "help import kubernets", "help solve file", "help worker", "help __complete"}) {
    const Outcome outcome = workplace.run(arguments);
    EXPECT_EQ(outcome.exit_code, 64) << arguments;
    EXPECT_TRUE(has(outcome.err, "unknown command")) << arguments << ": " << outcome.err;
  }
  EXPECT_TRUE(has(workplace.run("help import kubernets").err, "did you mean 'import kubernetes'?"));
}

// By their headings, with their sub-sections.
std::map<std::string, std::string> sections_of(const std::string& text) {
  std::map<std::string, std::string> sections;
  std::string heading;
  for (const std::string& line : lines_of(text)) {
    if (line.starts_with("## ")) heading = line.substr(3);
    sections[heading] += line + "\n";
  }
  return sections;
}

TEST_F(Commands, AndTheirOptionsAreDescribedInTheDocumentation) {
  const fs::path docs = fs::path(test::source_folder()) / "docs";
  const auto sections = sections_of(document(docs / "cli.md"));
  std::string shared;
  for (const char* heading : {"Options, environment, configuration file", "From a cluster", "The form of answers"}) {
    ASSERT_TRUE(sections.contains(heading)) << heading;
    shared += sections.at(heading);
  }
  const std::string solve = sections.at("muster solve [FILE...]");
  shared += solve.substr(solve.find("### Options on policy"));
  for (const ListedCommand& command : listed()) {
    std::string text;
    for (const auto& [heading, section] : sections) {
      if (std::regex_search(heading, std::regex("muster " + command.first_word() + "(?![a-z-])"))) text += section;
    }
    EXPECT_TRUE(has(text, "muster " + command.name) || has(text, "`" + command.name + "`"))
        << "no section of " << command.name;
    // What the section refers to.
    const std::regex link("\\]\\((\\.\\./[a-z/]*README\\.md|[a-z/-]+\\.md)");
    const std::string own = text;
    for (std::sregex_iterator found(own.begin(), own.end(), link), end; found != end; ++found) {
      text += document(docs / (*found)[1].str());
    }
    for (const std::string& option : command.options) {
      EXPECT_TRUE(names_option(text + shared, option)) << command.name << " --" << option;
    }
  }
}

TEST_F(Commands, HaveManualPages) {
  const std::string source = test::source_folder() + "/cli/packaging/";
  const std::string overview = workplace.shell(source + "man_page " + test::program() + " 1.0").out;
  for (const ListedCommand& command : listed()) {
    const std::string page_name = "muster-" + replaced(command.name, ' ', '-');
    const Outcome page = workplace.shell(source + "man_page " + test::program() + " 1.0 '" + command.name + "'");
    EXPECT_EQ(page.exit_code, 0) << page.err;
    std::string text = page.out;
    std::erase(text, '\\');
    EXPECT_TRUE(has(text, "# NAME\n\n" + page_name + " - " + command.summary + "\n")) << text;
    for (const std::string& option : command.options) {
      EXPECT_TRUE(std::regex_search(text, std::regex("\\*(-., )?--" + option + "[ *]")))
          << command.name << " --" << option;
    }
    std::string all = overview;
    std::erase(all, '\\');
    EXPECT_TRUE(has(all, "*" + command.name + "*\n\t" + command.summary)) << command.name;
    EXPECT_TRUE(has(all, "*" + page_name + "*(1)")) << command.name;
  }
}

TEST_F(Commands, HaveManualPagesThatScdocAccepts) {
  if (workplace.shell("command -v scdoc").exit_code != 0) GTEST_SKIP() << "no scdoc";
  const Outcome outcome = workplace.shell(test::source_folder() + "/cli/packaging/man_pages " + test::program() +
                                          " 1.0 scdoc " + workplace.path("man"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  for (const ListedCommand& command : listed()) {
    EXPECT_TRUE(has(workplace.content("man/muster-" + replaced(command.name, ' ', '-') + ".1"), ".SH NAME"))
        << command.name;
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(workplace.path("man")), {}), std::ssize(listed()) + 1);
}

TEST_F(Commands, AreCompletedWithAllTheirOptions) {
  for (const ListedCommand& command : listed()) {
    const std::size_t space = command.name.find(' ');
    const bool is_sub_command = space != std::string::npos;
    const std::string names = joined(offered(is_sub_command ? command.first_word() + " ''" : "''"));
    const std::string word = is_sub_command ? command.name.substr(space + 1) : command.name;
    EXPECT_TRUE(has("\n" + names, "\n" + word + (is_sub_command ? "" : "\t" + command.summary) + "\n")) << names;
    Lines options;
    for (const std::string& line : offered(command.name + " --")) {
      const std::size_t tab = line.find('\t');
      if (tab == std::string::npos) continue;
      options.push_back(line.substr(2, tab - 2));
      EXPECT_TRUE(options.back() == "help" || has(command.help, " " + line.substr(tab + 1) + "\n")) << line;
    }
    Lines expected = command.options;
    expected.emplace_back("help");
    EXPECT_EQ(options, expected) << command.name;
  }
}

TEST_F(Commands, AreCompletedByBash) {
  const struct {
    Lines words, offered;
  } cases[] = {{{"so"}, {"solve"}},
               {{"wor"}, {}},
               {{"__"}, {}},
               {{"import", "k"}, {"kubernetes", "kai-snapshot"}},
               {{"help", "im"}, {"import"}},
               {{"help", "import", "ph"}, {"philly"}},
               {{"completion", ""}, {"bash", "zsh", "fish", "kubectl"}},
               {{"solve", "--eng"}, {"--engine"}},
               {{"solve", "-"}, Lines()},  // all of them; see below
               {{"import", "openb", "--tr"}, {"--trace"}},
               {{"solve", "--engine", ""}, {"auto", "greedy", "milp"}},
               {{"solve", "--engine", "gr"}, {"greedy"}},
               {{"solve", "--engine", "="}, {"auto", "greedy", "milp"}},
               {{"solve", "--engine", "=", "m"}, {"milp"}},
               {{"solve", "--engine=m"}, {"--engine=milp"}},
               {{"solve", "-o", ""}, {"json", "table"}},
               {{"why", "--color", "a"}, {"auto", "always"}},
               {{"export", "--format", "b"}, {"bindings"}},
               {{"simulate", "--policy", "best"}, {"best-fit"}},
               {{"solve", "--budget", ""}, {}},
               {{"solve", "--config", "cl"}, {"cluster.json"}},
               {{"solve", "--config", "=", "two"}, {"two words"}},
               {{"solve", "--deterministic", "cl"}, {"cluster.json"}},
               {{"why", "-f", "cl"}, {"cluster.json"}},
               {{"why", ""}, {}},
               {{"bench", "--output", ""}, {"folder"}},
               {{"import", "openb", "--data", ""}, {"folder"}},
               {{"verify", "a", "cl"}, {"cluster.json"}},
               {{"verify", "a", "b", "cl"}, {}},
               {{"verify", "--time", "now", "a", "cl"}, {"cluster.json"}},
               {{"top", "g"}, {"gpus", "gangs"}},
               {{"top", "cl"}, {"cluster.json"}},
               {{"top", "gpus", "cl"}, {"cluster.json"}},
               {{"serve", "cl"}, {}},
               {{"nonsense", "cl"}, {}},
               {{"nonsense", "--"}, {}}};
  for (const auto& c : cases) {
    if (c.words == Lines{"solve", "-"}) {
      EXPECT_GT(in_bash(c.words).size(), 20U);
      continue;
    }
    EXPECT_EQ(in_bash(c.words), c.offered) << joined(c.words);
  }
  EXPECT_EQ(in_bash({"so"}, "/no/such/muster"), Lines());
}

TEST_F(Commands, AreCompletedByFish) {
  if (workplace.shell("command -v fish").exit_code != 0) GTEST_SKIP() << "no fish";
  fs::create_symlink(test::program(), workplace.path("muster"));
  const auto complete = [&](const std::string& line) {
    const std::string script = "source (muster completion fish | psub); complete -C '" + line + "'";
    const Outcome outcome = workplace.shell("cd " + workplace.path("files") + " && HOME=" + workplace.path("files") +
                                            " PATH=" + workplace.path("") + ":$PATH fish --no-config " +
                                            workplace.file("complete.fish", script));
    EXPECT_EQ(outcome.err, "") << line;
    return outcome.out;
  };
  EXPECT_EQ(complete("muster sol"), "solve\tread snapshots and write plans, one per line\n");
  EXPECT_TRUE(complete("muster solve --engi").starts_with("--engine\tsolver engine"));
  EXPECT_EQ(complete("muster solve --engine g"), "greedy\n");
  EXPECT_EQ(complete("muster solve --engine=g"), "--engine=greedy\n");
  EXPECT_EQ(complete("muster solve clu"), "cluster.json\n");
  EXPECT_EQ(complete("muster solve --config=clu"), "--config=cluster.json\n");
  EXPECT_TRUE(complete("muster import openb --data fo").starts_with("folder/"));
}

TEST_F(Commands, AreCompletedByZsh) {
  if (workplace.shell("command -v zsh").exit_code != 0) GTEST_SKIP() << "no zsh";
  // The functions that zsh's own completion provides, by what they are called with.
  const std::string stubs =
      "compdef() { print \"compdef $*\"; }\n_describe() { print -rl -- ${(P)3}; }\n"
      "_files() { print \"files $*\"; }\ncompset() { true; }\nsource <(" +
      test::program() + " completion zsh)\n";
  const auto complete = [&](const std::string& words, int current) {
    const std::string script =
        stubs + "words=('" + test::program() + "' " + words + ")\nCURRENT=" + std::to_string(current) + "\n_muster\n";
    const Outcome outcome = workplace.shell("zsh -f " + workplace.file("complete.zsh", script));
    EXPECT_EQ(outcome.err, "") << words;
    return outcome.out.substr(outcome.out.find('\n') + 1);
  };
  EXPECT_EQ(complete("sol", 2), "solve:read snapshots and write plans, one per line\n");
  EXPECT_EQ(complete("solve --engine ''", 4), "auto\ngreedy\nmilp\n");
  EXPECT_EQ(complete("solve --engine= more", 3), "--engine=auto\n--engine=greedy\n--engine=milp\n");
  EXPECT_TRUE(has(complete("solve --fro", 3), "--from:kubectl\\: the cluster of its context; a URL\\: "));
  EXPECT_EQ(complete("solve ''", 3), "files \n");
  EXPECT_EQ(complete("import openb --data ''", 5), "files -/\n");
}

TEST_F(Commands, AreCompletedByKubectl) {
  fs::create_symlink(test::program(), workplace.path("kubectl-muster"));
  workplace.file("kubectl_complete-muster", workplace.run("completion kubectl").out);
  fs::permissions(workplace.path("kubectl_complete-muster"), fs::perms::owner_all);
  const auto complete = [&](const std::string& words) {
    return workplace.shell("PATH=" + workplace.path("") + ":$PATH kubectl_complete-muster " + words).out;
  };
  EXPECT_EQ(complete("so"), "solve\tread snapshots and write plans, one per line\n:4\n");
  EXPECT_EQ(complete("solve --engine m"), "milp\n:4\n");
  EXPECT_EQ(complete("solve --config ''"), ":0\n");
  EXPECT_EQ(complete("bench --output ''"), ":16\n");
}

TEST_F(Commands, OfferTheChoicesThatTheyAccept) {
  const struct {
    const char *command, *option, *rest;
  } cases[] = {{"solve", "engine", ""},    {"solve", "output-format", ""}, {"solve", "log-format", ""},
               {"solve", "order", ""},     {"top", "engine", "--solve"},   {"top", "format", ""},
               {"top", "color", ""},       {"export", "format", ""},       {"export", "phase", "--format bindings"},
               {"generate", "preset", ""}, {"simulate", "policy", ""},     {"import philly", "estimates", ""},
               {"serve", "log-format", ""}};
  for (const auto& c : cases) {
    const std::string option = std::string(" --") + c.option + "=";
    Lines choices = offered(c.command + option);
    ASSERT_GT(choices.size(), 2U) << c.command << option;  // the last line is what else may stand there
    choices.pop_back();
    const Outcome outcome = workplace.run(c.command + option + "nonsense " + c.rest, good_lines()[0]);
    EXPECT_EQ(outcome.exit_code, 64) << c.command << option;
    std::string told;
    for (const std::string& choice : choices) {
      const std::string value = choice.substr(choice.find('=') + 1);
      told += (told.empty() ? "" : ", ") + value;
      EXPECT_TRUE(has(outcome.err, value)) << value << ": " << outcome.err;
    }
    EXPECT_TRUE(has(outcome.err, told) || std::string(c.command) == "export") << told << ": " << outcome.err;
  }
}

TEST_F(Commands, OfferTheTracesThatAreIncluded) {
  for (const std::string& choice : offered("import openb --trace ''")) {
    if (choice.starts_with(':')) continue;
    EXPECT_EQ(workplace.run("import openb --arrived 1 --trace " + choice).exit_code, 0) << choice;
  }
}

TEST_F(Commands, PrintCompletionsForKnownShellsOnly) {
  const Outcome outcome = workplace.run("completion csh");
  EXPECT_EQ(outcome.exit_code, 64);
  EXPECT_TRUE(has(outcome.err, "bash, zsh, fish, kubectl")) << outcome.err;
}

}  // namespace
}  // namespace muster::cli
