#include "test/support/drawn.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <mutex>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "test/support/case.h"

namespace muster::test {
namespace {

std::mutex mutex;
std::string last_drawn, test_of_last;

std::string current_test() {
  const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
  return test == nullptr ? "none" : std::string(test->test_suite_name()) + "." + test->name();
}

std::string file_of(std::string test) {
  if (const char* file = std::getenv("MUSTER_FAILURES")) return file;
  std::ranges::replace(test, '/', '-');
  return (std::filesystem::temp_directory_path() / (test + ".jsonl")).string();
}

void keep(const std::string& test, const std::string& line) {
  if (std::getenv("MUSTER_SNAPSHOT") != nullptr) return;
  const std::lock_guard lock(mutex);
  static std::set<std::string> begun;
  const std::string file = file_of(test);
  const bool is_first = begun.insert(test).second;
  std::ofstream(file, is_first ? std::ios::trunc : std::ios::app) << line << "\n";
  if (!is_first) return;
  std::cout << "failing clusters: " << file << "; to make the last one small:\n  test/shrink/shrink.py " << file
            << " -- env MUSTER_SNAPSHOT={} MUSTER_INSTANCES=1 "
            << std::filesystem::read_symlink("/proc/self/exe").string() << " --gtest_filter=" << test << "\n";
}

class Keeper : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& /*test*/) override {
    const std::lock_guard lock(mutex);
    last_drawn.clear();
  }
  void OnTestPartResult(const testing::TestPartResult& result) override {
    std::string line, test;
    {
      const std::lock_guard lock(mutex);
      if (result.failed()) line = std::exchange(last_drawn, {});
      test = test_of_last;  // here GoogleTest holds the lock under which it would tell the test
    }
    if (!line.empty()) keep(test, line);
  }
};

}  // namespace

std::optional<std::string> given_snapshot() {
  const char* file = std::getenv("MUSTER_SNAPSHOT");
  if (file == nullptr) return std::nullopt;
  std::string line;
  std::getline(std::ifstream(file) >> std::ws, line);
  if (!Case::if_valid(line)) {
    std::cout << file << ": no snapshot that can be read and built\n" << std::flush;
    std::_Exit(EXIT_SUCCESS);
  }
  return line;
}

std::string drawn(std::string line) {
  if (auto given = given_snapshot()) return *std::move(given);
  static std::once_flag once;
  std::call_once(once, [] { testing::UnitTest::GetInstance()->listeners().Append(new Keeper); });
  const std::string test = current_test();
  const std::lock_guard lock(mutex);
  last_drawn = line;
  test_of_last = test;
  return line;
}

void keep_failing(const std::string& line) { keep(current_test(), line); }

}  // namespace muster::test
