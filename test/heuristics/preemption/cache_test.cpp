#include <vector>

#include <gtest/gtest.h>

#include "heuristics/preemption/candidate_index.h"
#include "test/support/case.h"

namespace muster::preemption {
namespace {

constexpr const char* kCluster = R"(
 "nodes":[{"name":"a","gpus":{"count":2}},{"name":"b","gpus":{"count":2}}],
 "gangs":[{"name":"g"}],
 "pods":[{"name":"alone","gpu":{"count":1},"node":"a"},
         {"name":"g-0","gang":"g","gpu":{"count":1},"node":"a"},
         {"name":"g-1","gang":"g","gpu":{"count":1},"node":"b"},
         {"name":"other","gpu":{"count":1},"node":"b"}])";

struct Victims {
  std::vector<PodIndex> pods;
};
struct KeptCandidate {
  NodeIndex node;
  std::vector<Victims> victims;
};

class KeptCandidates : public testing::Test {
 protected:
  KeptCandidates() { cache_.begin(key_); }
  void keep(NodeIndex node, const std::vector<PodIndex>& pods) { cache_.keep(state_, {node, {{pods}}}, {}); }
  void take_and_undo(PodIndex pod) {
    const auto before = state_.checkpoint();
    state_.take(pod);
    state_.rollback(before);
  }
  bool is_known(NodeIndex node) { return cache_.find(state_, node) != nullptr; }

  test::Case problem_{kCluster};
  ClusterState state_{*problem_, ClusterState::Releasing::kFreed};
  CandidateCache<KeptCandidate> cache_{problem_->nodes.size()};
  CandidateKey key_;
  NodeIndex a_ = problem_.node("a"), b_ = problem_.node("b");
  PodIndex alone_ = problem_.pod("alone"), g0_ = problem_.pod("g-0"), g1_ = problem_.pod("g-1"),
           other_ = problem_.pod("other");
};

TEST_F(KeptCandidates, AreForgottenOnceAnythingOnTheNodeChanges) {
  keep(a_, {alone_});
  keep(b_, {other_});
  EXPECT_TRUE(is_known(a_));
  take_and_undo(alone_);
  EXPECT_FALSE(is_known(a_));
  EXPECT_TRUE(is_known(b_));
}

TEST_F(KeptCandidates, AreForgottenOnceTheGangOfAVictimChangesElsewhere) {
  keep(a_, {g0_});
  take_and_undo(g1_);
  EXPECT_FALSE(is_known(a_));
}

TEST_F(KeptCandidates, AreForgottenForPodsOfAnotherKind) {
  keep(a_, {alone_});
  cache_.begin(key_);
  EXPECT_TRUE(is_known(a_));
  key_.priority = 7;
  cache_.begin(key_);
  EXPECT_FALSE(is_known(a_));
}

TEST_F(KeptCandidates, MayBeThatThereAreNoVictimsUntilTheNodeOrAGangOnItChanges) {
  EXPECT_FALSE(cache_.has_no_victims(state_, a_));
  cache_.keep_none(state_, a_);
  EXPECT_TRUE(cache_.has_no_victims(state_, a_));
  EXPECT_FALSE(is_known(a_));
  take_and_undo(other_);  // elsewhere, and of no gang that is on the node
  EXPECT_TRUE(cache_.has_no_victims(state_, a_));
  take_and_undo(g1_);
  EXPECT_FALSE(cache_.has_no_victims(state_, a_));
}

}  // namespace
}  // namespace muster::preemption
