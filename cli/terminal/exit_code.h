// The meaning of the program's exit code; the numbers from 64 up are those of sysexits.h.
#pragma once

namespace muster::cli {

inline constexpr int kExitAnswered = 0;  // every line was answered by a plan; `verify`: every plan stands
inline constexpr int kExitSomeErrors =
    1;  // some lines were answered by an error record; `verify`: violations or false claims
inline constexpr int kExitDifferent = 1;      // `diff`: the plans differ
inline constexpr int kExitUsage = 64;         // the command line, the environment or the configuration file is wrong
inline constexpr int kExitNoValidLine = 65;   // there were lines, but none that could be read
inline constexpr int kExitNoInput = 66;       // a file cannot be read, or there is no line in it
inline constexpr int kExitInternal = 70;      // a defect of the program
inline constexpr int kExitCannotCreate = 73;  // the output file cannot be created
inline constexpr int kExitCannotWrite = 74;   // the output cannot be written, or its reader has gone away
inline constexpr int kExitSignalled = 128;    // plus the number of the signal that asked it to stop

}  // namespace muster::cli
