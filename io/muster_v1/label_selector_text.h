// A label selector as kubectl writes it.
#pragma once

#include <string_view>

#include "model/base/error_code.h"
#include "model/snapshot/snapshot.h"

namespace muster::muster_v1 {

// A label selector in the syntax of kubectl: "team=infra,tier in (prod, edge),!spot".
//
// Requirements between commas: `key=value`, `key==value`, `key!=value`, `key in (a,b)`, `key notin (a,b)`, `key`,
// `!key`. The selector's words are views of `text`. Errors: InvalidValue; the message names the requirement.
Result<LabelSelector> parse_label_selector(std::string_view text);

}  // namespace muster::muster_v1
