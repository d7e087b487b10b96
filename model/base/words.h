// Numbers and names in texts for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

// "1 node", "2 nodes", "0 nodes". `noun`: one that takes an s.
std::string counted(std::int64_t count, std::string_view noun);

// Bytes in the largest binary unit of which there is at least one, up to GiB, with at most three decimals: "1.5 GiB",
// "512 MiB", "-2 GiB", "0 GiB".
std::string memory_words(std::int64_t bytes);

// The word as a shell reads it: in single quotes unless it has only characters without a meaning there.
std::string shell_word(std::string_view word);

}  // namespace muster
