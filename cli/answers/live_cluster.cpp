#include "cli/answers/live_cluster.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cli/terminal/children.h"
#include "cli/terminal/console.h"
#include "cli/terminal/interrupt.h"
#include "io/kubernetes/object/kinds.h"

namespace muster::cli {
namespace {

using kubernetes::KnownKind;
using kubernetes::KubernetesKind;
using Words = std::vector<std::string>;

constexpr std::size_t kMostAtOnce = 4;

template <class Use>
void each_part(std::string_view text, std::string_view separators, Use use) {
  for (std::size_t begin = text.find_first_not_of(separators); begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    use(text.substr(begin, end - begin));
    begin = text.find_first_not_of(separators, end);
  }
}

std::vector<std::string_view> parts_of(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  each_part(text, separators, [&](std::string_view part) { parts.push_back(part); });
  return parts;
}

// A record of kubectl's own log: "E0301 10:00:00.000000 ...".
bool is_log_record(std::string_view line) {
  return line.size() > 5 && line[0] >= 'A' && line[0] <= 'Z' && line[5] == ' ' &&
         std::ranges::all_of(line.substr(1, 4), [](unsigned char c) { return std::isdigit(c) != 0; });
}

// What kubectl says at the end, without its log.
std::string message_of(const EndedChild& child) {
  std::string message;
  each_part(child.err, "\r\n", [&](std::string_view line) {
    if (is_log_record(line)) return;
    if (!message.empty()) message += "; ";
    message += line;
  });
  if (!message.empty()) return message;
  if (child.exit_code > kExitSignalled) return fmt::format("kubectl was killed by signal {}", child.exit_code - 128);
  return fmt::format("kubectl exited with code {}", child.exit_code);
}

// A kind that the API server has and the import reads.
struct ServedKind {
  const KnownKind* kind;
  std::string name;                   // "podgroups"
  std::vector<std::string> versions;  // to ask for, one after another
};

// The calls for one kind, one after another until one succeeds.
class ListRequest {
 public:
  ListRequest(ServedKind served, const KubectlOptions& options) : served_(std::move(served)), options_(options) {}

  const KnownKind& kind() const { return *served_.kind; }
  bool is_settled() const { return is_listed_ || has_failed_; }
  bool is_listed() const { return is_listed_; }
  bool is_of_one_namespace() const { return is_of_one_namespace_; }
  const std::string& failure() const { return failure_; }

  // "pods", "podgroups.scheduling.run.ai".
  std::string full_name() const {
    return kind().group.empty() ? served_.name : fmt::format("{}.{}", served_.name, kind().group);
  }

  Words words() const {
    Words words = {options_.program, "get",
                   kind().group.empty()
                       ? served_.name
                       : fmt::format("{}.{}.{}", served_.name, served_.versions[version_], kind().group),
                   "-o", "json"};
    if (kind().has_namespace && !is_of_one_namespace_) words.emplace_back("--all-namespaces");
    if (is_of_one_namespace_ && !options_.namespace_name.empty())
      words.insert(words.end(), {"--namespace", options_.namespace_name});
    words.insert(words.end(), options_.flags.begin(), options_.flags.end());
    return words;
  }

  // The result of these words. After a failure, kubectl has printed an empty list.
  void take(const EndedChild& child) {
    is_listed_ = child.exit_code == 0;
    if (is_listed_) return;
    if (failure_.empty()) failure_ = message_of(child);  // of the widest request
    if (child.err.find("(Forbidden)") != std::string::npos && kind().has_namespace && !is_of_one_namespace_) {
      is_of_one_namespace_ = true;
    } else if (child.err.find("doesn't have a resource type") != std::string::npos &&
               version_ + 1 < served_.versions.size()) {
      ++version_;
      failure_.clear();
    } else {
      has_failed_ = true;
      is_of_one_namespace_ = false;
    }
  }

 private:
  ServedKind served_;
  const KubectlOptions& options_;
  std::size_t version_ = 0;
  bool is_of_one_namespace_ = false, is_listed_ = false, has_failed_ = false;
  std::string failure_;
};

// The server's own choice if it is read, else all that are read, the newest first.
std::vector<std::string> versions_to_ask_for(const KnownKind& kind, std::string_view served) {
  if (kind.reads(served)) return {std::string(served)};
  const std::vector<std::string_view> versions = parts_of(kind.versions, " ");
  return {versions.rbegin(), versions.rend()};
}

// Of `kubectl api-resources --no-headers`: NAME [SHORTNAMES] APIVERSION NAMESPACED KIND. In the order of known_kinds.
std::vector<ServedKind> served_kinds(std::string_view table) {
  std::vector<ServedKind> served;
  const std::vector<std::string_view> lines = parts_of(table, "\r\n");
  for (const KnownKind& kind : kubernetes::known_kinds()) {
    if (kind.meaning == KubernetesKind::kReplicaSet) continue;
    for (const std::string_view line : lines) {
      const std::vector<std::string_view> columns = parts_of(line, " \t");
      if (columns.size() < 4 || columns.back() != kind.kind) continue;
      const std::string_view api_version = columns[columns.size() - 3];
      const std::size_t slash = api_version.find('/');
      const bool is_group_alone = api_version == kind.group;  // as kubectl 1.19 and earlier print it
      std::string_view group = is_group_alone ? api_version : "";
      if (slash != std::string_view::npos) group = api_version.substr(0, slash);
      if (group != kind.group) continue;
      const std::string_view version = api_version.substr(slash == std::string_view::npos ? 0 : slash + 1);
      served.push_back({&kind, std::string(columns[0]), versions_to_ask_for(kind, version)});
      break;
    }
  }
  return served;
}

// The API groups that the server has but could not describe, of those that the import reads.
void remark_on_missing_groups(std::string_view err, std::vector<std::string>& remarks) {
  std::vector<std::string_view> told;
  for (const KnownKind& kind : kubernetes::known_kinds()) {
    const bool is_missing = !kind.group.empty() && err.find(fmt::format(" {}/", kind.group)) != std::string_view::npos;
    if (!is_missing || std::ranges::find(told, kind.group) != told.end()) continue;
    told.push_back(kind.group);
    remarks.push_back(
        fmt::format("the API server cannot describe {}, so {} and other kinds of this group are missing: {}",
                    kind.group, kind.kind, kind.without));
  }
}

void remark_on(const ListRequest& request, const std::string& namespace_name, std::vector<std::string>& remarks) {
  if (!request.is_listed()) {
    remarks.push_back(
        fmt::format("cannot list {}: {} ({})", request.full_name(), request.kind().without, request.failure()));
  } else if (request.is_of_one_namespace() && request.kind().meaning == KubernetesKind::kPod) {
    remarks.push_back(
        fmt::format("cannot list pods of all namespaces, only of {}: what other pods use is unknown, so the nodes have "
                    "less room than the answer assumes ({})",
                    namespace_name, request.failure()));
  } else if (request.is_of_one_namespace()) {
    remarks.push_back(fmt::format("cannot list {} of all namespaces, only of {} ({})", request.full_name(),
                                  namespace_name, request.failure()));
  }
}

// Nothing can be answered without these.
bool is_essential(const KnownKind& kind) {
  return kind.meaning == KubernetesKind::kNode || kind.meaning == KubernetesKind::kPod;
}

LiveFailure interrupted() { return {"", kExitSignalled + received_signal()}; }

LiveFailure failed(std::string message) { return {std::move(message), kExitNoInput}; }

class LiveReading {
 public:
  explicit LiveReading(const KubectlOptions& options) : options_(options) {}

  std::variant<LiveObjects, LiveFailure> run() {
    std::optional<LiveFailure> failure = discover();
    if (!failure) failure = list();
    if (!failure) failure = collect();
    if (failure) return *std::move(failure);
    return std::move(out_);
  }

 private:
  Words with_flags(Words words) const {
    words.insert(words.begin(), options_.program);
    words.insert(words.end(), options_.flags.begin(), options_.flags.end());
    return words;
  }

  std::optional<LiveFailure> discover() {
    std::vector<Words> commands = {with_flags({"api-resources", "--verbs=list", "--no-headers"})};
    if (options_.namespace_name.empty())
      commands.push_back(with_flags({"config", "view", "--minify", "-o", "jsonpath={..namespace}"}));
    const auto ended = run_children(commands, kMostAtOnce);
    if (!ended) return interrupted();
    const EndedChild& resources = ended->front();
    if (resources.exit_code == 127 && resources.out.empty()) {
      return failed(fmt::format("{}: {}; install kubectl, name it with --kubectl PATH, or give --from FILE",
                                options_.program, message_of(resources)));
    }
    out_.namespace_name = options_.namespace_name;
    if (ended->size() > 1) out_.namespace_name = (*ended)[1].exit_code == 0 ? (*ended)[1].out : "";
    if (out_.namespace_name.empty()) out_.namespace_name = "default";
    std::vector<ServedKind> served = served_kinds(resources.out);
    if (resources.exit_code != 0) {
      if (served.empty()) return failed(message_of(resources));
      remark_on_missing_groups(resources.err, out_.remarks);
    }
    for (ServedKind& kind : served) requests_.emplace_back(std::move(kind), options_);
    if (std::ranges::count_if(requests_, [](const auto& request) { return is_essential(request.kind()); }) == 2)
      return std::nullopt;
    return failed("the API server does not list nodes and pods, so there is nothing to answer about");
  }

  // Lists of all kinds; several rounds if a kind needs more than one request.
  std::optional<LiveFailure> list() {
    texts_.resize(requests_.size());
    while (true) {
      std::vector<std::size_t> open;
      std::vector<Words> commands;
      for (std::size_t i = 0; i < requests_.size(); ++i) {
        if (requests_[i].is_settled()) continue;
        open.push_back(i);
        commands.push_back(requests_[i].words());
      }
      if (open.empty()) return std::nullopt;
      auto ended = run_children(commands, kMostAtOnce);
      if (!ended) return interrupted();
      for (std::size_t i = 0; i < open.size(); ++i) {
        requests_[open[i]].take((*ended)[i]);
        texts_[open[i]] = std::move((*ended)[i].out);
      }
    }
  }

  std::optional<LiveFailure> collect() {
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      const ListRequest& request = requests_[i];
      if (!request.is_listed() && is_essential(request.kind())) {
        return failed(fmt::format("cannot list {}: {}; Muster needs the permission to list nodes and pods",
                                  request.full_name(), request.failure()));
      }
      remark_on(request, out_.namespace_name, out_.remarks);
      if (request.is_listed()) out_.text += std::exchange(texts_[i], {}) + '\n';
    }
    return std::nullopt;
  }

  const KubectlOptions& options_;
  std::vector<ListRequest> requests_;
  std::vector<std::string> texts_;  // of each request
  LiveObjects out_;
};

}  // namespace

std::variant<LiveObjects, LiveFailure> read_live_cluster(const KubectlOptions& options) {
  return LiveReading(options).run();
}

}  // namespace muster::cli
