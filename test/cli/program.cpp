#include "test/cli/program.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include <sys/wait.h>

namespace muster::cli {

Workplace::Workplace() {
  std::string pattern = (std::filesystem::temp_directory_path() / "muster-cli-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
  directory_ = pattern;
}

Workplace::~Workplace() {
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

std::string Workplace::file(const std::string& name, std::string_view content) const {
  std::ofstream stream(path(name), std::ios::binary);
  stream.write(content.data(), static_cast<std::streamsize>(content.size()));
  return path(name);
}

std::string Workplace::content(const std::string& name) const {
  std::ifstream stream(path(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

Outcome Workplace::shell(const std::string& command, std::string_view input) const {
  const std::string in = file(".in", input);
  const std::string whole = "{ " + command + " ; } < " + in + " > " + path(".out") + " 2> " + path(".err");
  const int status = std::system(whole.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content(".out"), content(".err")};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

}  // namespace muster::cli
