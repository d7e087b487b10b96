#include "model/base/error_code.h"

#include <algorithm>

#include "model/base/code_table.h"

namespace muster {

namespace {

constexpr CodeTable<ErrorCode, kErrorCodes> kTexts = {{{ErrorCode::kNone, ""},
                                                       {ErrorCode::kDoesNotFit, "DoesNotFit"},
                                                       {ErrorCode::kDuplicateKey, "DuplicateKey"},
                                                       {ErrorCode::kDuplicateName, "DuplicateName"},
                                                       {ErrorCode::kExceeded, "Exceeded"},
                                                       {ErrorCode::kInUse, "InUse"},
                                                       {ErrorCode::kInnerSubgroup, "InnerSubgroup"},
                                                       {ErrorCode::kInsecure, "Insecure"},
                                                       {ErrorCode::kInternalError, "InternalError"},
                                                       {ErrorCode::kInvalidArchive, "InvalidArchive"},
                                                       {ErrorCode::kInvalidJson, "InvalidJson"},
                                                       {ErrorCode::kInvalidOption, "InvalidOption"},
                                                       {ErrorCode::kInvalidPlan, "InvalidPlan"},
                                                       {ErrorCode::kInvalidUtf8, "InvalidUtf8"},
                                                       {ErrorCode::kInvalidValue, "InvalidValue"},
                                                       {ErrorCode::kInvalidYaml, "InvalidYaml"},
                                                       {ErrorCode::kMissingColumn, "MissingColumn"},
                                                       {ErrorCode::kMissingKey, "MissingKey"},
                                                       {ErrorCode::kMissingSubgroup, "MissingSubgroup"},
                                                       {ErrorCode::kMissingUid, "MissingUid"},
                                                       {ErrorCode::kNoInput, "NoInput"},
                                                       {ErrorCode::kNoPlan, "NoPlan"},
                                                       {ErrorCode::kOtherSnapshot, "OtherSnapshot"},
                                                       {ErrorCode::kQueueCycle, "QueueCycle"},
                                                       {ErrorCode::kRemark, "Remark"},
                                                       {ErrorCode::kSubgroupCycle, "SubgroupCycle"},
                                                       {ErrorCode::kTooDeep, "TooDeep"},
                                                       {ErrorCode::kTooLarge, "TooLarge"},
                                                       {ErrorCode::kUnavailable, "Unavailable"},
                                                       {ErrorCode::kUnclear, "Unclear"},
                                                       {ErrorCode::kUnknownGang, "UnknownGang"},
                                                       {ErrorCode::kUnknownKey, "UnknownKey"},
                                                       {ErrorCode::kUnknownName, "UnknownName"},
                                                       {ErrorCode::kUnknownNode, "UnknownNode"},
                                                       {ErrorCode::kUnknownPriorityClass, "UnknownPriorityClass"},
                                                       {ErrorCode::kUnknownQueue, "UnknownQueue"},
                                                       {ErrorCode::kUnknownSubgroup, "UnknownSubgroup"},
                                                       {ErrorCode::kUnknownTopologyLevel, "UnknownTopologyLevel"},
                                                       {ErrorCode::kUnread, "Unread"},
                                                       {ErrorCode::kUnsupportedFormat, "UnsupportedFormat"},
                                                       {ErrorCode::kWrongType, "WrongType"}}};
static_assert(is_in_order(kTexts));
static_assert(std::ranges::is_sorted(kTexts, {}, &decltype(kTexts)::value_type::second));

}  // namespace

std::string_view error_code_text(ErrorCode code) { return text_of(kTexts, code); }

std::optional<ErrorCode> find_error_code(std::string_view text) { return code_of(kTexts, text); }

}  // namespace muster
