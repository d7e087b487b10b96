// All that waits, by reason, as a document: with what is free and cannot be used, and what one more unit would admit.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/terminal/text_table.h"
#include "solver/answers/experiment.h"
#include "solver/answers/remedies/remedy.h"
#include "solver/answers/shadow_prices.h"

namespace muster::cli {

struct WhyAll {
  const answers::Run& run;  // without changes
  const answers::ShadowPrices& prices;
  // Of gangs that wait, in the order of the list; empty: they were not asked for.
  const std::vector<std::pair<GangIndex, answers::RemedyAnswer>>& remedies;
};

// The gangs that the plan leaves waiting: those that would use most GPUs first.
std::vector<GangIndex> waiting_gangs(const answers::Run& run);

// Keys: docs/cli.md, "muster why".
void write_why_all(const WhyAll& input, AnswerDocument& document);

}  // namespace muster::cli
