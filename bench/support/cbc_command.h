// The `cbc` command (package coinor-cbc) on a model of ours.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "solver/cbc/mps.h"
#include "solver/lp/milp.h"

namespace muster::bench {

// Of the maximised objective.
struct CbcAnswer {
  bool is_optimal = false;
  bool is_infeasible = false;
  std::optional<double> value;  // of the best solution; none: it has none
  std::optional<double> bound;  // no solution is above it; none: it has none
  std::vector<double> x;        // the best solution; empty: it has none
};

class CbcCommand {
 public:
  // `folder`: for the model and the output of cbc; created if it does not exist.
  explicit CbcCommand(std::filesystem::path folder) : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
    if (std::system("command -v cbc >/dev/null 2>&1") != 0)
      throw std::runtime_error("the cbc command is not on the PATH (package coinor-cbc)");
  }

  std::filesystem::path model_path() const { return folder_ / "model.mps"; }

  // Cost: `seconds` of processor time and a little more; a cbc that does not end is stopped after twice that.
  CbcAnswer solve(const lp::Milp& milp, double seconds) const {
    if (!cbc::write_mps(milp, model_path().string())) throw std::runtime_error("cannot write " + model_path().string());
    const std::string command = fmt::format(
        "cd '{}' && rm -f solution log && timeout {:.0f} cbc model.mps -seconds {:.1f} -ratioGap 0 -allowableGap 0 "
        "-solve -solution solution >log 2>&1",
        folder_.string(), 2 * seconds + 10, seconds);
    static_cast<void>(std::system(command.c_str()));  // how it ended stands in its files
    const std::string log = content("log"), solution = content("solution");
    if (log.find(" errors on input") != std::string::npos) throw std::runtime_error("cbc cannot read the model");
    CbcAnswer answer;
    answer.is_infeasible = solution.starts_with("Infeasible") || solution.starts_with("Integer infeasible");
    if (answer.is_infeasible) return answer;
    answer.is_optimal = solution.starts_with("Optimal");
    const std::string first = solution.substr(0, solution.find('\n'));
    const bool has_solution = log.find("No feasible solution found") == std::string::npos;
    if (has_solution) answer.value = negated_after(first, "objective value");
    if (answer.value) answer.x = point(solution, static_cast<std::size_t>(milp.columns()));
    answer.bound = answer.is_optimal ? answer.value : negated_after(log, "Lower bound:");
    return answer;
  }

 private:
  std::string content(const char* name) const {
    std::ifstream file(folder_ / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // One line for each column that is not 0: its position, name, value and reduced cost; ** before what is infeasible.
  static std::vector<double> point(const std::string& solution, std::size_t columns) {
    std::vector<double> x(columns, 0.0);
    std::istringstream lines(solution.substr(solution.find('\n') + 1));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line.substr(line.starts_with("**") ? 2 : 0));
      std::size_t column = 0;
      std::string name;
      double value = 0;
      if (words >> column >> name >> value && column < columns) x[column] = value;
    }
    return x;
  }
  // The file minimises the negated objective.
  static std::optional<double> negated_after(const std::string& text, const std::string& words) {
    const std::size_t at = text.rfind(words);
    if (at == std::string::npos) return std::nullopt;
    return -std::strtod(text.c_str() + at + words.size(), nullptr);
  }

  std::filesystem::path folder_;
};

}  // namespace muster::bench
