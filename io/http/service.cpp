#include "io/http/service.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "io/json/json_writer.h"
#include "model/base/code_table.h"

namespace muster::http {

bool is_same_in_any_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  });
}

std::string_view HttpRequest::field(std::string_view name) const {
  const auto found =
      std::ranges::find_if(fields, [&](const HttpField& f) { return is_same_in_any_case(f.name, name); });
  return found == fields.end() ? std::string_view() : std::string_view(found->value);
}

namespace {

constexpr CodeTable<HttpFault, kHttpFaults> kFaultTexts = {
    {{HttpFault::kBodyTimeout, "BodyTimeout"},
     {HttpFault::kBodyTooLarge, "BodyTooLarge"},
     {HttpFault::kHeaderTimeout, "HeaderTimeout"},
     {HttpFault::kHeaderTooLarge, "HeaderTooLarge"},
     {HttpFault::kInvalidHttp, "InvalidHttp"},
     {HttpFault::kMethodNotAllowed, "MethodNotAllowed"},
     {HttpFault::kNoState, "NoState"},
     {HttpFault::kNotFound, "NotFound"},
     {HttpFault::kQueueFull, "QueueFull"},
     {HttpFault::kSequenceGap, "SequenceGap"},
     {HttpFault::kTooManyBytes, "TooManyBytes"},
     {HttpFault::kUnknownExpectation, "UnknownExpectation"},
     {HttpFault::kUnsupportedContentEncoding, "UnsupportedContentEncoding"},
     {HttpFault::kUnsupportedMediaType, "UnsupportedMediaType"},
     {HttpFault::kUnsupportedTransferEncoding, "UnsupportedTransferEncoding"},
     {HttpFault::kUnsupportedVersion, "UnsupportedVersion"}}};
static_assert(is_in_order(kFaultTexts));

}  // namespace

std::string_view problem_code_text(const ProblemCode& code) {
  if (const auto* of_input = std::get_if<ErrorCode>(&code)) return error_code_text(*of_input);
  return text_of(kFaultTexts, std::get<HttpFault>(code));
}

std::string_view reason_phrase(unsigned status) {
  constexpr std::array<std::pair<unsigned, std::string_view>, 19> kPhrases = {{{100, "Continue"},
                                                                               {200, "OK"},
                                                                               {400, "Bad Request"},
                                                                               {404, "Not Found"},
                                                                               {405, "Method Not Allowed"},
                                                                               {408, "Request Timeout"},
                                                                               {409, "Conflict"},
                                                                               {411, "Length Required"},
                                                                               {413, "Content Too Large"},
                                                                               {415, "Unsupported Media Type"},
                                                                               {417, "Expectation Failed"},
                                                                               {422, "Unprocessable Content"},
                                                                               {429, "Too Many Requests"},
                                                                               {431, "Request Header Fields Too Large"},
                                                                               {500, "Internal Server Error"},
                                                                               {501, "Not Implemented"},
                                                                               {503, "Service Unavailable"},
                                                                               {504, "Gateway Timeout"},
                                                                               {505, "HTTP Version Not Supported"}}};
  for (const auto& [known, phrase] : kPhrases) {
    if (known == status) return phrase;
  }
  return "Unknown";
}

HttpResponse problem_response(const HttpProblem& problem, std::string_view request_id) {
  HttpResponse response{problem.status, "application/problem+json", {}, {}};
  json::JsonWriter json(response.body);
  json.object().member("type", "about:blank").member("title", reason_phrase(problem.status));
  json.member("status", problem.status)
      .member("detail", problem.detail)
      .member("code", problem_code_text(problem.code));
  if (!problem.path.empty()) json.member("path", problem.path);
  json.member("requestId", request_id).end().raw("\n");
  return response;
}

}  // namespace muster::http
