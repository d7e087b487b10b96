#include "cli/answers/cluster.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/answers/live_cluster.h"
#include "cli/line/documents.h"
#include "cli/line/line.h"
#include "cli/line/line_options.h"
#include "cli/terminal/console.h"
#include "cli/terminal/options.h"
#include "cli/terminal/terminal.h"
#include "io/kubernetes/import.h"
#include "io/kubernetes/object/slim.h"
#include "io/muster_v1/snapshot_input.h"
#include "io/snapshot_reader/snapshot_reader.h"
#include "model/base/error_code.h"
#include "model/base/words.h"
#include "model/snapshot/unread.h"

namespace muster::cli {
namespace {

// What the cluster is read from, before anything is made of it.
struct ClusterText {
  std::string text;
  std::string origin;  // for messages: a file, "the cluster"
  TimeSource time = TimeSource::kObjects;
  std::string namespace_name;
  bool is_live = false;
  std::vector<std::string> remarks;  // on how it was read
};

int complain(std::string_view message, int exit_code) {
  write_all(STDERR_FILENO, fmt::format("muster: {}\n", message));
  return exit_code;
}

int complain(std::string_view origin, const InputError& error) {
  return complain(fmt::format("{}: {}: {}", escaped(origin), escaped(error.path), escaped(error.message)),
                  kExitNoValidLine);
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

bool is_url(std::string_view source) { return source.starts_with("http://") || source.starts_with("https://"); }

std::variant<ClusterText, int> read_live(const Settings& settings, const std::string& source) {
  KubectlOptions options;
  options.program = settings.text("kubectl").value_or(options.program);
  options.namespace_name = settings.text("namespace").value_or("");
  for (const char* flag : {"context", "kubeconfig"}) {
    if (const auto value = settings.text(flag)) options.flags.push_back(fmt::format("--{}={}", flag, *value));
  }
  if (is_url(source)) options.flags.push_back("--server=" + source);
  auto read = read_live_cluster(options);
  if (const LiveFailure* failure = std::get_if<LiveFailure>(&read))
    return failure->message.empty() ? failure->exit_code : complain(escaped(failure->message), failure->exit_code);
  LiveObjects& live = std::get<LiveObjects>(read);
  return ClusterText{std::move(live.text),           "the cluster", TimeSource::kClock,
                     std::move(live.namespace_name), true,          std::move(live.remarks)};
}

std::variant<ClusterText, int> read_text(const Settings& settings, const std::string& source) {
  if (is_live(source)) return read_live(settings, source);
  ClusterText input;
  input.origin = source == "-" ? "stdin" : source;
  input.namespace_name = settings.text("namespace").value_or("");
  if (source == "-") input.time = TimeSource::kClock;
  const auto error = read_documents(source, input.text);
  if (!error) return input;
  if (error->code != ErrorCode::kNoInput) return complain(input.origin, *error);
  return complain(fmt::format("{}: {}", escaped(input.origin), error->message), kExitNoInput);
}

// The last line, or the last document over many lines, which begins with a line `{`; empty: there is none.
std::string last_line(std::string_view text) {
  text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  std::size_t begin = text.rfind('\n') + 1;  // npos + 1 is 0
  if (text.substr(begin).starts_with('}')) {
    const std::size_t open = text.rfind("\n{\n");
    begin = open == std::string_view::npos ? 0 : open + 1;
  }
  std::string line(text.substr(begin));
  std::erase_if(line, [](char c) { return c == '\n' || c == '\r'; });  // strings of JSON have none
  return line;
}

// Lines for stderr: all remarks, and of objects that are inconsistent the first ones.
std::vector<std::string> remark_lines(const Anomalies& anomalies) {
  constexpr std::int64_t kMostWarnings = 10;
  std::vector<std::string> lines, odd;
  for (const Warning& warning : anomalies.warnings) {
    (is_remark(warning) ? lines : odd).push_back(told_text(warning));
  }
  const std::int64_t all = std::ssize(odd) + static_cast<std::int64_t>(anomalies.more);
  if (std::ssize(odd) > kMostWarnings) odd.resize(kMostWarnings);
  lines.insert(lines.end(), odd.begin(), odd.end());
  if (all > std::ssize(odd)) lines.push_back("warning: " + counted(all - std::ssize(odd), "more object"));
  return lines;
}

void report_error(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) complain(line, kExitAnswered);
}

// Writes the line to the file of --save. Returns the exit code.
int save(const Settings& settings, const std::string& line) {
  const auto file = settings.text("save");
  if (!file) return kExitAnswered;
  const int descriptor = open(file->c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return complain(fmt::format("--save: {}: {}", escaped(*file), std::strerror(errno)), kExitCannotCreate);
  int error = write_whole(descriptor, line + '\n');
  if (close(descriptor) != 0 && error == 0) error = errno;
  if (error == 0) return kExitAnswered;
  return complain(fmt::format("--save: {}: {}", escaped(*file), std::strerror(error)), kExitCannotWrite);
}

std::variant<ClusterText, int> text_of(const Settings& settings, const std::string& source) {
  std::variant<ClusterText, int> text = read_text(settings, source);
  const ClusterText* read = std::get_if<ClusterText>(&text);
  if (read != nullptr && is_blank(read->text))
    return complain(fmt::format("{}: the input is empty", escaped(read->origin)), kExitNoInput);
  return text;
}

Result<Snapshot> import_text(const Settings& settings, const ClusterText& text) {
  kubernetes::KubernetesOptions options = with_time(reader_options(settings).kubernetes, text.time);
  options.remark_on_templates = !text.is_live;
  options.remarks = text.remarks;
  return kubernetes::import_kubernetes_text(
      text.text, options, {std::numeric_limits<std::size_t>::max(), muster_v1::ReaderOptions().max_depth});
}

}  // namespace

std::vector<OptionRow> cluster_source_rows() {
  return {{"from", "SOURCE",
           "kubectl: the cluster of its context; a URL: the same with kubectl --server; a FILE of snapshots or of "
           "Kubernetes objects; -: stdin",
           'f'},
          {"namespace", "NAME",
           "namespace of names without one, and of a user that cannot list all (default: kubectl's)", 'n'},
          {"context", "NAME", "context of kubectl"},
          {"kubeconfig", "FILE", "configuration of kubectl"},
          {"kubectl", "PATH", "the program kubectl (default: that in PATH)"},
          {"save", "FILE", "write the snapshot to this file, to read it again with --from FILE"}};
}

std::vector<OptionRow> with_cluster_options(std::vector<OptionRow> others) {
  std::vector<OptionRow> sources = cluster_source_rows();
  sources.front().help =
      "kubectl: the cluster of its context; a URL: the same with kubectl --server; a FILE of snapshots or of "
      "Kubernetes "
      "objects; -: stdin (default: stdin, but kubectl if stdin is a terminal, as a plugin of kubectl, or with "
      "--context "
      "or --kubeconfig)";
  others.insert(others.end(), sources.begin(), sources.end());
  const std::vector<OptionRow> rows = with_policy_options(
      {{"lenient", "", "ignore keys that the format does not define"},
       {"strict", "", "treat an inconsistent object as an error, not as a warning"},
       duration_annotation_row(),
       {"time", "INSTANT",
        "current time for Kubernetes objects (default: the clock for stdin, the latest instant in the objects for "
        "files)"},
       {"quiet", "", "print only errors on stderr"},
       {"config", "FILE", "read options as NAME = VALUE lines; MUSTER_NAME variables and flags override them"}});
  others.insert(others.end(), rows.begin(), rows.end());
  return others;
}

bool names_cluster(const Settings& settings) {
  return settings.text("from") || settings.text("context") || settings.text("kubeconfig") || is_kubectl_plugin();
}

std::string cluster_source(const Settings& settings, const std::optional<std::string>& file) {
  const auto source = settings.text("from");
  if (source && file) throw UsageError("--from cannot be combined with FILE");
  if (source || file) return source ? *source : *file;
  return names_cluster(settings) || is_terminal(STDIN_FILENO) ? "kubectl" : "-";
}

bool is_live(std::string_view source) { return source == "kubectl" || is_url(source); }

std::variant<ClusterInput, int> read_cluster(const Settings& settings, const std::optional<std::string>& file) {
  std::variant<ClusterText, int> source = text_of(settings, cluster_source(settings, file));
  if (const int* code = std::get_if<int>(&source)) return *code;
  ClusterText& text = std::get<ClusterText>(source);
  ClusterInput input;
  input.namespace_name = std::move(text.namespace_name);
  input.is_kubernetes = kubernetes::begins_as_kubernetes(text.text);
  const std::string line = input.is_kubernetes ? std::string() : last_line(text.text);
  const muster_v1::ReaderOptions options = reader_options(settings);
  Result<Snapshot> snapshot =
      input.is_kubernetes ? import_text(settings, text) : muster_v1::SnapshotReader(options).read(line);
  if (!snapshot) return complain(text.origin, snapshot.error());
  if (settings.text("save")) {
    const int code = save(settings, input.is_kubernetes ? kubernetes::line_of(*snapshot) : line);
    if (code != kExitAnswered) return code;
  }
  if (input.is_kubernetes) {
    muster_v1::settle(options.policy, *snapshot);
    input.objects = std::move(text.text);
  }
  if (!settings.is_on("quiet")) {
    std::vector<std::string> lines = remark_lines(snapshot->anomalies);
    settings.text("watch") ? void(input.remarks = std::move(lines)) : report_error(lines);
  }
  input.snapshot = *std::move(snapshot);
  return input;
}

std::variant<std::string, int> read_cluster_line(const Settings& settings) {
  std::variant<ClusterText, int> source = text_of(settings, cluster_source(settings));
  if (const int* code = std::get_if<int>(&source)) return *code;
  const ClusterText& text = std::get<ClusterText>(source);
  std::string line;
  if (kubernetes::begins_as_kubernetes(text.text)) {
    Result<Snapshot> snapshot = import_text(settings, text);
    if (!snapshot) return complain(text.origin, snapshot.error());
    line = kubernetes::line_of(*std::move(snapshot));
  } else {
    line = last_line(text.text);
  }
  if (const int code = save(settings, line); code != kExitAnswered) return code;
  return line;
}

}  // namespace muster::cli
