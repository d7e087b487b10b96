// The Alibaba GPU cluster trace of 2023 ("OpenB") as snapshots: its nodes and pods as they are, in the published order
// of arrival, tiled, in gangs, or resampled onto an occupied cluster.
//
// Source: Weng et al., "Beware of Fragmentation", USENIX ATC 2023; the carried files are described in
// datasets/README.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/generator/instance.h"
#include "model/base/error_code.h"

namespace muster::traces {

struct OpenbPod {
  std::string name;
  generator::PodShape shape;
};

// Nodes, the pod list, and the order of arrival as rows of the pod list, from 0 (empty: none is known). A row may be
// repeated in the order: a further pod of the same shape.
struct OpenbInput {
  std::vector<generator::InstanceNode> nodes;
  std::vector<OpenbPod> pods;
  std::vector<std::uint32_t> order;
};

// Columns sn, cpu_milli, memory_mib, gpu, model. Memory of the devices is unknown. A node holds 1000 pods: the
// published experiment has no such bound, and a pod of the trace takes at least a core, so none is reached. Errors,
// here and below: MissingColumn, InvalidValue, DuplicateName; the path is "FILE:LINE:COLUMN".
Result<std::vector<generator::InstanceNode>> parse_openb_nodes(std::string_view text, std::string_view file);

// Columns name, cpu_milli, memory_mib, num_gpu, gpu_milli, and gpu_spec if present ("A|B": any of these models).
// gpu_milli below 1000 is valid with num_gpu 1 only: a share of one device.
Result<std::vector<OpenbPod>> parse_openb_pods(std::string_view text, std::string_view file);

// One row of the pod list a line, below `row_count`.
Result<std::vector<std::uint32_t>> parse_openb_order(std::string_view text, std::string_view file,
                                                     std::size_t row_count);

// Paths of the files; `order` may be empty.
struct OpenbFiles {
  std::string nodes, pods, order;
};
// The files of a trace in a directory laid out as datasets/openb, with the order of arrival of a seed (42 if none is
// given).
OpenbFiles openb_trace_files(const std::string& directory, const std::string& trace);
OpenbFiles openb_trace_files(const std::string& directory, const std::string& trace, std::uint32_t seed);
// What is carried: the traces, and the seeds of the orders of each.
const std::vector<std::string>& openb_traces();
const std::vector<std::uint32_t>& openb_seeds();
// datasets/openb of the source tree that this was compiled from.
std::string openb_source_directory();
// If a file does not exist, FILE.xz is tried. Errors: NoInput if it cannot be read; else as the parsers.
Result<OpenbInput> load_openb(const OpenbFiles& files);

struct OpenbOptions {
  std::string id = "openb";
  std::uint64_t seed = 1;

  // The pods: what has arrived at this percentage of the cluster's GPUs (see openb_arrival). None: the whole order if
  // there is one, else every row once.
  std::optional<double> arrived_percent;
  // That many copies of nodes and pods, names suffixed -t0, -t1, ...; each pod's copies follow one another.
  std::int32_t tile = 1;
  // Equal pods in gangs of 1..gang_max pods (seeded), all or nothing; those of one pod stand alone. 0 or 1: no gangs.
  std::int32_t gang_max = 0;
  // Gang sizes with weights 1/size^2, as in generated clusters, so that most pods are single; else all sizes are
  // equally likely. Needs gang_max > 1.
  bool falling_sizes = false;

  // Resampling, if one of these is given; then `arrived_percent` is not, and the order is not read. That many nodes,
  // drawn from the list with replacement. 0: the list (tiled) as it is.
  std::int32_t node_count = 0;
  // This share (0..1) of the GPUs under running pods, each a gang by itself: rows drawn with replacement, put on random
  // nodes where they fit. Falls short if a thousand draws in a row find no place.
  double occupied = 0;
  // Pending pods, drawn with replacement, that ask for this many times the free GPU thousandths (the last one may go
  // beyond). None: 1.2 on an empty cluster, 1.5 of what is free on an occupied one.
  std::optional<double> load;
  bool preemptible = false;           // the running pods
  std::int32_t pending_priority = 0;  // of the pending ones; running ones have 0

  bool place_only = false;  // the policy's only action is to place

  bool resamples() const { return node_count > 0 || occupied > 0 || load.has_value(); }
};

// The fault of the options for this input; none: valid. Code InvalidOption, path: the option's name.
std::optional<InputError> openb_fault(const OpenbInput& input, const OpenbOptions& options);

// The line, without the line feed. Requires no openb_fault. Ensures: equal arguments give equal bytes, on every
// platform.
std::string openb_snapshot(const OpenbInput& input, const OpenbOptions& options);

// "All that has arrived at P %": the shortest prefix of the order whose pods ask for at least P % of the cluster's
// GPUs; the pod that crosses the line is the last one in. Thousandths of a GPU, before tiling.
struct OpenbArrival {
  std::size_t events = 0;
  std::int64_t gpu_thousandths = 0;
  bool reached = false;  // the order is long enough
};
OpenbArrival openb_arrival(const OpenbInput& input, double percent);

std::int64_t openb_cluster_thousandths(const OpenbInput& input);

// The published results of the OpenB experiment: what six policies left unallocated, by arrived percent.
//
// Source: Weng et al., "Beware of Fragmentation", USENIX ATC 2023, as repeated in hkust-adsl/
// kubernetes-scheduler-simulator (`experiments/analysis/expected_results`); mean over ten seeds.
struct OpenbPublished {
  std::string trace, policy;           // "BestFit", "DotProd", "FGD", "GpuClustering", "GpuPacking", "Random"
  std::int32_t arrived = 0;            // percent of the cluster's GPUs that the pods so far have asked for, rounded
  std::int32_t unallocated_milli = 0;  // thousandths of a percent of the cluster's GPUs
};

// Of a directory laid out as datasets/openb. Errors: NoInput, MissingColumn, InvalidValue.
Result<std::vector<OpenbPublished>> load_openb_published(const std::string& directory);

}  // namespace muster::traces
