// Runs the built program as a shell would, and returns the result.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "test/support/paths.h"

namespace muster::cli {

struct Outcome {
  int exit_code = -1;  // -1: it died of a signal
  std::string out, err;
};

// A separate directory for each test, removed at the end.
class Workplace {
 public:
  Workplace();
  ~Workplace();
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  // Writes a file and returns its path.
  std::string file(const std::string& name, std::string_view content) const;
  std::string content(const std::string& name) const;

  // A command of the shell, with its own stdin, stdout and stderr.
  Outcome shell(const std::string& command, std::string_view input = "") const;
  // `muster` with the arguments, as words of a shell. `environment` comes before the program's name.
  Outcome run(const std::string& arguments, std::string_view input = "", const std::string& environment = "") const {
    return shell(environment + " " + test::program() + " " + arguments, input);
  }

 private:
  std::string directory_;
};

std::vector<std::string> lines_of(const std::string& text);
std::string joined(const std::vector<std::string>& lines);  // with a line feed after each

}  // namespace muster::cli
