// On what was measured: the machine, and the commit of the source tree.
#pragma once

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "test/support/paths.h"

namespace muster::bench {

// The output of a shell command, without the last line feed. Throws if it fails or prints nothing.
inline std::string printed_by(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot start " + command);
  std::string text;
  std::array<char, 1 << 16> chunk{};
  while (const std::size_t count = std::fread(chunk.data(), 1, chunk.size(), pipe)) text.append(chunk.data(), count);
  if (pclose(pipe) != 0 || text.empty()) throw std::runtime_error(command + " failed");
  text.pop_back();
  return text;
}

// Of the source tree, with "-dirty" if it has changed since; "unknown" if git does not know it.
inline std::string commit() {
  try {
    return printed_by("git -C '" + test::source_folder() + "' describe --always --dirty --exclude '*' 2> /dev/null");
  } catch (const std::runtime_error&) {
    return "unknown";
  }
}

// Load of the last minute at the end: more than the cores means that other processes took CPU time.
inline double load_average() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : -1;
}

// A line of /proc/PROCESS/status in MiB: "VmRSS:" is the current memory of the process, "VmHWM:" its maximum. 0: the
// process has ended.
inline double memory_mib(pid_t process, std::string_view key) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key)) return std::stod(line.substr(key.size())) / 1'024;
  }
  return 0;
}

// The process that has started another one. 0: it has ended.
inline pid_t parent_of(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("PPid:")) return std::stoi(line.substr(5));
  }
  return 0;
}

// All that the process has started and that is still known to the system.
inline std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> children;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (parent_of(std::stoi(name)) == process) children.push_back(std::stoi(name));
  }
  return children;
}

// It has ended, and its parent has not reaped it.
inline bool is_zombie(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("State:")) return line.find('Z') != std::string::npos;
  }
  return false;
}

// memory_mib of all that the process has started, together.
inline double memory_mib_of_children(pid_t process, std::string_view key) {
  double sum = 0;
  for (const pid_t child : children_of(process)) sum += memory_mib(child, key);
  return sum;
}

}  // namespace muster::bench
