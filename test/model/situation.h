// A case and the report on its plan.
#pragma once

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>

#include "model/explain/report.h"
#include "model/objective/evaluation.h"
#include "test/support/case.h"

namespace muster {

class Situation : public test::Case {
 public:
  using test::Case::Case;

  Situation& prove() {
    proven_ = true;
    return *this;
  }
  explain::Report report(const std::function<bool()>& stop = {},
                         const std::function<void()>& only_reasons_left = {}) const {
    const Plan decided = plan();
    const Levels levels = evaluate(problem(), shares(), decided);
    return explain::describe(problem(), shares(),
                             explain::ReportInput{decided, levels, {}, proven_, stop, only_reasons_left});
  }
  // Of the gang of that name; an entry with a reason for "absent" where the report has none.
  explain::GangReport gang(std::string_view name) const {
    for (explain::GangReport& entry : report().gangs) {
      if (problem().gangs[entry.gang].name == name) return entry;
    }
    explain::GangReport none;
    none.reason = {explain::ReasonCode::kInsufficient, "absent"};
    return none;
  }

 private:
  bool proven_ = false;
};

inline std::int64_t nodes_of(const explain::GangReport& report, std::string_view code) {
  const auto text_of = [](const explain::Blocker& blocker) { return filter_text(blocker.filter); };
  const auto at = std::ranges::find(report.blockers, code, text_of);
  return at == report.blockers.end() ? 0 : at->nodes;
}

inline std::int64_t all_nodes_of(const explain::GangReport& report) {
  return std::accumulate(report.blockers.begin(), report.blockers.end(), std::int64_t{0},
                         [](std::int64_t sum, const explain::Blocker& blocker) { return sum + blocker.nodes; });
}

// `count` pods named `prefix`-0, ... of one gang.
inline std::string pods(const std::string& gang, int count, const std::string& rest) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    if (i > 0) text += ',';
    text += R"({"name":")" + gang + "-" + std::to_string(i) + R"(","gang":")" + gang + R"(")" +
            (rest.empty() ? "" : "," + rest) + "}";
  }
  return text;
}

inline const std::string kTwoNodesOfFour =
    R"("nodes":[{"name":"a","resources":{"cpu":4,"memory":"8Gi"},"gpus":{"count":4}},{"name":"b","resources":{"cpu":4,"memory":"8Gi"},"gpus":{"count":4}}],)";
inline const std::string kOneGpu = R"("gpu":{"count":1})";

}  // namespace muster
