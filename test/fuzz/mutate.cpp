// Drives a target of targets.cpp without libFuzzer: the texts of a folder, then mutations of them from a seed for the
// given number of seconds.
//
// Usage: MUSTER_FUZZ=TARGET fuzz_targets FOLDER [SECONDS] [SEED]
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size);

namespace {

std::vector<std::string> texts_of(const std::string& folder) {
  std::vector<std::string> texts;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

class Mutator {
 public:
  Mutator(const std::vector<std::string>& texts, std::uint64_t seed) : texts_(texts), random_(seed) {}

  std::string next() {
    std::string text = texts_[below(texts_.size())];
    if (text.size() > kLongest) text = text.substr(below(text.size() - kLongest), kLongest);
    for (std::size_t steps = 1 + below(6); steps > 0 && !text.empty(); --steps) change(text);
    return text;
  }

 private:
  static constexpr std::size_t kLongest = 20'000;

  std::size_t below(std::size_t bound) { return random_() % bound; }

  void change(std::string& text) {
    static constexpr std::string_view kWords[] = {"null",        "-1",
                                                  "0",           "\"\"",
                                                  "{}",          "[]",
                                                  "1e400",       "9223372036854775808",
                                                  "\"2\"",       "true",
                                                  "\"\\u0000\"", "{",
                                                  "}",           "[",
                                                  "]",           "\"",
                                                  ",",           ":",
                                                  "\\",          "\xFF",
                                                  "\n",          "- ",
                                                  "&a ",         "*a ",
                                                  "<<: *a\n",    "---",
                                                  "1e-9",        "1Ei",
                                                  "nan",         "2026-03-01T10:00:00Z"};
    const std::size_t at = below(text.size()), length = std::min(below(64), text.size() - at);
    switch (below(6)) {
      case 0:
        text[at] = static_cast<char>(below(256));
        return;
      case 1:
        text.erase(at, length);
        return;
      case 2:
        text.insert(at, text.substr(below(text.size()), length));
        return;
      case 3:
        text.insert(at, kWords[below(std::size(kWords))]);
        return;
      case 4:
        return replace_value(text, at, kWords[below(std::size(kWords))]);
      default:
        text.resize(at);
    }
  }

  // The value behind the next colon, up to a comma or the end of its object.
  static void replace_value(std::string& text, std::size_t at, std::string_view word) {
    const std::size_t colon = text.find(':', at);
    if (colon == std::string::npos) return;
    const std::size_t end = std::min(text.find_first_of(",}]\n", colon), text.size());
    text.replace(colon + 1, end - colon - 1, word);
  }

  const std::vector<std::string>& texts_;
  std::mt19937_64 random_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: fuzz_targets FOLDER [SECONDS] [SEED]\n";
    return 64;
  }
  const std::vector<std::string> texts = texts_of(argv[1]);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(argc > 2 ? std::stoi(argv[2]) : 60);
  Mutator mutator(texts, argc > 3 ? std::stoull(argv[3]) : 1);
  std::uint64_t tried = 0;
  for (; tried < texts.size() || std::chrono::steady_clock::now() < end; ++tried) {
    const std::string text = tried < texts.size() ? texts[tried] : mutator.next();
    std::ofstream("fuzz_targets.last", std::ios::binary) << text;  // what a crash was about
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  }
  std::cout << tried << " texts, none of them a defect\n";
  return 0;
}
