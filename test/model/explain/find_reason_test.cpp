// Reasons and makeRoom codes are found by their texts, and by nothing else.
#include <set>
#include <string_view>

#include <gtest/gtest.h>

#include "model/explain/reason.h"

namespace muster::explain {
namespace {

TEST(FindReason, IsTheInverseOfItsText) {
  for (std::size_t code = 0; code < kReasonCodes; ++code) {
    const Reason reason{static_cast<ReasonCode>(code)};
    EXPECT_EQ(find_reason(reason_text(reason)), reason) << reason_text(reason);
  }
  for (const char* resource : {"gpu", "cpu", "memory", "pods", "hostPorts", "rdma/hca", "Licence"}) {
    const Reason reason{ReasonCode::kInsufficient, resource};
    EXPECT_EQ(find_reason(reason_text(reason)), reason) << resource;
  }
}

TEST(FindReason, FindsNoOtherText) {
  EXPECT_FALSE(find_reason("Fragment"));
  EXPECT_FALSE(find_reason("neverFits"));
  EXPECT_FALSE(find_reason("Insufficientgpu")) << "which is written InsufficientGpu";
}

TEST(FindMakeRoom, IsTheInverseOfItsText) {
  std::set<std::string_view> texts;
  for (std::size_t code = 0; code < kMakeRoomCodes; ++code) {
    const auto own = static_cast<MakeRoomCode>(code);
    texts.insert(make_room_text(own));
    EXPECT_EQ(find_make_room(make_room_text(own)), own) << make_room_text(own);
  }
  EXPECT_EQ(texts.size(), kMakeRoomCodes);
  EXPECT_FALSE(find_make_room("Never"));
}

}  // namespace
}  // namespace muster::explain
