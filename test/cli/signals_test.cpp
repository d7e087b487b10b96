// The program as a partner at the other end of pipes: answers come immediately, and signals are handled.
#include <array>
#include <csignal>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/cli/snapshots.h"
#include "test/support/paths.h"

namespace muster::cli {
namespace {

// `muster solve` with pipes for stdin and stdout.
class Partner {
 public:
  Partner() {
    std::array<int, 2> in{}, out{};
    EXPECT_EQ(pipe2(in.data(), O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(out.data(), O_CLOEXEC), 0);
    process_ = fork();
    if (process_ == 0) {
      dup2(in[0], STDIN_FILENO);
      dup2(out[1], STDOUT_FILENO);
      execl(test::program().c_str(), "muster", "solve", "--quiet", "--engine", "greedy", static_cast<char*>(nullptr));
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    to_ = in[1];
    from_ = out[0];
  }
  ~Partner() {
    close_input();
    close(from_);
    if (process_ > 0) {
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
    }
  }
  Partner(const Partner&) = delete;
  Partner& operator=(const Partner&) = delete;

  void send(const std::string& text) { EXPECT_EQ(write(to_, text.data(), text.size()), std::ssize(text)); }
  void close_input() {
    if (to_ >= 0) close(to_);
    to_ = -1;
  }
  // Up to the next line feed; what there is when the output ends.
  std::string receive_line() {
    std::string line;
    for (char c = 0; read(from_, &c, 1) == 1 && c != '\n';) line += c;
    return line;
  }
  void hold_back_output() { EXPECT_GE(fcntl(from_, F_SETPIPE_SZ, 4096), 0); }
  void signal(int number) { kill(process_, number); }
  int exit_code() {
    int status = 0;
    waitpid(process_, &status, 0);
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t process_ = -1;
  int to_ = -1, from_ = -1;
};

// A dialogue works only if each answer is there before the next line is sent. If it is held back, this never ends.
TEST(Signals, EachAnswerComesBeforeTheNextLine) {
  Partner partner;
  for (int i = 0; i < 5; ++i) {
    partner.send(good_lines()[0] + "\n");
    EXPECT_NE(partner.receive_line().find("\"status\":\"ok\""), std::string::npos);
  }
  partner.close_input();
  EXPECT_EQ(partner.exit_code(), 0);
}

TEST(Signals, AnInterruptWhileItWaitsForALineEndsItWithItsCode) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    Partner partner;
    partner.send(good_lines()[0] + "\n");
    EXPECT_NE(partner.receive_line(), "");
    partner.signal(number);
    EXPECT_EQ(partner.exit_code(), 128 + number);
  }
}

TEST(Signals, ThoseOfUsersMeanNothing) {
  Partner partner;
  partner.send(good_lines()[0] + "\n");
  EXPECT_NE(partner.receive_line(), "");
  partner.signal(SIGUSR1);
  partner.signal(SIGUSR2);
  partner.send(good_lines()[0] + "\n");
  EXPECT_NE(partner.receive_line(), "");
  partner.close_input();
  EXPECT_EQ(partner.exit_code(), 0);
}

// The answers are not read, so that they are never written. The test rings the bell that would ring 10 seconds later.
TEST(Signals, WhatDoesNotEndAfterASignalIsGivenUpInTime) {
  Partner partner;
  partner.send(good_lines()[0] + "\n");
  EXPECT_NE(partner.receive_line(), "");
  partner.hold_back_output();
  for (int i = 0; i < 20; ++i) partner.send(good_lines()[0] + "\n");
  partner.signal(SIGALRM);
  partner.signal(SIGTERM);
  partner.signal(SIGALRM);
  EXPECT_EQ(partner.exit_code(), 128 + SIGTERM);
}

TEST(Signals, HalfALineIsNotAnswered) {
  Partner partner;
  partner.send(good_lines()[0] + "\n" + good_lines()[1].substr(0, 40));
  EXPECT_NE(partner.receive_line(), "");
  partner.signal(SIGINT);
  EXPECT_EQ(partner.receive_line(), "");
  EXPECT_EQ(partner.exit_code(), 130);
}

}  // namespace
}  // namespace muster::cli
