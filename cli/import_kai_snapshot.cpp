#include "cli/import_kai_snapshot.h"

#include <string>
#include <utility>

#include "cli/exit_code.h"
#include "cli/imported_objects.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "io/kai_snapshot.h"

namespace muster {
namespace {

CommandSyntax syntax() {
  return {
      "muster import kai-snapshot FILE [OPTION...]",
      "Prints one snapshot line of the archive that KAI's scheduler gives at its endpoint /get-snapshot: a zip with\n"
      "snapshot.json. What is ignored goes to stderr.",
      {{"time", "INSTANT", "now (default: the latest instant that the objects tell)"},
       {"strict", "", "an object that does not add up is an error, not a warning"},
       {"quiet", "", "nothing on stderr but errors"}},
      1,
      1};
}

}  // namespace

int run_import_kai_snapshot(int argc, const char* const* argv) {
  const Settings settings(syntax(), argc, argv);
  if (settings.wants_help()) return print(help_text(syntax()), kExitAnswered);
  KubernetesOptions options;
  options.time = settings.instant("time");
  options.strict = settings.is_on("strict");
  const std::string& file = settings.arguments()[0];
  Result<KaiSnapshot> snapshot = kai_snapshot_objects(file);
  if (!snapshot) {
    const int code = complain_of_import(snapshot.error(), file);
    return snapshot.error().code == "NoInput" ? kExitNoInput : code;
  }
  options.policy = snapshot->configuration.policy;
  options.grace_period = snapshot->configuration.grace_period;
  const Remarks remarks = settings.is_on("quiet") ? Remarks::kQuiet : Remarks::kTold;
  if (remarks == Remarks::kTold) {
    for (const std::string& remark : snapshot->configuration.remarks) {
      complain_of_import(escaped(remark), kExitAnswered);
    }
  }
  return print_imported(std::move(snapshot->objects), options, remarks);
}

}  // namespace muster
