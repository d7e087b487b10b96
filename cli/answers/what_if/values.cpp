#include "cli/answers/what_if/values.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "model/snapshot/quantity.h"

namespace muster::cli {

Result<Amount> parse_queue_amount(std::string_view text, change::QueueResourceKind resource) {
  if (text == "unlimited") return kUnlimited;
  const Result<Quantity> quantity = parse_quantity(text);
  if (!quantity) return quantity.error();
  const QuantityUnit unit = resource == change::QueueResourceKind::kGpu   ? QuantityUnit::kMillionth
                            : resource == change::QueueResourceKind::kCpu ? QuantityUnit::kThousandth
                                                                          : QuantityUnit::kOne;
  return count_units(*quantity, unit, Rounding::kUp);
}

Result<change::Tolerate> parse_toleration(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, TaintEffect>, 3> kEffects = {
      {{"NoSchedule", TaintEffect::kNoSchedule},
       {"NoExecute", TaintEffect::kNoExecute},
       {"PreferNoSchedule", TaintEffect::kPreferNoSchedule}}};
  change::Tolerate change{{}, {}, true, true};
  if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    const auto* effect =
        std::ranges::find(kEffects, text.substr(colon + 1), &std::pair<std::string_view, TaintEffect>::first);
    if (effect == kEffects.end()) {
      return InputError{ErrorCode::kInvalidValue, "$", "the effect is not NoSchedule, NoExecute or PreferNoSchedule"};
    }
    change.taint.effect = effect->second;
    change.any_effect = false;
    text = text.substr(0, colon);
  }
  const std::size_t sign = text.find('=');
  change.taint.key = text.substr(0, sign);
  if (change.taint.key.empty()) return InputError{ErrorCode::kInvalidValue, "$", "the key of the taint is empty"};
  if (sign == std::string_view::npos) return change;
  change.taint.value = text.substr(sign + 1);
  change.any_value = false;
  return change;
}

}  // namespace muster::cli
