// What the import does with each annotation, label and field of the systems that it knows: one table for each dialect,
// one row for each key. docs/known-keys.md is made of it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace muster::kubernetes::known {

enum class Treatment : std::uint8_t {
  kRead,       // in the objects of the row; what docs/kubernetes.md says of it
  kHarmless,   // decides nothing that a plan states
  kIgnored,    // may change `may_change`; the plan says so
  kHeld,       // may restrict where pods run or when they start: pods that it may concern are not placed, and not moved
  kProtected,  // may protect a pod that runs: it is neither evicted nor moved
};

// What becomes of a key.
struct Rule {
  Treatment treatment = Treatment::kRead;
  // What the plan may have wrong since the key is not read; reads after "may change". Only of kIgnored, kHeld and
  // kProtected.
  std::string_view may_change = {};
  // Values with which the key is harmless, with `|` between them: "false|0".
  std::string_view unless = {};
  // An annotation or label with which the key is harmless: it names a group that was made with regard to the key.
  std::string_view unless_key = {};
};

// On which objects a key stands; bits.
using Objects = std::uint8_t;
inline constexpr Objects kLivePods = 1;
inline constexpr Objects kTemplates = 64;  // of pods that do not exist yet, and the object that will make them
inline constexpr Objects kPods = kLivePods | kTemplates;
inline constexpr Objects kNodes = 2;
inline constexpr Objects kGroups = 4;  // PodGroups, Workloads and their like
inline constexpr Objects kQueues = 8;
inline constexpr Objects kOwners = 16;  // what makes pods: Job, LeaderWorkerSet, RayCluster, ...
inline constexpr Objects kOthers = 32;
inline constexpr Objects kAll = 127;

// An annotation, a label, or a resource that pods request. A key that ends in `*` stands for all that begin so and have
// no row of their own.
struct KeyRow {
  Objects on;
  std::string_view key;
  Rule rule;
};

// A field of a kind. Lists are passed through: "spec.subGroups.minMember" is a member of each element. A row counts for
// all that is below it and has no row of its own. An empty path: the kind itself is not read.
struct FieldRow {
  std::string_view kind, path;
  Rule rule;
};

struct Dialect {
  std::string_view name;
  // Its keys begin with one of these and a slash, or with one of them after a dot: "kai.scheduler". A key of such a
  // domain that is in no row is reported. Names have a space between them.
  std::string_view domains;
  std::string_view groups;  // API groups of its kinds
  std::span<const KeyRow> annotations, labels, resources;
  std::span<const FieldRow> fields;
};

}  // namespace muster::kubernetes::known
