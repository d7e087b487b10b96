// What a snapshot's cluster is used for now: its queues, GPUs, gangs and nodes in numbers. For `muster top`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/problem/problem.h"

namespace muster::cli {

// Of a queue and all queues below it.
struct QueueOverview {
  QueueIndex queue;
  QueueAmounts fair_share{}, allocated{};
  MicroGpu waiting_gpus = 0;  // that pending pods request
  std::int64_t running_gangs = 0, waiting_gangs = 0;
  std::optional<std::int64_t> longest_wait_seconds;  // of the gangs that wait
  std::string other_limits;                          // "pods 2 of 3", for people: those of its own
};

// Of all devices of one model and memory. `devices` is the sum of the three amounts and of what is free on cordoned
// nodes.
struct DeviceOverview {
  std::string_view model;       // empty: unknown
  std::int64_t memory_mib = 0;  // of one; 0: unknown
  std::int64_t devices = 0;
  MicroGpu allocated = 0;
  std::int64_t free_whole = 0;           // idle devices
  MicroGpu free_in_parts = 0;            // on devices that pods share
  std::int64_t largest_block = 0;        // the most idle devices of one node
  std::int64_t largest_block_nodes = 0;  // how many nodes have as many
  MicroGpu free_cordoned = 0;
};

// A gang that waits has a pending or gated pod and none that runs.
enum class GangStatus : std::uint8_t { kRunning, kWaiting, kGated };

struct GangOverview {
  GangIndex gang;
  GangStatus status = GangStatus::kWaiting;
  std::int64_t running = 0, waiting = 0;  // pods
  MicroGpu gpus = 0;                      // of both

  bool waits() const { return status != GangStatus::kRunning; }
};

// A node with free GPUs that is not cordoned.
struct NodeOverview {
  NodeIndex node;
  std::int64_t devices = 0, idle = 0;
  MicroGpu free_in_parts = 0;
  MicroGpu largest_part = 0;             // of the free ones on one device that pods share
  Amount free_cpu = 0, free_memory = 0;  // thousandths, bytes
  MicroGpu largest_fit = 0;              // the largest request of a pod of the snapshot that still fits; 0: none does
  // What no request can use well: parts, and idle devices if no request of the snapshot fits.
  MicroGpu wasted() const { return free_in_parts + (largest_fit == 0 ? idle * 1'000'000 : 0); }
};

struct Overview {
  std::vector<QueueOverview> queues;    // in the order of the problem
  std::vector<DeviceOverview> devices;  // by model and memory
  std::vector<GangOverview> gangs;      // that run or wait, in the order of the problem
  std::vector<NodeOverview> nodes;      // in the order of the problem
  std::int64_t cordoned_nodes = 0;
};

// Releasing pods hold what they have. Cost: O(pods x depth of queues + nodes x (resources + devices)), and O(nodes x
// classes of pods) for requests that still fit.
Overview overview_of(const Problem& problem);

}  // namespace muster::cli
