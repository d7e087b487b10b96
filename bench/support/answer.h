// The times that a plan line reports, read without parsing the line.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::bench {

// The number after the last `"key":`. None: the text does not contain it.
inline std::optional<double> number_after(std::string_view text, std::string_view key) {
  const std::string quoted = '"' + std::string(key) + "\":";
  const std::size_t at = text.rfind(quoted);
  if (at == std::string_view::npos) return std::nullopt;
  return std::stod(std::string(text.substr(at + quoted.size(), 32)));
}

// The statement of the solver, which is the last member of the line; empty: there is none (an error record).
inline std::string_view statement_of(std::string_view answer) {
  const std::size_t at = answer.rfind("\"solver\":");
  return at == std::string_view::npos ? std::string_view{} : answer.substr(at);
}

// From the line to its plan, as the program reports it.
inline std::optional<double> elapsed_ms(std::string_view answer) {
  return number_after(statement_of(answer), "elapsedMs");
}

// Every phase that a statement may report.
inline const std::vector<std::string>& phase_names() {
  static const std::vector<std::string> names{"parse", "model", "greedy", "milp", "search", "verify", "write"};
  return names;
}
// Milliseconds of the reported phases, in the order of the work.
inline std::vector<std::pair<std::string, double>> phases_of(std::string_view answer) {
  std::vector<std::pair<std::string, double>> phases;
  for (const std::string& name : phase_names())
    if (const auto value = number_after(statement_of(answer), name)) phases.emplace_back(name, *value);
  return phases;
}

}  // namespace muster::bench
