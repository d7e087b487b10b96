// Starts a program, with the signals as a shell would leave them.
#pragma once

#include <csignal>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <spawn.h>
#include <sys/types.h>

extern char** environ;

namespace muster::bench {

// words[0] is the path of the program; each first descriptor of `redirections` becomes the second one of it. Throws if
// it cannot be started.
inline pid_t spawn(std::vector<std::string> words, const std::vector<std::pair<int, int>>& redirections) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const auto& [from, to] : redirections) posix_spawn_file_actions_adddup2(&actions, from, to);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t as_usual;
  sigemptyset(&as_usual);
  sigaddset(&as_usual, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &as_usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t process = -1;
  const int error = posix_spawn(&process, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) throw std::runtime_error("cannot start " + words[0]);
  return process;
}

}  // namespace muster::bench
