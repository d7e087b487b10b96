#include "io/snapshot_reader/snapshot_reader.h"

#include <optional>
#include <utility>

#include <simdjson.h>

#include "io/json/json_builder.h"
#include "io/kubernetes/object/items.h"
#include "io/kubernetes/object/slim.h"
#include "io/muster_v1/snapshot_input.h"

namespace muster::muster_v1 {

struct SnapshotReader::Implementation {
  ReaderOptions options;
  json::JsonDocument document;
  json::JsonBuilder slim;
  std::vector<std::string> remarks;

  std::optional<InputError> parse(std::string_view line, json::JsonValue& root);
  Result<Snapshot> read_line(std::string_view line, const kubernetes::KubernetesOptions& kubernetes);
  Result<Snapshot> read(json::JsonValue root);
  Result<Snapshot> settled(Result<Snapshot> snapshot);
  Result<Snapshot> with_remarks(Result<Snapshot> snapshot);
};

// The relevant part of Kubernetes objects.
std::optional<InputError> SnapshotReader::Implementation::parse(std::string_view line, json::JsonValue& root) {
  const json::JsonLimits limits{options.max_line_bytes, options.max_depth};
  if (line.size() <= limits.max_bytes && kubernetes::begins_as_kubernetes(line)) {
    if (kubernetes::slim_objects(line, limits.max_depth, kubernetes::Instants::kLatest, slim)) {
      root = slim.root();
      return std::nullopt;
    }
  }
  if (auto error = document.parse(line, limits)) return error;
  root = document.root();
  return std::nullopt;
}

Result<Snapshot> SnapshotReader::Implementation::read(json::JsonValue root) {
  Snapshot snapshot;
  snapshot.anomalies.strict = options.strict;
  SnapshotInput input(options.lenient, snapshot);
  input.threads = options.threads;
  if (!read_snapshot(input, root)) return std::move(input.error);
  return snapshot;
}

Result<Snapshot> SnapshotReader::Implementation::settled(Result<Snapshot> snapshot) {
  if (snapshot) settle(options.policy, *snapshot);
  return snapshot;
}

SnapshotReader::SnapshotReader(ReaderOptions options) : implementation_(std::make_unique<Implementation>()) {
  implementation_->options = std::move(options);
}
SnapshotReader::~SnapshotReader() = default;
SnapshotReader::SnapshotReader(SnapshotReader&&) noexcept = default;
SnapshotReader& SnapshotReader::operator=(SnapshotReader&&) noexcept = default;

Result<Snapshot> SnapshotReader::read(std::string_view line) { return read(line, implementation_->options.kubernetes); }

const kubernetes::KubernetesOptions& SnapshotReader::kubernetes() const { return implementation_->options.kubernetes; }

Result<Snapshot> SnapshotReader::Implementation::read_line(std::string_view line,
                                                           const kubernetes::KubernetesOptions& kubernetes) {
  json::JsonValue root;
  if (auto error = parse(line, root)) return *std::move(error);
  return kubernetes::holds_kubernetes_objects(root) ? kubernetes::import_kubernetes(root, kubernetes) : read(root);
}

Result<Snapshot> SnapshotReader::Implementation::with_remarks(Result<Snapshot> snapshot) {
  remarks.clear();
  if (!snapshot) return snapshot;
  for (const Warning& warning : snapshot->anomalies.warnings) {
    if (is_remark(warning)) remarks.push_back(remark_text(warning));
  }
  return snapshot;
}

Result<Snapshot> SnapshotReader::read(std::string_view line, const kubernetes::KubernetesOptions& kubernetes) {
  return implementation_->with_remarks(implementation_->settled(implementation_->read_line(line, kubernetes)));
}

Result<Snapshot> SnapshotReader::read(const kubernetes::KeptObjects& objects,
                                      const kubernetes::KubernetesOptions& kubernetes) {
  return implementation_->with_remarks(implementation_->settled(kubernetes::import_kept(objects, kubernetes)));
}

const std::vector<std::string>& SnapshotReader::remarks() const { return implementation_->remarks; }

// The id of a line that may be broken: a search for `"id": "..."` in the outermost object that requires nothing else of
// the line.

namespace {

// The string that begins after the quote at `at`: its characters as they are written; `at` moves past the closing
// quote.
std::optional<std::string_view> take_string(std::string_view line, std::size_t& at) {
  const std::size_t begin = ++at;
  for (; at < line.size(); ++at) {
    if (line[at] == '\\') {
      ++at;
    } else if (line[at] == '"') {
      return line.substr(begin, at++ - begin);
    }
  }
  return std::nullopt;
}

std::size_t skip_space(std::string_view line, std::size_t at) {
  while (at < line.size() && (line[at] == ' ' || line[at] == '\t' || line[at] == '\r')) ++at;
  return at;
}

// The written string as a JSON parser reads it; empty if it does not.
std::string unescape(std::string_view written) {
  std::string text = "\"";
  text += written;
  text += '"';
  simdjson::dom::parser parser;
  std::string_view value;
  if (parser.parse(text).get_string().get(value) != simdjson::SUCCESS) return {};
  return std::string(value);
}

}  // namespace

std::string SnapshotReader::id_of(std::string_view line) {
  std::int64_t depth = 0;
  for (std::size_t at = 0; at < line.size();) {
    const char c = line[at];
    if (c == '"') {
      const auto key = take_string(line, at);
      if (!key) return {};
      at = skip_space(line, at);
      if (depth != 1 || *key != "id" || at >= line.size() || line[at] != ':') continue;
      at = skip_space(line, at + 1);
      if (at >= line.size() || line[at] != '"') return {};
      const auto value = take_string(line, at);
      return value ? unescape(*value) : std::string();
    }
    depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
    ++at;
  }
  return {};
}

}  // namespace muster::muster_v1
