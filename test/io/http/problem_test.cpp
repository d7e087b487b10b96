#include <set>
#include <string_view>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "io/http/service.h"

namespace muster::http {
namespace {

TEST(HttpProblem, HasADifferentTextForEachCode) {
  std::set<std::string_view> texts;
  for (std::size_t code = 0; code < kErrorCodes; ++code) texts.insert(problem_code_text(static_cast<ErrorCode>(code)));
  for (std::size_t fault = 0; fault < kHttpFaults; ++fault)
    texts.insert(problem_code_text(static_cast<HttpFault>(fault)));
  EXPECT_EQ(texts.size(), kErrorCodes + kHttpFaults);
}

TEST(HttpProblem, WritesItsCodeAsText) {
  const HttpResponse full = problem_response({429, HttpFault::kQueueFull, "try again", {}}, "7");
  EXPECT_EQ(full.status, 429U);
  EXPECT_EQ(full.body,
            R"({"type":"about:blank","title":"Too Many Requests","status":429,"detail":"try again","code":"QueueFull",)"
            "\"requestId\":\"7\"}\n");
  const HttpResponse unknown = problem_response({400, ErrorCode::kUnknownKey, "what?", "$.colour"}, "8");
  EXPECT_EQ(nlohmann::json::parse(unknown.body)["code"], "UnknownKey");
  EXPECT_EQ(nlohmann::json::parse(unknown.body)["path"], "$.colour");
}

}  // namespace
}  // namespace muster::http
