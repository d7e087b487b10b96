// Flags of a benchmark: each takes one value.
#pragma once

#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace muster::bench {

inline std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::stringstream list(text);
  for (std::string part; std::getline(list, part, ',');) parts.push_back(part);
  return parts;
}

// What is done with the value of each flag.
using Flags = std::map<std::string, std::function<void(const std::string&)>>;

// Throws if a flag is not known or lacks its value.
inline void parse_flags(int argc, char** argv, const Flags& flags) {
  for (int i = 1; i < argc; i += 2) {
    const auto flag = flags.find(argv[i]);
    if (flag == flags.end()) throw std::runtime_error("unknown: " + std::string(argv[i]));
    if (i + 1 == argc) throw std::runtime_error(flag->first + " lacks a value");
    flag->second(argv[i + 1]);
  }
}

// The exit code of a benchmark; 64 and a message if it cannot run.
inline int guarded(const std::string& name, const std::function<int()>& run) {
  try {
    return run();
  } catch (const std::exception& fault) {
    std::cerr << name << ": " << fault.what() << "\n";
    return 64;
  }
}

}  // namespace muster::bench
