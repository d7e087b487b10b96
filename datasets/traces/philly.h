// Microsoft's Philly trace as jobs over time, on its own virtual clusters or on another inventory of nodes.
//
// Source: 30,940 jobs derived from the Philly trace (Jeon et al., "Analysis of Large-Scale Multi-Tenant GPU Clusters
// for DNN Training Workloads", USENIX ATC 2019) by the authors of Chronus (Gao et al., SoCC 2021); the carried files,
// and how a row becomes a gang, are described in datasets/README.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/generator/instance.h"
#include "model/base/error_code.h"

namespace muster::traces {

// What jobs tell of their duration: nothing; a duration that is too short or too long by up to a factor of 10/3 or 3,
// of which the logarithm is drawn evenly; the true one.
enum class PhillyEstimates : std::uint8_t { kNone, kNoisy, kExact };

enum class PhillyKind : std::uint8_t { kStrict, kSoft, kBest };

struct PhillyJob {
  std::string name;
  std::string user;  // "vc_" and the virtual cluster
  PhillyKind kind = PhillyKind::kStrict;
  std::int32_t gpus = 0;
  std::int64_t submit_minutes = 0, duration_minutes = 0;
};

struct PhillyCluster {
  std::string name;
  std::int32_t nodes = 0;  // of 8 GPUs
};

struct PhillyInput {
  std::vector<PhillyJob> jobs;  // in the order of the file
  std::vector<PhillyCluster> clusters;
};

inline constexpr std::int32_t kPhillyGpusPerNode = 8;

// Columns job_id, user, num_gpu, submit_time, duration (minutes), job_type ("strict", "soft", "best"). Errors, here and
// below: MissingColumn, InvalidValue, DuplicateName; the path is "FILE:LINE:COLUMN".
Result<std::vector<PhillyJob>> parse_philly_jobs(std::string_view text, std::string_view file);
// Columns vc, "node num".
Result<std::vector<PhillyCluster>> parse_philly_clusters(std::string_view text, std::string_view file);
// Columns gpu_model, gpu_capacity_num, cpu_num, node_name. Memory is not given, so none is set.
Result<std::vector<generator::InstanceNode>> parse_inventory(std::string_view text, std::string_view file);

// Files may be compressed, as PATH.xz. Errors: NoInput for a file that cannot be read; else as the parsers, and
// UnknownName for a job of a virtual cluster that is not listed.
Result<PhillyInput> load_philly(const std::string& jobs, const std::string& clusters);
Result<std::vector<generator::InstanceNode>> load_inventory(const std::string& path);
// The folder of the carried traces in the source tree that this was compiled from.
std::string datasets_source_directory();

struct PhillyOptions {
  std::string id = "philly";
  std::uint64_t seed = 1;
  // Both or none. The jobs that arrive in this many days, drawn so that their work is `load` times what the cluster can
  // do in that time: see philly_arrivals. None: every job once, when it was submitted.
  std::optional<std::int32_t> days;
  std::optional<double> load;
  std::vector<generator::InstanceNode> nodes;  // empty: those of the virtual clusters
  bool place_only = false;
  bool one_queue = false;  // all jobs in one queue with all GPUs as its quota
  // For jobs of a whole node and more: the weight of the gang, above 0; the addition to its priority, at least 0.
  double large_weight = 1;
  std::int32_t large_priority = 0;
  PhillyEstimates estimates = PhillyEstimates::kNone;
};

// One arrival of a job: `copy` 0 is the first of a job, `minutes` since the start.
struct PhillyArrival {
  std::size_t job = 0;
  std::int64_t minutes = 0;
  std::int64_t copy = 0;
};

// In the order of time. Jobs without GPUs are left out. With days D and load L, every job comes c times on average, c
// being L x GPUs x D days / the work of all jobs: whole times for sure, once more by chance. The first copy comes when
// it was submitted, modulo D days; each further one a drawn number of whole days later, modulo D days again, so that
// the hours of the day stay what they are.
std::vector<PhillyArrival> philly_arrivals(const PhillyInput& input, const PhillyOptions& options);

// The nodes of the virtual clusters, named after them.
std::vector<generator::InstanceNode> philly_nodes(const PhillyInput& input);

// The fault of the options; none: valid. Code InvalidOption, path: the option's name.
std::optional<InputError> philly_fault(const PhillyOptions& options);

// The workload (docs/simulation.md): a snapshot line, then one event line an arrival. One leaf queue for each virtual
// cluster, whose GPU quota is its part of all GPUs, or one queue for all. Requires no philly_fault. Equal arguments
// give equal bytes.
std::string philly_workload(const PhillyInput& input, const PhillyOptions& options);

// The nodes alone, as a snapshot line without the line feed.
std::string inventory_snapshot(const std::vector<generator::InstanceNode>& nodes, const std::string& id);

}  // namespace muster::traces
