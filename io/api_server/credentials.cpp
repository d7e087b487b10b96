#include "io/api_server/credentials.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

namespace muster::api_server {

namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

// Nothing that could end a line of the request's head.
bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
}

}  // namespace

Credentials::Credentials(std::string token_file, Clock clock, std::chrono::milliseconds period)
    : file_(std::move(token_file)), clock_(std::move(clock)), period_(period) {}

const std::string& Credentials::token() {
  if (!file_.empty() && (!read_at_ || clock_() - *read_at_ >= period_)) read();
  return token_;
}

bool Credentials::refuse(const std::string& token) {
  if (!file_.empty() && token == token_) read();
  return token != token_;
}

void Credentials::read() {
  read_at_ = clock_();
  std::ifstream stream(file_, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (const std::string_view token = trimmed(text); is_token(token)) token_ = token;
}

}  // namespace muster::api_server
