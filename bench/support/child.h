// A `muster solve` process, used through a pipe: asked one line at a time, or written to by one thread and read from by
// another.
#pragma once

#include <csignal>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/base/process.h"

namespace muster::bench {

class SolveProcess {
 public:
  SolveProcess(const std::string& program, const std::vector<std::string>& arguments) {
    int in[2], out[2];
    // No other child keeps these open; and a child that has ended is detected by the result of writing, not by a
    // signal.
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    std::signal(SIGPIPE, SIG_IGN);
    std::vector<std::string> words{program, "solve"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    ChildFiles files;
    files.use(in[0], STDIN_FILENO);
    files.use(out[1], STDOUT_FILENO);
    pid_ = start_process(words, files);
    if (pid_ < 0) throw std::runtime_error("cannot start " + program);
    close(in[0]);
    close(out[1]);
    to_ = in[1];
    from_ = out[0];
  }
  ~SolveProcess() {
    if (to_ >= 0) close(to_);
    close(from_);
    waitpid(pid_, nullptr, 0);
  }
  SolveProcess(const SolveProcess&) = delete;
  SolveProcess& operator=(const SolveProcess&) = delete;

  pid_t id() const { return pid_; }

  // Writes the line and its line feed, and returns the answer without its line feed.
  std::string ask(std::string_view line) {
    write_text(std::string(line) + '\n');
    auto answer = read_line();
    if (!answer) throw std::runtime_error("the process ended without an answer");
    return *std::move(answer);
  }

  // The same; none: it has ended, or there was no answer in time. Then it is killed, and must not be asked again.
  std::optional<std::string> ask_within(std::string_view line, int milliseconds) {
    std::optional<std::string> answer;
    try {
      write_text(std::string(line) + '\n');
      answer = read_line(milliseconds);
    } catch (const std::runtime_error&) {  // it does not read
    }
    if (!answer) stop();
    return answer;
  }

  // Throws where the process does not read any more.
  void write_text(std::string_view text) {
    while (!text.empty()) {
      const ssize_t written = write(to_, text.data(), text.size());
      if (written <= 0) throw std::runtime_error("the process does not read");
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  // Ends it without waiting for more of its output.
  void stop() const { kill(pid_, SIGKILL); }

  // No line follows: the process ends once it has answered all that it has read.
  void end_input() {
    close(to_);
    to_ = -1;
  }

  // The next line of its output, without its line feed. None: the output has ended, or nothing more of it came for that
  // long (negative: there is no end to waiting).
  std::optional<std::string> read_line(int milliseconds = -1) {
    while (true) {
      const std::size_t end = output_.find('\n', searched_);
      if (end != std::string::npos) {
        std::string line = output_.substr(begin_, end - begin_);
        begin_ = searched_ = end + 1;
        return line;
      }
      output_.erase(0, begin_);
      begin_ = 0;
      searched_ = output_.size();
      pollfd ready{from_, POLLIN, 0};
      if (poll(&ready, 1, milliseconds) <= 0) return std::nullopt;
      const ssize_t got = read(from_, chunk_.data(), chunk_.size());
      if (got <= 0) return std::nullopt;
      output_.append(chunk_.data(), static_cast<std::size_t>(got));
    }
  }

 private:
  pid_t pid_ = -1;
  int to_ = -1, from_ = -1;
  std::string output_;                    // read, and not yet asked for from `begin_` on
  std::size_t begin_ = 0, searched_ = 0;  // no line feed between them
  std::vector<char> chunk_ = std::vector<char>(1 << 20);
};

}  // namespace muster::bench
