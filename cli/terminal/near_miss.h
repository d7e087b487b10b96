// The word that a mistyped one was probably meant to be.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace muster::cli {

// "; did you mean 'solve'?" with the nearest candidate by Damerau-Levenshtein distance (optimal string alignment: a
// letter inserted, left out, replaced, or two neighbours swapped), at most 2 and less than the word is long; the first
// of equally near ones. Empty: none is that near. `prefix` stands before the candidate ("--").
std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates,
                         std::string_view prefix = "");

}  // namespace muster::cli
