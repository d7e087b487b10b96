// A `muster serve` process on a Unix socket in its own folder, for benchmarks and tests.
#pragma once

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/support/http_client.h"
#include "model/base/process.h"
#include "test/support/paths.h"

namespace muster::bench {

class ServeProcess {
 public:
  // Ready when this returns. Throws, with its log, if it is not ready within ten seconds.
  explicit ServeProcess(const std::vector<std::string>& arguments, const std::string& program = test::program()) {
    std::string pattern = (std::filesystem::temp_directory_path() / "muster-serve-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
    directory_ = pattern;
    const int log_file = open((directory_ + "/log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND, 0600);
    std::vector<std::string> words{program, "serve", "--listen", "unix:" + socket()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    ChildFiles files;
    files.use(log_file, STDOUT_FILENO);
    files.use(log_file, STDERR_FILENO);
    process_ = start_process(words, files);
    if (process_ < 0) throw std::runtime_error("cannot start " + program);
    close(log_file);
    if (is_ready_within(10'000)) return;
    const std::string said = log();
    stop();
    throw std::runtime_error("the server is not ready: " + said);
  }
  ~ServeProcess() { stop(); }
  ServeProcess(const ServeProcess&) = delete;
  ServeProcess& operator=(const ServeProcess&) = delete;

  pid_t id() const { return process_; }
  std::string socket() const { return directory_ + "/muster.sock"; }
  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  // What it has written to stderr so far.
  std::string log() const {
    std::ifstream stream(directory_ + "/log");
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  // The answer to one request on a new connection. None: none came in time.
  std::optional<HttpAnswer> ask(const std::string& request, int milliseconds = 10'000) const {
    HttpClient client(socket());
    client.send(request);
    return client.answer(milliseconds);
  }

  void signal(int number) const { kill(process_, number); }
  // How it ended: its exit code, or 128 plus the signal's number. None: it has not, within that time.
  std::optional<int> exit_code_within(int milliseconds) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
    while (process_ > 0) {
      int status = 0;
      if (waitpid(process_, &status, WNOHANG) == process_) {
        process_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      }
      if (std::chrono::steady_clock::now() > until) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return std::nullopt;
  }

 private:
  bool is_ready_within(int milliseconds) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
    while (std::chrono::steady_clock::now() < until) {
      int status = 0;
      if (waitpid(process_, &status, WNOHANG) == process_) {
        process_ = -1;
        return false;
      }
      try {
        const auto ready = ask(get("/readyz"), 1'000);
        if (ready && ready->status == 200) return true;
      } catch (const std::runtime_error&) {  // it does not listen yet
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }
  void stop() {
    if (process_ > 0) {
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
      process_ = -1;
    }
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

  pid_t process_ = -1;
  std::string directory_;
};

}  // namespace muster::bench
