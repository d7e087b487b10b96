// The keys that the readers know, object by object, from the tables that they read with.
#pragma once

#include <string>
#include <vector>

namespace muster::json {

// `name` is that of the object's definition in the JSON Schema of docs/.
struct KnownObject {
  std::string name;
  std::vector<std::string> keys, required;
};

}  // namespace muster::json
