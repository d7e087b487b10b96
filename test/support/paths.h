// Where the tests find the source tree and the program. Only paths.cpp knows: two checkouts at different places compile
// the same otherwise, and share what a compiler's cache holds.
#pragma once

#include <string>

namespace muster::test {

std::string source_folder();
std::string program();  // the path of `muster`

}  // namespace muster::test
