// The answer of `muster what-if`: what the plan of the changed cluster does otherwise than that of the cluster.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/answers/what_if/options.h"
#include "cli/terminal/text_table.h"
#include "solver/answers/experiment.h"
#include "solver/answers/remedies/remedy.h"

namespace muster::cli {

// What would start a workload that was submitted and would wait; see answers::find_remedies.
struct FoundRemedies {
  std::string gang;
  answers::RemedyAnswer answer;
};

struct WhatIf {
  const answers::Run& before;
  const answers::Run& after;  // the same object if nothing was changed
  const ChangedCluster& changed;
  double before_ms = 0, after_ms = 0;  // that the runs took
  bool has_timings = true;
  const std::optional<FoundRemedies>& remedies;
};

struct WhatIfAnswer {
  AnswerDocument document;
  bool starts = true;  // all gangs that were submitted
};

// Keys of the document: docs/cli.md, "muster what-if". Cost: that of writing both plans, and O(nodes + pods).
WhatIfAnswer what_if_answer(const WhatIf& what_if);

}  // namespace muster::cli
