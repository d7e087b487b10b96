// A `muster solve` process that answers one line at a time, as a user's pipe sees it.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace muster::bench {

class SolveProcess {
 public:
  SolveProcess(const std::string& program, const std::vector<std::string>& arguments) {
    int in[2], out[2];
    if (pipe(in) != 0 || pipe(out) != 0) throw std::runtime_error("pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    for (const int descriptor : {in[0], in[1], out[0], out[1]}) posix_spawn_file_actions_addclose(&actions, descriptor);
    std::vector<std::string> words{program, "solve"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    if (posix_spawn(&pid_, program.c_str(), &actions, nullptr, argv.data(), environ) != 0)
      throw std::runtime_error("cannot start " + program);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    to_ = in[1];
    from_ = out[0];
  }
  ~SolveProcess() {
    close(to_);
    close(from_);
    waitpid(pid_, nullptr, 0);
  }
  SolveProcess(const SolveProcess&) = delete;
  SolveProcess& operator=(const SolveProcess&) = delete;

  pid_t id() const { return pid_; }

  // Writes the line and its line feed, and returns the answer without its line feed.
  std::string ask(std::string_view line) {
    std::string text(line);
    text += '\n';
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t written = write(to_, text.data() + at, text.size() - at);
      if (written <= 0) throw std::runtime_error("the process does not read");
      at += static_cast<std::size_t>(written);
    }
    std::string answer;
    std::vector<char> buffer(1 << 20);
    while (answer.empty() || answer.back() != '\n') {
      const ssize_t got = read(from_, buffer.data(), buffer.size());
      if (got <= 0) throw std::runtime_error("the process ended without an answer");
      answer.append(buffer.data(), static_cast<std::size_t>(got));
    }
    answer.pop_back();
    return answer;
  }

 private:
  pid_t pid_ = -1;
  int to_ = -1, from_ = -1;
};

}  // namespace muster::bench
