// Situations that users have told, each answered by one command; see situations/README.md, also for how to record.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test/cli/program.h"
#include "test/support/paths.h"

namespace muster::cli {
namespace {

struct Question {
  std::string arguments;
  int exit_code = 0;
  std::vector<std::string> parts;  // of what is printed
};

std::vector<std::string> situations() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_folder() + "/test/answers/situations")) {
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

// The whole output of the question with this number, from 1, is in NUMBER.out.
std::string file_of(const std::string& directory, std::size_t number) {
  return directory + "/" + std::to_string(number) + ".out";
}

std::string content(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

class Situation : public testing::TestWithParam<std::string> {};

TEST_P(Situation, IsAnswered) {
  const std::string directory = test::source_folder() + "/test/answers/situations/" + GetParam();
  const std::vector<Question> questions = questions_of(directory);
  ASSERT_FALSE(questions.empty());
  const bool records = std::getenv("MUSTER_RECORD_SITUATIONS") != nullptr;
  const Workplace place;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const Question& question = questions[i];
    const Outcome found =
        place.shell("cd " + directory + " && " + test::program() + " " + question.arguments + " 2>&1");
    EXPECT_EQ(found.exit_code, question.exit_code) << question.arguments << "\n" << found.out;
    ASSERT_FALSE(question.parts.empty());
    for (const std::string& part : question.parts) {
      EXPECT_NE(found.out.find(part), std::string::npos)
          << part << "\nis not in the answer to " << question.arguments << "\n"
          << found.out;
    }
    const std::string file = file_of(directory, i + 1);
    if (records) std::ofstream(file, std::ios::binary) << found.out;
    EXPECT_EQ(found.out, content(file)) << file << ": the answer to " << question.arguments;
  }
  EXPECT_FALSE(std::filesystem::exists(file_of(directory, questions.size() + 1))) << "an answer without a question";
}

INSTANTIATE_TEST_SUITE_P(Told, Situation, testing::ValuesIn(situations()), [](const auto& info) {
  std::string name = info.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace muster::cli
