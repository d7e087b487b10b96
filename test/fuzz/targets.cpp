// Fuzz targets: the readers of all that comes from outside. MUSTER_FUZZ names one of kTargets. With libFuzzer
// (test/fuzz/run, preset `fuzz`) or, for a few seconds as a test, with mutate.cpp.
//
// Whatever the bytes are, the answer is an error with a message, or what the reader promises; all else aborts, so that
// the fuzzer keeps them.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/agent/planning/options.h"
#include "cli/answers/submission.h"
#include "cli/cells/ledger.h"
#include "cli/line/line.h"
#include "cli/line/verify_line.h"
#include "cli/serve/options.h"
#include "cli/serve/service.h"
#include "cli/serve/states.h"
#include "io/api_server/response_reader.h"
#include "io/http/request_reader.h"
#include "io/json/yaml.h"
#include "io/kubernetes/import.h"
#include "io/snapshot_reader/event_reader.h"
#include "io/snapshot_reader/snapshot_reader.h"
#include "model/build/build_problem.h"
#include "solver/cbc/channel.h"
#include "solver/cbc/worker_protocol.h"
#include "solver/cells/merging.h"

namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::size_t kMostBytes = std::size_t{1} << 24, kMostDepth = 64;

// A defect: ends the program, so that the fuzzer keeps the bytes.
void require(bool condition, std::string_view what) {
  if (condition) return;
  std::fprintf(stderr, "defect: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

void require_words(const muster::InputError& error) {
  require(!error_code_text(error.code).empty() && !error.message.empty(), "an error without words");
  require(error.code != muster::ErrorCode::kInternalError, error.message);
}

std::string_view text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

// The text up to the first line feed, and what follows it.
std::pair<std::string_view, std::string_view> first_line(std::string_view text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return {text, {}};
  return {text.substr(0, end), text.substr(end + 1)};
}

// A file in memory, for readers that take a name.
class NamedText {
 public:
  explicit NamedText(std::string_view text) : descriptor_(::memfd_create("fuzz", 0)) {
    require(::write(descriptor_, text.data(), text.size()) == std::ssize(text), "no file in memory");
  }
  ~NamedText() { ::close(descriptor_); }
  NamedText(const NamedText&) = delete;
  NamedText& operator=(const NamedText&) = delete;
  std::string name() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

muster::muster_v1::ReaderOptions reader_options(bool strict) {
  muster::muster_v1::ReaderOptions options;
  options.strict = strict;
  options.max_line_bytes = kMostBytes;
  options.max_depth = kMostDepth;
  options.kubernetes.time = 1'700'000'000'000'000'000;
  return options;
}

// The whole way of `solve`, if the cluster is small: a plan that `verify` takes.
void solve(muster::cli::ParsedLine line, std::string_view text, muster::muster_v1::SnapshotReader& reader) {
  if (!line.snapshot) require_words(line.snapshot.error());
  if (line.snapshot && (line.snapshot->nodes.size() > 12 || line.snapshot->pods.size() > 60)) return;
  muster::cli::LineSolver solver("");
  muster::cli::LineOptions options;
  options.solve.engine = muster::portfolio::Engine::kGreedy;
  options.budget_above_all = 20'000'000;
  const bool was_read = static_cast<bool>(line.snapshot);
  const auto answer = muster::cli::answer_line(line, line.begun, solver, options, {});
  require(!answer.is_defect, answer.text);
  require(was_read || answer.is_error, "a plan of what cannot be read");
  if (text.empty()) return;
  for (const auto& finding : muster::cli::verify_line(reader, text, answer.text).findings)
    require(false, finding.rule + " " + finding.subject + ": " + finding.message);
}

void fuzz_snapshot(Bytes bytes) {
  const std::string_view text = text_of(bytes);
  for (const bool strict : {false, true}) {
    muster::muster_v1::SnapshotReader reader(reader_options(strict));
    solve(parse_line(reader, text, 1, muster::cli::TimeSource::kObjects), text, reader);
  }
}

// A snapshot, and the plan that is claimed for it.
void fuzz_plan(Bytes bytes) {
  const auto [snapshot, plan] = first_line(text_of(bytes));
  if (const auto read = muster::muster_v1::read_plan(plan, nullptr); !read) require_words(read.error());
  muster::muster_v1::SnapshotReader reader(reader_options(false));
  for (const auto& finding : muster::cli::verify_line(reader, snapshot, plan).findings)
    require(!finding.message.empty(), "a finding without words");
}

// YAML or JSON, as it begins; with and without pods of templates.
void fuzz_kubernetes(Bytes bytes) {
  std::string text(text_of(bytes));
  if (!text.starts_with('{')) {
    auto json = muster::json::yaml_to_json(text);
    if (!json) return require_words(json.error());
    text = *std::move(json);
  }
  for (const bool expand : {false, true}) {
    auto options = reader_options(false);
    options.kubernetes.expand = expand;
    const auto made = muster::kubernetes::import_kubernetes_text(text, options.kubernetes, {kMostBytes, kMostDepth});
    if (!made) {
      require_words(made.error());
      continue;
    }
    // What the format refuses beyond the import, such as running pods that do not fit, names its object.
    const std::string line = muster::kubernetes::line_of(*made);
    muster::muster_v1::SnapshotReader reader(options);
    solve(parse_line(reader, line, 1, muster::cli::TimeSource::kObjects), line, reader);
  }
}

// A manifest for --submit; of a cluster of one node and one queue, once of each form.
void fuzz_manifest(Bytes bytes) {
  constexpr const char* kArguments[] = {"what-if"};
  static const muster::cli::Settings settings({"", "", {}}, 1, kArguments);
  static const std::string objects =
      R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{"allocatable":{"cpu":"8","pods":"9","nvidia.com/gpu":"2"}}})"
      R"({"apiVersion":"scheduling.run.ai/v2","kind":"Queue","metadata":{"name":"q"},"spec":{"resources":{"gpu":{"quota":1}}}})";
  static const std::string line =
      R"({"format":"muster/v1","nodes":[{"name":"n","gpus":{"count":2}}],"queues":[{"name":"q"}]})";
  const NamedText file(text_of(bytes));
  for (const bool is_kubernetes : {false, true}) {
    muster::muster_v1::SnapshotReader reader(reader_options(false));
    auto snapshot = reader.read(is_kubernetes ? objects : line);
    require(static_cast<bool>(snapshot), "the cluster of the manifest cannot be read");
    muster::cli::ClusterInput cluster;
    cluster.snapshot = *std::move(snapshot);
    cluster.is_kubernetes = is_kubernetes;
    if (is_kubernetes) cluster.objects = objects;
    const auto submission = read_submission(file.name(), cluster, settings);
    if (const auto* read = std::get_if<muster::cli::Submission>(&submission))
      require(!read->gangs.empty() && !read->workload.pods.empty(), "a submission of nothing");
  }
}

// What a server reads of one connection, or what the agent does of its API server: the first byte is the number of
// bytes that come at a time.
template <class Reader, class Step>
void feed(Reader& reader, Bytes bytes, const Step& step) {
  if (bytes.empty()) return;
  const std::size_t piece = bytes[0] == 0 ? bytes.size() : bytes[0];
  for (bytes = bytes.subspan(1); !bytes.empty();) {
    const std::size_t count = std::min(piece, bytes.size());
    const std::span<char> space = reader.space(count);
    require(!space.empty(), "no space");
    const std::size_t taken = std::min(space.size(), count);
    std::memcpy(space.data(), bytes.data(), taken);
    reader.add(taken);
    bytes = bytes.subspan(taken);
    if (!step()) return;
  }
}

void fuzz_requests(Bytes bytes) {
  muster::http::RequestReader reader;
  muster::http::HttpLimits limits;
  limits.max_header_bytes = 4096;
  limits.max_body_bytes = 65'536;
  reader.begin(limits);
  feed(reader, bytes, [&] {
    using Progress = muster::http::RequestReader::Progress;
    while (reader.has_input()) {
      if (!reader.has_head()) reader.skip_empty_lines();
      if (!reader.has_input()) break;
      const bool had_head = reader.has_head();
      const Progress progress = reader.parse();
      if (progress == Progress::kFault) return false;
      if (reader.has_head() && !had_head) {
        if (reader.fault_of_head()) return false;
        const auto head = reader.head();
        require(!head.method.empty(), "a head without a method");
        muster::cli::ServeService::refuse_route(head);
      }
      if (reader.has_head() && reader.is_done()) {
        require(reader.take_body().size() <= limits.max_body_bytes, "a body beyond the limit");
        if (!reader.keeps_alive()) return false;
        reader.begin(limits);
      } else if (progress == Progress::kNeedsInput) {
        break;
      }
    }
    return true;
  });
}

void fuzz_responses(Bytes bytes) {
  using Progress = muster::api_server::ResponseReader::Progress;
  muster::api_server::ResponseReader reader;
  reader.begin(4096);
  bool is_over = false;
  feed(reader, bytes, [&] {
    for (;;) {
      const Progress progress = reader.parse();
      if (progress == Progress::kNeedsInput) return true;
      is_over = progress == Progress::kFault || progress == Progress::kDone;
      require(progress != Progress::kFault || !reader.fault().empty(), "a fault without words");
      if (is_over) return false;
      if (reader.has_head()) reader.body().clear();
    }
  });
  if (!is_over && !reader.finish()) require(!reader.fault().empty(), "an end without words");
}

// A state, and deltas of it; each is followed by a plan.
void fuzz_state(Bytes bytes) {
  muster::cli::ServeStates states;
  const auto options = reader_options(true);
  muster::muster_v1::SnapshotReader reader(options);
  auto [text, rest] = first_line(text_of(bytes));
  const auto set = states.set("c", text, 1, options);
  require(!set.is_defect, set.text);
  for (int deltas = 0; deltas < 8; ++deltas) {
    if (auto line = states.line("c", reader, options)) solve(*std::move(line), {}, reader);
    if (rest.empty()) return;
    std::tie(text, rest) = first_line(rest);
    const auto changed = states.change("c", text, options);
    require(!changed.is_defect, changed.text);
  }
}

// A snapshot, and the ledger of its cells.
void fuzz_ledger(Bytes bytes) {
  const auto [line, text] = first_line(text_of(bytes));
  muster::muster_v1::SnapshotReader reader(reader_options(false));
  auto snapshot = reader.read(line);
  if (!snapshot || snapshot->nodes.size() > 12) return;
  const auto problem = muster::build_problem(*snapshot, 1);
  if (!problem) return;
  const auto ledger = muster::cli::read_ledger(text, *problem);
  if (!ledger) return require_words(ledger.error());
  const auto shares = muster::compute_fair_shares(*problem);
  muster::cells::merge(*problem, shares, ledger->dealing, muster::cells::CellPlans(ledger->ids.size()), {});
}

// A workload: a snapshot, then events.
void fuzz_workload(Bytes bytes) {
  muster::muster_v1::EventReader reader(reader_options(true));
  std::string_view rest = text_of(bytes);
  do {
    std::string_view line;
    std::tie(line, rest) = first_line(rest);
    if (const auto error = reader.read(line)) return require_words(*error);
  } while (!rest.empty());
  reader.take();
}

// What one side of the worker's channel gets; what it reads as is written again as the same.
void fuzz_worker(Bytes bytes) {
  namespace cbc = muster::cbc;
  int ends[2];
  require(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "no sockets");
  cbc::Channel channel(ends[0]);
  const bool is_sent = bytes.size() < 65'536 && ::write(ends[1], bytes.data(), bytes.size()) == std::ssize(bytes);
  ::close(ends[1]);
  cbc::Message message;
  while (is_sent &&
         channel.receive(message, cbc::ChannelClock::now() + std::chrono::seconds(5)) == cbc::ChannelStatus::kDone) {
    const auto both = [](const auto& sent, const auto& decode) {
      if (!sent) return;
      require(decode(*sent).has_value(), "what was read cannot be written");
    };
    both(cbc::decode_question(message.content),
         [](const cbc::Question& sent) { return cbc::decode_question(cbc::encode(sent.milp, sent.request)); });
    both(cbc::decode_answer(message.content),
         [](const cbc::MilpAnswer& sent) { return cbc::decode_answer(cbc::encode(sent)); });
  }
}

// A configuration file, of the server and of the agent.
void fuzz_configuration(Bytes bytes) {
  const NamedText file(text_of(bytes));
  const std::string name = file.name();
  const auto read = [&](const char* command, const muster::cli::CommandSyntax& syntax, const auto& options) {
    const char* const arguments[] = {command, "--config", name.c_str()};
    try {
      options(muster::cli::Settings(syntax, 3, arguments));
    } catch (const muster::cli::UsageError& error) {
      require(*error.what() != '\0', "an error without words");
    }
  };
  read("serve", muster::cli::serve_syntax(), muster::cli::serve_options);
  read("agent", muster::cli::agent_syntax(), muster::cli::agent_options);
}

struct Target {
  std::string_view name;
  void (*run)(Bytes);
};
constexpr Target kTargets[] = {{"snapshot", fuzz_snapshot},
                               {"plan", fuzz_plan},
                               {"kubernetes", fuzz_kubernetes},
                               {"manifest", fuzz_manifest},
                               {"requests", fuzz_requests},
                               {"responses", fuzz_responses},
                               {"state", fuzz_state},
                               {"ledger", fuzz_ledger},
                               {"workload", fuzz_workload},
                               {"worker", fuzz_worker},
                               {"configuration", fuzz_configuration}};

const Target& chosen() {
  const char* name = std::getenv("MUSTER_FUZZ");
  const auto* found = std::ranges::find(kTargets, name == nullptr ? std::string_view() : name, &Target::name);
  require(found != std::end(kTargets), "MUSTER_FUZZ names no target");
  return *found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const Target& target = chosen();
  target.run({bytes, size});
  return 0;
}
