// Runs the built program as a shell would, and tells what came of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster {

struct Outcome {
  int exit_code = -1;  // -1: it died of a signal
  std::string out, err;
};

// A directory of its own for each test, removed at the end.
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

  // `muster` with the arguments, as words of a shell: redirections and pipes after them work. `environment` comes
  // before the program's name.
  Outcome run(const std::string& arguments, std::string_view input = "", const std::string& environment = "") const;

 private:
  std::string directory_;
};

std::vector<std::string> lines_of(const std::string& text);
std::string joined(const std::vector<std::string>& lines);  // with a line feed after each

}  // namespace muster
