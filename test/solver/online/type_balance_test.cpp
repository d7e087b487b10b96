#include <gtest/gtest.h>

#include "solver/online/online_states.h"

namespace muster::online {
namespace {

std::vector<policies::OnlineType> three_types() {
  std::vector<policies::OnlineType> types(3);
  for (policies::OnlineType& type : types) type.devices = 4;
  return types;
}

// Two nodes of the first type, one of each other one.
TypeBalance balance_of_four_nodes() { return {three_types(), {0, 0, 1, 2}}; }

TEST(TypeBalance, CountsDevices) { EXPECT_EQ(balance_of_four_nodes().devices(), 16); }

TEST(TypeBalance, AUsedTypeIsMoreExpensiveThanTheOthers) {
  TypeBalance balance = balance_of_four_nodes();
  EXPECT_EQ(balance.balance(), 0);
  balance.use(1, 4);  // all of it, a quarter of the cluster
  EXPECT_FLOAT_EQ(balance.shift(1), -0.75F);
  EXPECT_FLOAT_EQ(balance.shift(0), 0.25F);
  EXPECT_LT(balance.balance(), 0);
  balance.use(1, -4);
  EXPECT_EQ(balance.balance(), 0);
}

TEST(TypeBalance, TypesThatTheSameClassesAcceptAreOneSet) {
  TypeBalance balance = balance_of_four_nodes();
  policies::OnlineClass any, first;
  any.devices = first.devices = 1;
  any.accepts = 0b111;
  first.accepts = 0b001;
  balance.group({&any, &first});
  balance.use(1, 2);
  EXPECT_EQ(balance.shift(1), balance.shift(2));
  EXPECT_NE(balance.shift(0), balance.shift(1));
}

}  // namespace
}  // namespace muster::online
