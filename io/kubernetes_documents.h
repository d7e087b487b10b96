// Several JSON documents in one text, as kubectl prints them, become one.
#pragma once

#include <string>

namespace muster {

// Where `text` holds more than one document, one after another, they become the items of a List; else it stays as it
// is. Looks at nothing but quotes and brackets: what is no JSON is for the parser to refuse. Cost: about 1 ns a byte.
std::string join_documents(std::string text);

}  // namespace muster
