// The values of options that change a cluster. Errors: InvalidValue; the message says what is wrong.
#pragma once

#include <string_view>

#include "model/base/error.h"
#include "model/change/change.h"

namespace muster::cli {

// "64", "1.5", "512Gi", "unlimited", in the unit of the resource: GPUs in millionths, cpu in thousandths, memory in
// bytes, rounded up.
Result<Amount> parse_queue_amount(std::string_view text, change::QueueResourceKind resource);

// "KEY[=VALUE][:EFFECT]"; without a value or an effect, any. The gang stays empty.
Result<change::Tolerate> parse_toleration(std::string_view text);

}  // namespace muster::cli
