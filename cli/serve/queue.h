// The server's request queue: one thread reads and parses requests, one or more solve; first come, first served.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "cli/line/export_line.h"
#include "cli/line/line.h"
#include "cli/line/pipeline.h"
#include "cli/serve/cluster_history.h"
#include "cli/serve/states.h"
#include "io/http/server.h"
#include "io/kubernetes/import.h"
#include "io/snapshot_reader/snapshot_reader.h"

namespace muster::cli {

enum class WorkKind : std::uint8_t { kSolve, kVerify, kImport, kExport, kSetState, kChangeState, kSolveState };

// What holds for all lines of a request.
struct WorkOptions {
  muster_v1::ReaderOptions reader;
  LineOptions line;
};

// One line of a request, or the whole of it.
struct QueuedLine {
  using Done = std::function<void(std::optional<ServeAnswer>)>;
  WorkKind kind = WorkKind::kSolve;
  std::shared_ptr<http::HttpExchange> exchange;  // keeps the text
  std::string_view text;
  std::optional<std::string_view> plan;  // kVerify: the claimed plan for the text
  std::int64_t number = 1;               // of the line in the request
  portfolio::Clock::time_point arrived;  // from when its budget runs
  std::shared_ptr<const WorkOptions> options;
  // Called on a thread of the queue, once. None: the client had gone, or there is no memory for an answer. Shared, so
  // that it is there whatever becomes of the rest.
  std::shared_ptr<const Done> done;
};

// Called for solved lines, on the threads that solve; `waited`: time in the queue, before and after parsing.
using SolvedWorkObserver = std::function<void(const SolvedLine&, portfolio::Clock::duration waited)>;

class ServeQueue {
 public:
  // `solvers` plans are made concurrently. `histories` outlives the queue. Requires solvers >= 1.
  ServeQueue(const std::string& worker_program, int solvers, ServeHistories& histories, SolvedWorkObserver observe);
  ~ServeQueue();
  ServeQueue(const ServeQueue&) = delete;
  ServeQueue& operator=(const ServeQueue&) = delete;

  // Ends after the current work; queued work is cancelled. No `done` is called any more.
  void stop();

  // From any thread.
  void push(QueuedLine work);
  // Removes the waiting requests of an exchange from the queue, without a call of `done`. Returns whether there were
  // any.
  bool drop(const http::HttpExchange* exchange);
  std::size_t depth() const;  // lines that wait to be solved, or are read
  std::int64_t worker_failures() const;
  std::int64_t finished_gangs() const { return histories_.finished_gangs(); }
  // Its reports, which any thread may ask for.
  const ServeStates& states() const { return states_; }
  // Whether the current plan is so overdue that it will not arrive any more.
  bool is_stuck() const;

 private:
  struct Parsed {
    QueuedLine work;
    ParsedLine line;
    ServeHistories::Ticket ticket;
  };
  // Each remembers the prices and the plan of the line that it solved before.
  struct Solver {
    explicit Solver(const std::string& worker_program) : lines(worker_program) {}
    LineSolver lines;
    std::atomic<std::int64_t> worker_failures{0};
    std::atomic<portfolio::Clock::time_point::rep> due{0};  // when the current plan is to be ready; 0: there is none
    std::jthread thread;
  };
  void parse_all();
  // Each returns the answer if there is one already. None: the line goes on to be solved.
  std::optional<ServeAnswer> parse(QueuedLine& work, std::optional<muster_v1::SnapshotReader>& reader);
  std::optional<ServeAnswer> parse_state(QueuedLine& work, muster_v1::SnapshotReader& reader);
  std::optional<ServeAnswer> solve(QueuedLine& work, ParsedLine line);
  void finish(const QueuedLine::Done& done, std::optional<ServeAnswer> answer);
  void solve_all(Solver& solver);
  std::optional<ServeAnswer> solved(Parsed& item, Solver& solver);

  ServeHistories& histories_;
  const SolvedWorkObserver observe_;
  ServeStates states_;  // of the thread that parses
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<QueuedLine> waiting_;
  std::shared_ptr<const WorkOptions> read_with_;  // of the thread that parses
  bool is_closed_ = false;
  BoundedQueue<Parsed> parsed_;
  std::atomic<std::size_t> parsed_count_{0};
  std::deque<Solver> solvers_;
  std::jthread parser_;
};

// The server's answers for verifying and importing: one line each, as for solving.
//
// {"line":1,"id":"x","valid":true,"findings":[{"kind":"violation","rule":...,"subject":...,"message":...}]}; a false
// claim has no rule. No plan: that is a violation. Never an error: an unreadable line is a finding.
Answer verify_answer(muster_v1::SnapshotReader& reader, std::string_view snapshot, std::optional<std::string_view> plan,
                     std::int64_t number);

// The snapshot line, and its remarks as the log.
Answer import_answer(std::string_view text, const kubernetes::KubernetesOptions& options);

// The request and response of `POST /v1/export`: an NDJSON body of a plan, or of a snapshot and then its plan; the
// format, the phase and the gates in the query.
//
// The values of `format`, `phase`, `gate` and `allow-shared` in a query ("format=bindings&phase=now", percent-encoded),
// without the snapshot. Errors: InvalidValue, of unknown or repeated keys and broken encoding.
Result<ExportWords> export_words(std::string_view query);

// Of the whole body. The objects, one a line; the remarks as the log. Errors: those of export_options() and
// export_line(); InvalidValue, if there are not one or two lines.
Answer export_answer(muster_v1::SnapshotReader& reader, std::string_view body, ExportWords words);

}  // namespace muster::cli
