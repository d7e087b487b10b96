// The parts of the planner that find the candidates of a pod, on a cluster of a test.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heuristics/preemption/candidate_builder.h"
#include "heuristics/preemption/candidate_index.h"
#include "test/heuristics/preemption/planning.h"

namespace muster::preemption {

class CandidateParts : public Planning {
 public:
  explicit CandidateParts(const std::string& body) : Planning(body) {}

  // Of the pod's own gang, by preemption unless told otherwise; a scan has begun.
  CandidateParts& claim_of(const char* name, PreemptionMode mode = PreemptionMode::kPreempt) {
    claim_for(name, mode);
    builder.capacity().begin_scan(claim);
    return *this;
  }
  static std::vector<PodIndex> victims_of(const NodeCandidate& candidate) {
    std::vector<PodIndex> pods;
    for (const VictimUnit& unit : candidate.victims) pods.insert(pods.end(), unit.pods.begin(), unit.pods.end());
    return pods;
  }

  ClearableCapacity::Answer could_take(const char* name, const char* on) {
    return builder.capacity().could_take(claim, pod(name), node(on));
  }

  CandidateBuilder builder{context};
  CandidateOrder ranking{context, builder.capacity()};
  CandidateIndex index{context};
};

}  // namespace muster::preemption
