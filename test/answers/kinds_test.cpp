#include "io/kubernetes/object/kinds.h"

#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "test/cli/program.h"
#include "test/support/paths.h"

namespace muster::kubernetes {
namespace {

TEST(KnownKinds, AreDistinctAndSayWhatTheirAbsenceCosts) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const KnownKind& kind : known_kinds()) {
    EXPECT_TRUE(seen.emplace(kind.group, kind.kind).second) << kind.group << " " << kind.kind;
    EXPECT_TRUE(kind.versions.starts_with(' ') && kind.versions.ends_with(' ')) << kind.kind;
    EXPECT_FALSE(kind.without.empty()) << kind.kind;
  }
}

TEST(KnownKinds, AreReadInTheirVersionsOnly) {
  const KnownKind* queue = find_known_kind("kueue.x-k8s.io", "v1beta1", "ClusterQueue");
  ASSERT_NE(queue, nullptr);
  EXPECT_EQ(queue->meaning, KubernetesKind::kClusterQueue);
  for (const std::string_view version : {"", "v1", "v1beta", "v1beta3", " "})
    EXPECT_EQ(find_known_kind("kueue.x-k8s.io", version, "ClusterQueue"), nullptr) << version;
  EXPECT_EQ(find_known_kind("", "v1", "Service"), nullptr);
}

// A later version whose name is a part of an earlier one.
TEST(KnownKinds, HaveVersionsThatAreComparedAsAWhole) {
  const KnownKind kind{"g", "K", " v1beta1 v1 ", KubernetesKind::kPod, true, "x"};
  EXPECT_TRUE(kind.reads("v1"));
  EXPECT_TRUE(kind.reads("v1beta1"));
  EXPECT_FALSE(kind.reads("v1beta"));
}

TEST(KnownKinds, AreDocumented) {
  const cli::Workplace place;
  const std::string text = place.shell("cat " + test::source_folder() + "/docs/kubernetes.md").out;
  for (const KnownKind& kind : known_kinds()) {
    EXPECT_NE(text.find(kind.kind), std::string::npos) << kind.kind;
    EXPECT_NE(text.find(kind.group), std::string::npos) << kind.group;
  }
}

}  // namespace
}  // namespace muster::kubernetes
