// The cluster that a command answers a question about: read once, from a file, stdin, or a live API server.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cli/terminal/options.h"
#include "model/snapshot/snapshot.h"

namespace muster::cli {

// A cluster as it was read; build_problem has not been called for it.
struct ClusterInput {
  Snapshot snapshot;
  bool is_kubernetes = false;  // it was made of Kubernetes objects
  std::string objects;         // these, as JSON documents one after another; empty if it was not
  std::string namespace_name;  // where names without a namespace are looked up first (resolve_gang); empty: nowhere
  std::vector<std::string> remarks;  // with --watch, for stderr: what could not be read completely
};

// The rows that every such command has: where the cluster comes from and how it is read. `others` come first. The
// letters f and n are taken.
std::vector<OptionRow> with_cluster_options(std::vector<OptionRow> others);

// Where the cluster comes from:
//   kubectl, URL   a live API server, by kubectl (cli/answers/live_cluster.h)
//   FILE, -        snapshot lines, of which the last one counts, or Kubernetes objects, as JSON or YAML, all documents
//                  together; `-` is stdin
// The default is kubectl if the program runs as kubectl-muster, stdin is a terminal, or --context or --kubeconfig is
// given; else stdin. `file`: what the command line names without --from. Throws UsageError: it names both.
std::string cluster_source(const Settings& settings, const std::optional<std::string>& file = std::nullopt);
// Whether it is an API server.
bool is_live(std::string_view source);

// The cluster of this source. With `--save`, the snapshot's line is written to a file. What could not be read
// completely is reported on stderr, but with --watch it is in the remarks. If the cluster cannot be read, that is
// reported, too, and the value is the exit code. Throws UsageError.
std::variant<ClusterInput, int> read_cluster(const Settings& settings,
                                             const std::optional<std::string>& file = std::nullopt);

// For a command that reads lines, and a cluster with these options only: the rows of --from, --save, and what belongs
// to them; whether one of them, or the name of the program, asks for a cluster; its line, with its remarks in it.
std::vector<OptionRow> cluster_source_rows();
bool names_cluster(const Settings& settings);
std::variant<std::string, int> read_cluster_line(const Settings& settings);

}  // namespace muster::cli
