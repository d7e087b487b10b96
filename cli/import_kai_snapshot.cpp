#include "cli/import_kai_snapshot.h"

#include <string>
#include <utility>

#include "cli/imported_objects.h"
#include "cli/line/line_options.h"
#include "cli/terminal/exit_code.h"
#include "cli/terminal/options.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"
#include "io/kubernetes/kai_snapshot.h"

namespace muster::cli {

const CommandSyntax& import_kai_snapshot_syntax() {
  static const CommandSyntax syntax{
      "muster import kai-snapshot FILE [OPTION...]",
      "Prints one snapshot line from the archive that KAI's scheduler serves at /get-snapshot: a zip file with\n"
      "snapshot.json. Lists what it ignores on stderr.",
      {{"time", "INSTANT", "current time (default: the latest instant in the objects)"},
       {"strict", "", "treat an inconsistent object as an error, not as a warning"},
       duration_annotation_row(),
       {"quiet", "", "print only errors on stderr"}},
      1,
      1};
  return syntax;
}

int run_import_kai_snapshot(int argc, const char* const* argv) {
  const Settings settings(import_kai_snapshot_syntax(), argc, argv);
  if (settings.wants_help()) return print(help_text(import_kai_snapshot_syntax()), kExitAnswered);
  kubernetes::KubernetesOptions options = kubernetes_options(settings);
  const std::string& file = settings.arguments()[0];
  Result<kubernetes::KaiSnapshot> snapshot = kubernetes::kai_snapshot_objects(file);
  if (!snapshot) {
    const int code = complain_of_import(snapshot.error(), file);
    return snapshot.error().code == ErrorCode::kNoInput ? kExitNoInput : code;
  }
  options.policy = snapshot->configuration.policy;
  options.grace_period = snapshot->configuration.grace_period;
  options.kai_scheduler = snapshot->configuration.scheduler;
  options.kai_queue_label = snapshot->configuration.queue_label;
  const Remarks remarks = settings.is_on("quiet") ? Remarks::kQuiet : Remarks::kTold;
  if (remarks == Remarks::kTold) {
    for (const std::string& remark : snapshot->configuration.remarks) {
      complain_of_import(escaped(remark), kExitAnswered);
    }
  }
  return print_imported(std::move(snapshot->objects), options, remarks);
}

}  // namespace muster::cli
