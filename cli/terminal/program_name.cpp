#include "cli/terminal/program_name.h"

namespace muster::cli {
namespace {

bool is_plugin = false;

}  // namespace

// The file may have the ending of a platform: kubectl-muster-linux-amd64.
void set_program_name(std::string_view argument_0) {
  is_plugin = argument_0.substr(argument_0.rfind('/') + 1).starts_with("kubectl-muster");
}

bool is_kubectl_plugin() { return is_plugin; }

std::string_view typed_program_name() { return is_plugin ? "kubectl muster" : "muster"; }

}  // namespace muster::cli
