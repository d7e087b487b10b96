// What would start a waiting gang: docs/semantics.md, "Remedies".
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/change/change.h"
#include "solver/remedies/admission.h"

namespace muster::answers {

// In the order in which remedies of equal size are listed: what costs least first.
enum class RemedyKind : std::uint8_t {
  kUncordon,
  kTolerate,
  kRelaxLevel,
  kLowerMinimum,
  kRaiseLimit,
  kRaiseQuota,
  kRaisePriority,
  kStopGangs,
  kAddNodes
};
inline constexpr std::array kRemedyKinds = {
    RemedyKind::kUncordon,      RemedyKind::kTolerate,   RemedyKind::kRelaxLevel,
    RemedyKind::kLowerMinimum,  RemedyKind::kRaiseLimit, RemedyKind::kRaiseQuota,
    RemedyKind::kRaisePriority, RemedyKind::kStopGangs,  RemedyKind::kAddNodes};

constexpr std::string_view remedy_kind_name(RemedyKind kind) {
  constexpr std::array<std::string_view, kRemedyKinds.size()> kNames = {"uncordon",      "tolerate",   "relaxLevel",
                                                                        "lowerMinimum",  "raiseLimit", "raiseQuota",
                                                                        "raisePriority", "stop",       "addNodes"};
  return kNames[static_cast<std::size_t>(kind)];
}

// Applied to the snapshot, the changes make the next plan admit the gang: in a plan that is proven down to the level
// `seniority`, so that no better one leaves it out.
struct Remedy {
  RemedyKind kind = RemedyKind::kAddNodes;
  std::vector<change::Change> changes;
  // Nodes to uncordon or to add, taints, levels given up, members less, units (GPUs, cores, GiB or others, rounded up)
  // by which quotas and limits rise, priorities to pass, running pods to stop.
  std::int64_t size = 0;
  bool is_smallest = false;  // proven: the plans with less of the same do not admit it
  Admitted with;             // the plan with these changes
};

struct RemedyAnswer {
  std::vector<Remedy> remedies;        // by size, then by kind
  std::vector<Remedy> unproven;        // the same in plans that are not proven, of kinds that have no other
  std::vector<RemedyKind> without;     // kinds of which nothing that was tried helps
  std::vector<RemedyKind> unfinished;  // kinds for which the time or the tests ended first
  std::int64_t tests = 0;              // plans that were made
};

// Remedies in words, and as the options of `muster what-if`.
//
// What to do, as a clause without a full stop: "add 2 nodes like n1". `snapshot`: before the change.
std::string remedy_words(const Remedy& remedy, const Snapshot& snapshot);
// "--add-nodes 2xn1", quoted for a shell.
std::string remedy_options(const Remedy& remedy);

}  // namespace muster::answers
