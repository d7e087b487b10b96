// Notes, fields and tables in each format.
#include "cli/terminal/text_table.h"

#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "test/support/unmet.h"

namespace muster::cli {
namespace {

Table queues() {
  return {.key = "queues",
          .title = "Queues",
          .columns = {{"name", "QUEUE"},
                      {"gpus", "GPUS", Align::kRight},
                      {"quota", "QUOTA", Align::kRight, Shown::kWide},
                      {"raw", "RAW", Align::kLeft, Shown::kJson},
                      {"note", "NOTE"}},
          .rows = {{"a", 5, Decimal{1500, 1000}, 0.25, "the first queue of all"},
                   {"longer", 12, {}, true, Cell("late").meaning(Meaning::kBad)}}};
}

AnswerDocument document() {
  AnswerDocument document("test");
  document.add_field("id", "Snapshot", "s1");
  document.add_field("waiting", "Gangs waiting", Cell(3).shown_as("3 of 4"));
  document.add_table(queues());
  document.add_note("that is all");
  return document;
}

TEST(TextTable, AlignsColumnsAndLabels) {
  EXPECT_EQ(render(document(), {}),
            "Snapshot:      s1\n"
            "Gangs waiting: 3 of 4\n"
            "\n"
            "Queues\n"
            "QUEUE   GPUS  NOTE\n"
            "a          5  the first queue of all\n"
            "longer    12  late\n"
            "\n"
            "that is all\n");
}

TEST(TextTable, HasTheColumnsOfWideOnlyThere) {
  const std::string wide = render(document(), {.format = AnswerFormat::kWide});
  EXPECT_NE(wide.find("QUEUE   GPUS  QUOTA  NOTE\na          5    1.5  the first"), std::string::npos) << wide;
  EXPECT_NE(wide.find("longer    12      -  late"), std::string::npos) << wide;
  EXPECT_EQ(wide.find("RAW"), std::string::npos);
}

TEST(TextTable, CutsTheLastColumnToTheTerminalAlone) {
  EXPECT_NE(render(document(), {.width = 24}).find("a          5  the first…\n"), std::string::npos);
  EXPECT_NE(render(document(), {.width = 36}).find("a          5  the first queue of all\n"), std::string::npos);
  EXPECT_NE(render(document(), {.width = 18}).find("the first queue of all\n"), std::string::npos)
      << "a terminal that is too narrow for the column wraps by itself";
  EXPECT_EQ(render(document(), {.width = 0}).find("…"), std::string::npos);
}

TEST(TextTable, CutsBetweenLettersNotBytes) {
  AnswerDocument document("test");
  document.add_table({.key = "t", .columns = {{"a", "A"}}, .rows = {{"ääääääääää"}}});
  EXPECT_EQ(render(document, {.width = 8}), "A\näääääää…\n");
}

TEST(TextTable, WrapsTheLastColumnBetweenWords) {
  AnswerDocument document("test");
  document.add_table({.key = "t",
                      .columns = {{"a", "A"}, {"b", "B"}},
                      .rows = {{"x", "one two three four five six seven"}},
                      .overflow = Overflow::kWrap});
  EXPECT_EQ(render(document, {.width = 33}), "A  B\nx  one two three four five six\n   seven\n");
}

TEST(TextTable, LimitsRowsInTheShortFormAloneAndCountsTheOthers) {
  AnswerDocument document("test");
  Table table = queues();
  table.most_rows = 1;
  document.add_table(table);
  const std::string text = render(document, {});
  EXPECT_EQ(text.find("longer"), std::string::npos);
  EXPECT_NE(text.find("and 1 more; --format wide shows all\n"), std::string::npos);
  for (const AnswerFormat format : {AnswerFormat::kWide, AnswerFormat::kMarkdown, AnswerFormat::kJson}) {
    EXPECT_NE(render(document, {.format = format}).find("longer"), std::string::npos);
  }
}

TEST(TextTable, IsTypedInJson) {
  const std::string text = render(document(), {.format = AnswerFormat::kJson, .colours = true});
  EXPECT_EQ(text, R"({"kind":"test","id":"s1","waiting":3,"queues":[)"
                  R"({"name":"a","gpus":5,"quota":1.5,"raw":0.25,"note":"the first queue of all"},)"
                  R"({"name":"longer","gpus":12,"quota":null,"raw":true,"note":"late"}],"notes":["that is all"]})"
                  "\n");
}

TEST(TextTable, IsMarkdownOfGitHub) {
  EXPECT_EQ(render(document(), {.format = AnswerFormat::kMarkdown, .colours = true, .width = 10}),
            "- Snapshot: s1\n"
            "- Gangs waiting: 3 of 4\n"
            "\n"
            "### Queues\n"
            "\n"
            "| QUEUE | GPUS | NOTE |\n"
            "|---|---:|---|\n"
            "| a | 5 | the first queue of all |\n"
            "| longer | 12 | late |\n"
            "\n"
            "that is all\n");
}

TEST(TextTable, MakesNamesSafeInEachFormat) {
  AnswerDocument document("test");
  document.add_field("id", "Snapshot", "\x1b[31m");
  document.add_note("a\nb");
  document.add_table(
      {.key = "t", .columns = {{"a", "A"}}, .rows = {{"p|q_\x1b\"\n"}, {std::vector<std::string>{"\x1b"}}}});
  EXPECT_EQ(render(document, {}), "Snapshot: \\x1b[31m\na\\x0ab\n\nA\np|q_\\x1b\"\\x0a\n\\x1b\n");
  const std::string markdown = render(document, {.format = AnswerFormat::kMarkdown});
  EXPECT_NE(markdown.find(R"(| p\|q\_\\x1b"\\x0a |)"), std::string::npos) << markdown;
  const std::string json = render(document, {.format = AnswerFormat::kJson});
  EXPECT_EQ(json.find('\x1b'), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(json)["t"][0]["a"], "p|q_\x1b\"\n");
}

TEST(TextTable, ColoursMeaningsWithoutMovingColumns) {
  AnswerDocument document("test");
  document.add_table({.key = "t",
                      .title = "T",
                      .columns = {{"a", "A"}, {"b", "B"}},
                      .rows = {{Cell("x").meaning(Meaning::kGood), Cell(1).meaning(Meaning::kWarning)}, {"long", 2}}});
  document.add_note("dim", Meaning::kDim);
  EXPECT_EQ(render(document, {.colours = true}),
            "\x1b[1mT\x1b[0m\nA     B\n\x1b[32mx\x1b[0m     \x1b[33m1\x1b[0m\nlong  2\n\n\x1b[2mdim\x1b[0m\n");
}

TEST(TextTable, SaysThatATableIsEmpty) {
  AnswerDocument document("test");
  document.add_table({.key = "t", .title = "T", .columns = {{"a", "A"}}});
  EXPECT_EQ(render(document, {}), "T\nnone\n");
  EXPECT_EQ(render(document, {.format = AnswerFormat::kMarkdown}), "### T\n\nnone\n");
  EXPECT_EQ(render(document, {.format = AnswerFormat::kJson}), "{\"kind\":\"test\",\"t\":[]}\n");
}

TEST(TextTable, ShowsEachTypeOfValue) {
  AnswerDocument document("test");
  document.add_table({.key = "t",
                      .columns = {{"a", "A"}},
                      .rows = {{2.0},
                               {-0.0001},
                               {1.0 / 3},
                               {100.0},
                               {false},
                               {Decimal{-1, 1000}},
                               {""},
                               {Cell("x").shown_as("")},
                               {std::vector<std::string>{"p", "q"}},
                               {std::vector<std::string>{}}}});
  EXPECT_EQ(render(document, {}), "A\n2\n0\n0.333\n100\nno\n-0.001\n-\n\np, q\n-\n");
}

TEST(TextTable, RejectsARowWithAMissingCell) {
  AnswerDocument document("test");
  expect_unmet(
      [&] {
        document.add_table({.key = "t", .columns = {{"a", "A"}, {"b", "B"}}, .rows = {{"x"}}});
      },
      "row.size() == table.columns.size()");
}

TEST(TextTable, HasFieldsAndTablesOnlyInTheirFormats) {
  AnswerDocument document("test");
  document.add_field("a", "A", 1, Shown::kText);
  document.add_field("b", "Long", 2, Shown::kJson);
  document.add_field("c", "C", 3, Shown::kWide);
  document.add_table({.key = "t", .columns = {{"a", "A"}}, .shown = Shown::kJson});
  EXPECT_EQ(render(document, {}), "A: 1\n");
  EXPECT_EQ(render(document, {.format = AnswerFormat::kMarkdown}), "- A: 1\n");
  EXPECT_EQ(render(document, {.format = AnswerFormat::kWide}), "A: 1\nC: 3\n");
  EXPECT_EQ(render(document, {.format = AnswerFormat::kJson}), "{\"kind\":\"test\",\"b\":2,\"c\":3,\"t\":[]}\n");
}

TEST(TextTable, LeavesColumnsForPeopleOutOfJson) {
  AnswerDocument document("test");
  document.add_table({.key = "t",
                      .columns = {{"a", "A", Align::kLeft, Shown::kText}, {"b", "B", Align::kLeft, Shown::kJson}},
                      .rows = {{"p -> q", "q"}}});
  EXPECT_EQ(render(document, {}), "A\np -> q\n");
  EXPECT_EQ(render(document, {.format = AnswerFormat::kJson}), "{\"kind\":\"test\",\"t\":[{\"b\":\"q\"}]}\n");
}

class AnswerOptions : public testing::Test {
 protected:
  static RenderOptions of(std::vector<const char*> arguments) {
    const CommandSyntax syntax{"muster test", "Tests.", with_answer_options({{"other", "", "of the command"}})};
    arguments.insert(arguments.begin(), "test");
    return render_options(Settings(syntax, static_cast<int>(arguments.size()), arguments.data()));
  }
};

TEST_F(AnswerOptions, NameTheFormat) {
  EXPECT_EQ(of({}).format, AnswerFormat::kTable);
  EXPECT_EQ(of({"--format", "wide"}).format, AnswerFormat::kWide);
  EXPECT_EQ(of({"--format", "md"}).format, AnswerFormat::kMarkdown);
  EXPECT_EQ(of({"--format", "json"}).format, AnswerFormat::kJson);
  EXPECT_THROW(of({"--format", "yaml"}), UsageError);
}

TEST_F(AnswerOptions, ColourOnTerminalsAloneUnlessRequested) {
  EXPECT_TRUE(of({"--color", "always"}).colours);
  EXPECT_FALSE(of({"--color", "never"}).colours);
  EXPECT_THROW(of({"--color", "red"}), UsageError);
}

}  // namespace
}  // namespace muster::cli
