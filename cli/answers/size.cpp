// `muster size`: the cheapest nodes that run a workload.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "cli/answers/answers.h"
#include "cli/answers/names.h"
#include "cli/answers/shape.h"
#include "cli/answers/submission.h"
#include "cli/line/documents.h"
#include "cli/line/line_options.h"
#include "cli/terminal/terminal.h"
#include "io/kubernetes/object/slim.h"
#include "model/change/hold_back.h"
#include "model/change/merge.h"
#include "model/snapshot/quantity.h"
#include "solver/answers/sizing.h"

namespace muster::cli {
namespace {

constexpr std::int64_t kPriceScale = 1'000'000;

// ---- kinds of nodes ----

bool is_kind_of_shape(std::string_view text) {
  return text.find(',') != std::string_view::npos || text.find("gpu=") != std::string_view::npos ||
         text.starts_with("cpu=") || text.starts_with("memory=");
}

std::int64_t price_in(std::string_view text) {
  const Result<Quantity> quantity = parse_quantity(text);
  const auto price = quantity ? count_units(*quantity, QuantityUnit::kMillionth, Rounding::kRefuse)
                              : Result<std::int64_t>(quantity.error());
  constexpr std::int64_t kMost = 1'000'000'000 * kPriceScale;
  if (!price || *price < 1 || *price > kMost)
    throw UsageError(fmt::format("--node: '{}' is not a price above 0 with at most six decimals", escaped(text)));
  return *price;
}

std::int64_t most_in(std::string_view text) {
  const Result<Quantity> quantity = parse_number(text);
  const auto most =
      quantity ? count_units(*quantity, QuantityUnit::kOne, Rounding::kRefuse) : Result<std::int64_t>(quantity.error());
  constexpr std::int64_t kMost = 1'000'000;
  if (!most || *most > kMost) throw UsageError(fmt::format("--node: '{}' is not a number of nodes", escaped(text)));
  return *most;
}

answers::NodeKind kind_of_shape(std::string_view text) {
  answers::NodeKind kind;
  std::string rest;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    if (part.starts_with("price=")) {
      kind.price = price_in(part.substr(sizeof("price=") - 1));
    } else if (part.starts_with("max=")) {
      kind.most = most_in(part.substr(sizeof("max=") - 1));
    } else {
      rest += (rest.empty() ? "" : ",") + std::string(part);
    }
    begin = end + 1;
  }
  Result<change::AddShapedNodes> shape = parse_node_shape(rest);
  if (!shape) throw UsageError("--node: " + shape_error(text, shape.error()));
  if (shape->count != 1) throw UsageError("--node: a kind has no number in front; max=N bounds its nodes");
  kind.title = rest;
  kind.of = std::move(shape->shape);
  return kind;
}

answers::NodeKind kind_of_name(std::string_view text, const Snapshot& snapshot) {
  answers::NodeKind kind;
  if (const std::size_t colon = text.rfind(':'); colon != std::string_view::npos) {
    kind.most = most_in(text.substr(colon + 1));
    text = text.substr(0, colon);
  }
  if (const std::size_t sign = text.rfind('='); sign != std::string_view::npos) {
    kind.price = price_in(text.substr(sign + 1));
    text = text.substr(0, sign);
  }
  Result<std::string> node = resolve_node(snapshot, text);
  if (!node) throw UsageError(fmt::format("--node: {}", escaped(node.error().message)));
  kind.title = *node;
  kind.of = *std::move(node);
  return kind;
}

// ---- the workload ----

std::variant<ClusterInput, int> no_cluster(const Settings& settings) {
  ClusterInput cluster;
  muster_v1::SnapshotReader reader(reader_options(settings));
  Result<Snapshot> snapshot = reader.read(R"({"format":"muster/v1","nodes":[],"pods":[]})");
  if (!snapshot) return complain_of("size", snapshot.error(), kExitInternal);
  cluster.snapshot = *std::move(snapshot);
  return cluster;
}

// Adds the workload to the cluster; the exit code.
int add_manifest(const std::string& file, const Settings& settings, ClusterInput& cluster) {
  std::variant<Submission, int> submission = read_submission(file, cluster, settings);
  if (const int* code = std::get_if<int>(&submission)) return *code;
  const Submission& read = std::get<Submission>(submission);
  if (!settings.is_on("quiet")) {
    for (const std::string& remark : read.remarks) complain_of("size", escaped(remark), kExitAnswered);
  }
  change::hold_back_waiting(cluster.snapshot);  // it is not of the workload
  if (const auto failure = change::merge(read.workload, cluster.snapshot)) return complain_of("size", *failure);
  return kExitAnswered;
}

int add_shape(const std::string& text, const Settings& settings, ClusterInput& cluster) {
  Result<change::GangShape> shape = parse_shape(text);
  if (!shape) throw UsageError("--shape: " + shape_error(text, shape.error()));
  change::AddGang gang;
  gang.gang = "new";
  gang.shape = *std::move(shape);
  constexpr std::int64_t kMostCopies = 100'000;
  gang.count = settings.integer("copies", 1, kMostCopies).value_or(1);
  if (!cluster.snapshot.queues.empty()) gang.queue = cluster.snapshot.queues.front().name;
  change::hold_back_waiting(cluster.snapshot);  // it is not of the workload
  if (const auto failure = change::apply(gang, cluster.snapshot)) return complain_of("size", *failure);
  return kExitAnswered;
}

std::variant<ClusterInput, int> workload(const Settings& settings) {
  const auto shape = settings.text("shape");
  const std::string file = settings.arguments().empty() ? "" : settings.arguments().front();
  if (shape && !file.empty()) throw UsageError("give only one of FILE and --shape");
  if (settings.text("copies") && !shape) throw UsageError("--copies needs --shape");
  bool is_snapshot = false;
  if (!file.empty() && file != "-") {
    std::string text;
    if (const auto error = read_documents(file, text))
      return complain_of("size", {error->code, file, error->message}, kExitNoInput);
    is_snapshot = !kubernetes::begins_as_kubernetes(text);
  }
  if (is_snapshot) return read_cluster(settings, file);
  const bool has_workload = shape || !file.empty();
  std::variant<ClusterInput, int> cluster =
      settings.text("from") || !has_workload ? read_cluster(settings) : no_cluster(settings);
  auto* read = std::get_if<ClusterInput>(&cluster);
  if (!read || !has_workload) return cluster;
  const int code = shape ? add_shape(*shape, settings, *read) : add_manifest(file, settings, *read);
  if (code != kExitAnswered) return code;
  return cluster;
}

// ---- the answer ----

Decimal price_of(std::int64_t price) { return {price, kPriceScale}; }

// A kind of nodes, and how many of them to buy.
struct SizedKind {
  const answers::NodeKind* kind;
  std::int64_t nodes;
};

Table kind_table(const answers::Sizing& sizing, const answers::SizingQuestion& question) {
  using Row = SizedKind;
  std::vector<Row> rows;
  for (std::size_t i = 0; i < question.kinds.size(); ++i) rows.push_back({&question.kinds[i], sizing.nodes[i]});
  return filled<Row>({.key = "kinds"},
                     {{"node", "NODE", [](const Row& row) { return row.kind->title; }},
                      {"price", "PRICE", [](const Row& row) { return price_of(row.kind->price); }},
                      {"most", "MAX", [](const Row& row) { return row.kind->most; }, Shown::kWide},
                      {"nodes", "NODES", &Row::nodes},
                      {"total", "TOTAL", [](const Row& row) { return price_of(row.nodes * row.kind->price); }}},
                     rows);
}

// What is proven of the price, and what keeps nodes from being found.
void add_verdict(const answers::Sizing& sizing, AnswerDocument& document) {
  const bool has_misfits = !sizing.impossible.empty();
  if (sizing.is_impossible || !has_misfits) {
    document.add_field("bound", "No less than", sizing.is_impossible ? Cell() : Cell(price_of(sizing.bound)));
    const Meaning meaning = sizing.is_proven() ? Meaning::kGood : Meaning::kWarning;
    document.add_field("proven", "Proven",
                       sizing.is_impossible ? Cell(true) : Cell(sizing.is_proven()).meaning(meaning));
  } else {
    document.add_field("impossible", "Gangs with a pod that fits on none of these nodes",
                       Cell(sizing.impossible).meaning(Meaning::kBad));
  }
  if (sizing.is_impossible) return document.add_note("Proven: no number of these nodes suffices.", Meaning::kBad);
  if (!sizing.nodes.empty()) return;
  if (has_misfits) return document.add_note("Not all of it runs on nodes of these kinds.", Meaning::kBad);
  document.add_field("waiting", "Gangs without room", Cell(sizing.waiting).meaning(Meaning::kBad));
  if (!sizing.message.empty()) document.add_field("message", "Message", sizing.message);
  document.add_note("No nodes of these kinds were found on which all of it runs; a larger --budget may find some.",
                    Meaning::kBad);
}

Answered size(const Question& asked) {
  answers::SizingQuestion question;
  for (const std::string& text : asked.settings.texts("node"))
    question.kinds.push_back(is_kind_of_shape(text) ? kind_of_shape(text) : kind_of_name(text, asked.snapshot()));
  question.uses_present = asked.settings.is_on("existing");
  cbc::Backend backend(kOwnProgram);
  const auto sizing = answers::size_nodes(asked.snapshot(), asked.portfolio, backend, asked.options, question);
  if (!sizing) return sizing.error();
  AnswerDocument document("size");
  document.add_field("gangs", "Gangs", sizing->gangs);
  document.add_field("pods", "Pods", sizing->pods);
  if (!sizing->nodes.empty()) {
    document.add_table(kind_table(*sizing, question));
    document.add_field("total", "Price", price_of(sizing->price));
  }
  add_verdict(*sizing, document);
  note_scope(asked.snapshot(), document);
  return Reply{std::move(document), sizing->nodes.empty() ? kExitSomeErrors : kExitAnswered};
}

std::vector<std::string> size_sources(const Settings& settings) {
  if (settings.texts("node").empty()) throw UsageError("no kind of node is given; give --node KIND");
  return {};
}

const AnswerCommand& size_command() {
  static const AnswerCommand command{
      {"muster size [FILE] --node KIND... [OPTION...]",
       "Finds the cheapest nodes on which a whole workload runs at the same time. The workload: what FILE requests (a\n"
       "manifest, or what is pending in a snapshot); without FILE that of --shape, or what is pending in --from.\n"
       "KIND: NODE[=PRICE][:MAX] as a node of the cluster, or gpu=GPUS[:MODEL],cpu=N,memory=Q[,RESOURCE=Q]\n"
       "[,label=KEY:VALUE][,price=PRICE][,max=MAX]. Exit code 1: there are no such nodes.",
       with_answer_options(with_cluster_options(with_experiment_options(
           {{"node", "KIND", "a kind of node, its price [1] and how many there are at most; may be repeated", kNoLetter,
             "", Repetition::kOften},
            {"shape", "SHAPE", "a workload of gangs of this shape; see muster fits --help"},
            {"copies", "N", "so many gangs of --shape [1]"},
            {"existing", "", "use the free room of the cluster's own nodes first"}}))),
       0, 1},
      size,
      kAnswerBudget,
      size_sources,
      workload};
  return command;
}

}  // namespace

const CommandSyntax& size_syntax() { return size_command().syntax; }
int run_size(int argc, const char* const* argv) { return run_answer(size_command(), argc, argv); }

}  // namespace muster::cli
