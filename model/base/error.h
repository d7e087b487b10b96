// What is wrong with an input line: a value, never an exception.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "model/base/error_code.h"

namespace muster {

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
