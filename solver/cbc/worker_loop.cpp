// The worker's side: reads questions, asks CBC or HiGHS, answers. Ends with its parent, whatever happens.
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <poll.h>
#include <unistd.h>

#include "solver/cbc/backend.h"
#include "solver/cbc/cbc.h"
#include "solver/cbc/channel.h"
#include "solver/cbc/highs.h"
#include "solver/cbc/worker_protocol.h"

namespace muster::cbc {
namespace {

constexpr auto kNoDeadline = ChannelClock::time_point::max();

[[noreturn]] void hang() {
  for (volatile unsigned turns = 0;;) turns = turns + 1;
}

// Until address space is out; the blocks are reachable, so that no compiler leaves the allocations out. Their pages are
// left alone: the limit is one of address space, and a gigabyte of pages takes seconds on a loaded machine.
void allocate_all() {
  std::vector<std::unique_ptr<char[]>> blocks;
  for (;;) {
    blocks.push_back(std::make_unique_for_overwrite<char[]>(std::size_t{64} << 20));
    blocks.back()[0] = 'x';
  }
}

// What the tests of the parent's patience ask for, on the first question.
void commit_fault(const std::string& fault, int file_descriptor) {
  if (fault == "segv") std::raise(SIGSEGV);
  if (fault == "kill") std::raise(SIGKILL);
  if (fault == "hang") hang();
  if (fault == "alloc") allocate_all();
  if (fault == "garbage") {
    const std::vector<char> garbage(4096, 'g');
    // Whether it arrives completely does not matter: it is garbage.
    [[maybe_unused]] const ssize_t written = ::write(file_descriptor, garbage.data(), garbage.size());
    hang();
  }
}

class WorkerLoop {
 public:
  WorkerLoop(int file_descriptor, std::string fault)
      : file_descriptor_(file_descriptor), fault_(std::move(fault)), channel_(file_descriptor) {}

  int run() {
    if (fault_.empty() && channel_.is_idle()) warm_up();
    Message message;
    for (;;) {
      if (channel_.receive(message, kNoDeadline) != ChannelStatus::kDone) return 0;  // the parent has gone
      commit_fault(fault_, file_descriptor_);
      if (!send(MessageType::kAnswer, answer(message))) return 0;
      if (is_out_of_memory_) return 1;
    }
  }

 private:
  // CBC's first solve is slower by half again as much, for page faults and symbols: a spare has the time for it.
  static void warm_up() {
    lp::Milp milp;
    milp.add_row(-lp::kInfinity, 7);
    milp.add_column({5, 0, 10, true}, {{0, 3}});
    milp.add_column({3, 0, 10, true}, {{0, 2}});
    MilpRequest request;
    request.deadline = ChannelClock::now() + std::chrono::seconds(1);
    solve_with_cbc(milp, request, {});
  }

  bool send(MessageType type, const MilpAnswer& answer) {
    return channel_.send(static_cast<std::uint32_t>(type), encode(answer), kNoDeadline) == ChannelStatus::kDone;
  }

  static MilpAnswer failure(const std::string& why) {
    MilpAnswer answer;
    answer.message = why;
    return answer;
  }

  MilpAnswer answer(const Message& message) {
    try {
      const std::optional<Question> question = decode_question(message.content);
      if (!question) return failure("the worker got a malformed model");
      switch (static_cast<MessageType>(message.type)) {
        case MessageType::kSolve:
          return solve(*question);
        case MessageType::kOpenLp:
          lp_ = std::make_unique<GrowingLp>(question->milp);
          return lp_->solve(question->request);
        case MessageType::kExtendLp:
          return extend(*question);
        default:
          return failure("the worker got an unknown request");
      }
    } catch (const std::bad_alloc&) {
      is_out_of_memory_ = true;  // CBC may have been interrupted anywhere: this process is of no more use
      return failure("the worker ran out of memory");
    } catch (const std::exception& error) {
      return failure(std::string("the worker failed: ") + error.what());
    }
  }

  MilpAnswer solve(const Question& question) {
    const MilpRequest& request = question.request;
    const bool has_limit = request.cutoff > -lp::kInfinity || !request.work.is_none();
    const bool by_highs = has_highs() && request.is_proof && !request.relax && !has_limit;
    const auto solve_it = by_highs ? solve_with_highs : solve_with_cbc;
    return solve_it(question.milp, request, [this](const MilpAnswer& incumbent) {
      send(MessageType::kIncumbent, incumbent);
      if (fault_ == "hang-after-incumbent" && !incumbent.x.empty()) hang();
    });
  }

  MilpAnswer extend(const Question& question) {
    if (lp_ == nullptr || question.milp.rows() != lp_->rows()) return failure("the columns do not match an open LP");
    lp_->extend(question.milp);
    return lp_->solve(question.request);
  }

  int file_descriptor_;
  std::string fault_;
  Channel channel_;
  std::unique_ptr<GrowingLp> lp_;
  bool is_out_of_memory_ = false;
};

// Ends the process as soon as the parent's end of the channel is closed, in the middle of whatever CBC is at. (A signal
// at the parent's death comes already when the thread ends that made the worker.)
void end_with_parent(int file_descriptor) {
  std::thread([file_descriptor] {
    pollfd end{file_descriptor, POLLRDHUP, 0};
    while (::poll(&end, 1, -1) < 0 && errno == EINTR) {
    }
    ::_exit(0);
  }).detach();
}

}  // namespace

int serve_worker(int file_descriptor, const std::string& fault) {
  end_with_parent(file_descriptor);
  std::signal(SIGINT, SIG_IGN);  // a terminal's interrupt is the parent's to act on
  try {
    return WorkerLoop(file_descriptor, fault).run();
  } catch (...) {  // out of memory while reading or answering, or one of CBC's own exceptions
    return 1;
  }
}

}  // namespace muster::cbc
