// Why one gang waits, and what would start it, as a document.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "cli/terminal/text_table.h"
#include "model/objective/fair_share.h"
#include "solver/answers/experiment.h"
#include "solver/remedies/remedy.h"

namespace muster::cli {

struct WhyGang {
  const answers::Run& run;  // without changes
  GangIndex gang;
  const FairShares& shares;
  const std::optional<answers::RemedyAnswer>& remedies;  // none: they were not asked for
};

// Keys: docs/cli.md, "muster why". Of a gang that does not wait, only what the plan does with it.
void write_why_gang(const WhyGang& input, AnswerDocument& document);

// Kind, size, words, whether it is the smallest, and the options of `muster what-if`. `snapshot` outlives them.
std::vector<RowColumn<answers::Remedy>> remedy_columns(const Snapshot& snapshot);

// The table of remedies, or the note that nothing helps.
// `nothing_helps`: what is said if there are none.
void write_remedies(const answers::RemedyAnswer& answer, const Snapshot& snapshot, AnswerDocument& document,
                    std::string_view nothing_helps = "Nothing that was tried would start it.");

}  // namespace muster::cli
