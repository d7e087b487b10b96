// Codes of what is wrong with an input, for programs: docs/format.md, "Error records" and "Warnings". Codes here, text
// at the border.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace muster {

// In the order of their texts, by which a plan line sorts its warnings.
enum class ErrorCode : std::uint8_t {
  kNone,        // no error
  kDoesNotFit,  // the pods of a node exceed what it reports
  kDuplicateKey,
  kDuplicateName,
  kExceeded,  // of warnings only
  kInUse,     // of an address to listen on, as kInsecure and kUnavailable
  kInnerSubgroup,
  kInsecure,
  kInternalError,
  kInvalidArchive,
  kInvalidJson,
  kInvalidOption,
  kInvalidPlan,
  kInvalidUtf8,
  kInvalidValue,
  kInvalidYaml,
  kMissingColumn,
  kMissingKey,
  kMissingSubgroup,
  kMissingUid,
  kNoInput,
  kNoPlan,
  kOtherSnapshot,
  kQueueCycle,
  kRemark,  // of warnings only
  kSubgroupCycle,
  kTooDeep,
  kTooLarge,
  kUnavailable,
  kUnclear,  // an importer could not read all of the object
  kUnknownGang,
  kUnknownKey,
  kUnknownName,
  kUnknownNode,
  kUnknownPriorityClass,
  kUnknownQueue,
  kUnknownSubgroup,
  kUnknownTopologyLevel,
  kUnread,  // of warnings only
  kUnsupportedFormat,
  kWrongType
};
inline constexpr std::size_t kErrorCodes = static_cast<std::size_t>(ErrorCode::kWrongType) + 1;

// "InvalidJson"; empty for kNone. Stable: programs compare it.
std::string_view error_code_text(ErrorCode code);

// The code with this text; none if there is no such code.
std::optional<ErrorCode> find_error_code(std::string_view text);

}  // namespace muster
