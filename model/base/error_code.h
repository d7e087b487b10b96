// Codes of what is wrong with an input, for programs: docs/format.md, "Error records" and "Warnings". Codes here, text
// at the border.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

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

// What is wrong with an input line: a value, never an exception.
//
// `code` is for programs, `path` is the JSON path of the culprit ("$.pods[3].gpu"), `message` is for people. The caller
// that reads lines adds the line number.
struct InputError {
  ErrorCode code = ErrorCode::kNone;
  std::string path;
  std::string message;
};

// Either a value or the reason why there is none.
template <class T>
class Result {
 public:
  Result(T value) : content_(std::move(value)) {}           // NOLINT(google-explicit-constructor)
  Result(InputError error) : content_(std::move(error)) {}  // NOLINT(google-explicit-constructor)
  explicit operator bool() const { return std::holds_alternative<T>(content_); }
  T& operator*() & { return std::get<T>(content_); }
  T&& operator*() && { return std::get<T>(std::move(content_)); }
  const T& operator*() const& { return std::get<T>(content_); }
  T* operator->() { return &std::get<T>(content_); }
  const T* operator->() const { return &std::get<T>(content_); }
  const InputError& error() const { return std::get<InputError>(content_); }

 private:
  std::variant<T, InputError> content_;
};

}  // namespace muster
