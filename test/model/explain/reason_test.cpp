#include "model/explain/reason.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace muster::explain {
namespace {

TEST(ReasonText, NamesEachCodeDifferently) {
  std::set<std::string> texts;
  for (int code = 0; code <= static_cast<int>(ReasonCode::kPreempted); ++code)
    texts.insert(reason_text({static_cast<ReasonCode>(code), "gpu"}));
  EXPECT_EQ(texts.size(), static_cast<std::size_t>(ReasonCode::kPreempted) + 1);
  EXPECT_EQ(reason_text({}), "");
  EXPECT_EQ(reason_text({ReasonCode::kOutOfTime}), "OutOfTime");
  EXPECT_EQ(reason_text({ReasonCode::kPreempted}), "Preempted");
}

TEST(ReasonText, NamesTheResourceThatIsShort) {
  EXPECT_EQ(reason_text({ReasonCode::kInsufficient, "memory"}), "InsufficientMemory");
  EXPECT_EQ(reason_text({ReasonCode::kInsufficient, "hostPorts"}), "InsufficientHostPorts");
  EXPECT_EQ(reason_text({ReasonCode::kInsufficient, "rdma/hca"}), "Insufficientrdma/hca");
}

TEST(MakeRoomText, NamesEachCode) {
  EXPECT_EQ(make_room_text(MakeRoomCode::kNone), "");
  EXPECT_EQ(make_room_text(MakeRoomCode::kNotAllowed), "NotAllowed");
  EXPECT_EQ(make_room_text(MakeRoomCode::kDisruptionBudget), "DisruptionBudget");
  EXPECT_EQ(make_room_text(MakeRoomCode::kOutOfTime), "OutOfTime");
}

}  // namespace
}  // namespace muster::explain
