#include "cli/answers/cluster.h"

#include <optional>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/line/line.h"
#include "cli/line/line_options.h"
#include "cli/line/line_source.h"
#include "cli/terminal/exit_code.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"
#include "io/kubernetes/object/slim.h"
#include "io/muster_v1/snapshot_reader.h"
#include "model/base/error.h"

namespace muster::cli {
namespace {

int complain(const std::string& message, int exit_code) {
  write_all(STDERR_FILENO, fmt::format("muster: {}\n", message));
  return exit_code;
}

}  // namespace

std::vector<OptionRow> with_cluster_options(std::vector<OptionRow> others) {
  const std::vector<OptionRow> rows = with_policy_options(
      {{"from", "FILE", "where the cluster is read from; - is stdin [-]", 'f'},
       {"lenient", "", "ignore keys that the format does not define"},
       {"strict", "", "treat an inconsistent object as an error, not as a warning"},
       duration_annotation_row(),
       {"time", "INSTANT",
        "current time for Kubernetes objects (default: the clock for stdin, the latest instant in the objects for "
        "files)"},
       {"quiet", "", "print only errors on stderr"},
       {"config", "FILE", "read options as NAME = VALUE lines; MUSTER_NAME variables and flags override them"}});
  others.insert(others.end(), rows.begin(), rows.end());
  return others;
}

std::variant<ClusterInput, int> read_cluster(const Settings& settings) {
  const std::string file = settings.text("from").value_or("-");
  muster_v1::SnapshotReader reader(reader_options(settings));
  LineSource source({file}, {});
  std::optional<ClusterInput> last;
  while (const auto line = source.next()) {
    ParsedLine parsed =
        parse_line(reader, line->text, line->number, line->is_of_stdin ? TimeSource::kClock : TimeSource::kObjects);
    if (!parsed.snapshot) {
      const InputError& error = parsed.snapshot.error();
      return complain(fmt::format("{}: line {}: {}: {}", escaped(file), line->number, escaped(error.path),
                                  escaped(error.message)),
                      kExitNoValidLine);
    }
    last = ClusterInput{std::move(*parsed.snapshot), std::string(line->text),
                        kubernetes::begins_as_kubernetes(line->text)};
    if (settings.is_on("quiet")) continue;
    for (const std::string& remark : parsed.remarks) complain(escaped(remark), kExitAnswered);
  }
  if (!source.failure().empty()) return complain(source.failure(), kExitNoInput);
  if (!last) return complain(fmt::format("{}: the input contains no line", escaped(file)), kExitNoInput);
  return *std::move(last);
}

}  // namespace muster::cli
