// Situations that users have told, each answered by one command; see situations/README.md.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test/cli/program.h"

namespace muster::cli {
namespace {

struct Question {
  std::string arguments;
  int exit_code = 0;
  std::vector<std::string> parts;  // of what is printed
};

std::vector<std::string> situations() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(MUSTER_SOURCE_DIR "/test/answers/situations")) {
    if (entry.is_directory()) names.push_back(entry.path().filename());
  }
  std::ranges::sort(names);
  return names;
}

// Of questions.txt: "$ muster ARGUMENTS", then "exit N" and "> PART OF THE OUTPUT".
std::vector<Question> questions_of(const std::string& directory) {
  std::ifstream file(directory + "/questions.txt");
  std::vector<Question> questions;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("$ muster ")) questions.push_back({line.substr(9), 0, {}});
    if (line.starts_with("exit ")) questions.back().exit_code = std::stoi(line.substr(5));
    if (line.starts_with("> ")) questions.back().parts.push_back(line.substr(2));
  }
  return questions;
}

class Situation : public testing::TestWithParam<std::string> {};

TEST_P(Situation, IsAnswered) {
  const std::string directory = MUSTER_SOURCE_DIR "/test/answers/situations/" + GetParam();
  const std::vector<Question> questions = questions_of(directory);
  ASSERT_FALSE(questions.empty());
  const Workplace place;
  for (const Question& question : questions) {
    const Outcome found = place.shell("cd " + directory + " && " MUSTER_BINARY " " + question.arguments);
    EXPECT_EQ(found.exit_code, question.exit_code) << question.arguments << "\n" << found.out << found.err;
    ASSERT_FALSE(question.parts.empty());
    for (const std::string& part : question.parts) {
      EXPECT_NE(found.out.find(part), std::string::npos)
          << part << "\nis not in the answer to " << question.arguments << "\n"
          << found.out << found.err;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Told, Situation, testing::ValuesIn(situations()), [](const auto& info) {
  std::string name = info.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace muster::cli
