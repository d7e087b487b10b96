// One input for several processes, each of which answers a part of the lines: the engines that start them (Kubernetes
// Indexed Jobs, Slurm arrays, GNU parallel, Ray, Spark) only have to count.
#pragma once

#include <cstdint>
#include <vector>

#include "cli/terminal/options.h"

namespace muster::cli {

// Of the lines that are not blank, counted from 0, those whose number modulo `count` is `index`.
struct Shard {
  std::int64_t index = 0, count = 1;

  bool is_whole() const { return count == 1; }
  bool has(std::int64_t line) const { return line % count == index; }
};

// The rows of --shard and --shards, for CommandSyntax.
std::vector<OptionRow> with_shard_options(std::vector<OptionRow> others);

// Of --shard I/N; of --shards N, with the index in JOB_COMPLETION_INDEX, which Kubernetes sets in the pods of an
// Indexed Job, or in SLURM_ARRAY_TASK_ID, less SLURM_ARRAY_TASK_MIN. The whole input if neither is given. Throws
// UsageError.
Shard shard_of(const Settings& settings);

}  // namespace muster::cli
