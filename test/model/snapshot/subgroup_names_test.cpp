#include "model/snapshot/subgroup_names.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

std::vector<SnapshotSubgroup> subgroups() {
  std::vector<SnapshotSubgroup> all(3);
  all[0].name = "prefill";
  all[1].name = "leader", all[1].parent = "prefill";
  all[2].name = "router";
  return all;
}

TEST(SubgroupNames, KnowsWhichHaveOthersBelowThem) {
  const SubgroupNames names(subgroups());
  EXPECT_TRUE(names.has("prefill") && names.is_inner("prefill") && !names.has_leaf("prefill"));
  EXPECT_TRUE(names.has_leaf("leader") && names.has_leaf("router") && !names.is_inner("router"));
  EXPECT_FALSE(names.has("") || names.has_leaf("decode") || names.is_inner("decode"));
}

TEST(SubgroupNames, AddsEachNameOnce) {
  SubgroupNames names(subgroups());
  EXPECT_TRUE(names.add("decode"));
  EXPECT_FALSE(names.add("decode"));
  EXPECT_FALSE(names.add("prefill"));
  EXPECT_TRUE(names.has_leaf("decode") && names.is_inner("prefill"));
  EXPECT_TRUE(SubgroupNames().empty() && !names.empty());
}

}  // namespace
}  // namespace muster
