// The benchmarks of the program `bench`.
#pragma once

namespace muster::bench {

// A benchmark by its name: `bench NAME ...`, or the program's own name bench_NAME. `run` gets the name as argv[0],
// throws if it cannot run, and returns the exit code. Each source of bench/ defines one.
struct Program {
  Program(const char* name, int (*run)(int argc, char** argv));
};

}  // namespace muster::bench
