// All benchmarks as one program: `bench NAME ...`, or by a link named bench_NAME.
#include <iostream>
#include <map>
#include <string>

#include "bench/support/arguments.h"
#include "bench/support/program.h"

namespace muster::bench {
namespace {

using Run = int (*)(int argc, char** argv);

std::map<std::string, Run>& programs() {
  static std::map<std::string, Run> all;
  return all;
}

int run(int argc, char** argv) {
  const std::string path = argv[0], own = path.substr(path.rfind('/') + 1), prefix = "bench_";
  const bool is_link = own.starts_with(prefix);
  const std::string name = is_link ? own.substr(prefix.size()) : argc > 1 ? argv[1] : "";
  const auto found = programs().find(name);
  if (found == programs().end()) {
    std::cerr << "usage: bench NAME ..., where NAME is one of\n";
    for (const auto& [known, unused] : programs()) std::cerr << "  " << known << "\n";
    return 64;
  }
  const int skipped = is_link ? 0 : 1;
  return guarded(prefix + name, [&] { return found->second(argc - skipped, argv + skipped); });
}

}  // namespace

Program::Program(const char* name, int (*run)(int argc, char** argv)) { programs()[name] = run; }

}  // namespace muster::bench

int main(int argc, char** argv) { return muster::bench::run(argc, argv); }
