// The lines of one or several files, or of stdin, one after another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal/options.h"

namespace muster::cli {

// One input for several processes, each of which answers a part of the lines: the engines that start them (Kubernetes
// Indexed Jobs, Slurm arrays, GNU parallel, Ray, Spark) only have to count.
//
// Of the lines that are not blank, counted from 0, those whose number modulo `count` is `index`.
struct Shard {
  std::int64_t index = 0, count = 1;

  bool is_whole() const { return count == 1; }
  bool has(std::int64_t line) const { return line % count == index; }
};

// The rows of --shard and --shards, for CommandSyntax.
std::vector<OptionRow> with_shard_options(std::vector<OptionRow> others);

// Of --shard I/N; of --shards N, with the index in JOB_COMPLETION_INDEX, which Kubernetes sets in the pods of an
// Indexed Job, or in SLURM_ARRAY_TASK_ID, less SLURM_ARRAY_TASK_MIN. The whole input if neither is given. Throws
// UsageError.
Shard shard_of(const Settings& settings);

// Lines end in LF or CR LF; the last one need not. A blank line is counted and skipped. A line that is `{` alone begins
// a document over many lines, as kubectl prints it: all lines to the one that begins with `}` come as one, joined
// without their indentation, under the number of the first. If another line begins with `{` before, the document is
// broken and ends there. Memory: the longest line, at most max_line_bytes + 1; a longer line is cut off after that, and
// the reader of the line rejects it.
class LineSource {
 public:
  struct Options {
    std::size_t max_line_bytes = std::size_t{1} << 30;
    int wake_descriptor = -1;  // ends the input when it becomes readable; -1: none
    Shard shard = {};          // the lines that are given; the others are read and left out
  };
  // "-" is stdin, and so is an empty list. A file that cannot be opened is reported by failure() immediately.
  LineSource(std::vector<std::string> files, Options options);
  ~LineSource();
  LineSource(const LineSource&) = delete;
  LineSource& operator=(const LineSource&) = delete;

  struct Line {
    std::string_view text;    // until the next call
    std::int64_t number = 0;  // from 1, over all files, blank lines counted
    bool is_of_stdin = false;
    bool is_ended = false;  // by a line feed; else the file ends there, or the line was too long
  };
  // None: the end, an interruption, or a failure.
  std::optional<Line> next();
  // The next lines of the shard are left out, too.
  void skip(std::int64_t lines) { counts_.skipped += lines; }

  // What is wrong with a file; empty: nothing so far.
  const std::string& failure() const { return failure_; }

 private:
  bool open_next();
  bool fill();
  std::optional<std::string_view> next_raw();
  std::optional<std::string_view> next_text();
  std::string_view gather();
  std::optional<Line> next_of_all();
  void fail(const std::string& file, int error);

  std::vector<std::string> files_;
  Options options_;
  std::size_t opened_ = 0;  // files
  int descriptor_ = -1;
  std::string document_;             // of many lines
  std::optional<std::string> kept_;  // the line after a broken document
  std::vector<char> buffer_;
  std::size_t begin_ = 0, scanned_ = 0, end_ = 0;
  bool is_at_end_of_file_ = true, discards_ = false, is_ended_ = false;
  struct Counts {
    std::int64_t number = 0, lines = 0;  // blank lines count in the first alone
    std::int64_t skipped = 0;            // that are still to be left out
  } counts_;
  std::string failure_;
};

// A file of answers that a run goes on writing where an interrupted one stopped.
struct ResumedFile {
  int descriptor = -1;     // at the end of the whole lines; below 0: `error` is errno
  std::int64_t lines = 0;  // that are whole
  int error = 0;
};

// Opens the file, or creates it. What follows the last line feed was torn off by the interruption, and is cut off.
// Cost: reads the file.
ResumedFile resume_file(const std::string& path);

}  // namespace muster::cli
