#include <algorithm>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "datasets/traces/compressed.h"
#include "datasets/traces/csv.h"
#include "datasets/traces/openb.h"

namespace muster::traces {
namespace {

constexpr std::int64_t kMostCpuMilli = 1'000'000'000, kMostMemoryMib = 1'000'000'000, kMostGpus = 1024;
constexpr std::int64_t kPodsPerNode = 1000;

// The numbers of one row in the columns from `first` on, each within its bound.
Result<std::vector<std::int64_t>> numbers_of(const CsvTable& table, std::size_t row, std::size_t first,
                                             const std::vector<std::int64_t>& bounds) {
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    const auto number = table.number(row, first + i, bounds[i]);
    if (!number) return number.error();
    numbers.push_back(*number);
  }
  return numbers;
}

// Names stand in the first column, and none twice.
std::optional<InputError> name_fault(const CsvTable& table) {
  std::unordered_set<std::string_view> seen;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const std::string_view name = table.rows[row][0];
    if (name.empty()) return table.fault(row, 0, "the name is empty");
    if (seen.insert(name).second) continue;
    InputError fault = table.fault(row, 0, fmt::format("duplicate name \"{}\"", name));
    fault.code = ErrorCode::kDuplicateName;
    return fault;
  }
  return std::nullopt;
}

// "A|B|B" as sorted, distinct names.
std::vector<std::string> models_of(std::string_view field) {
  std::vector<std::string> models;
  while (!field.empty()) {
    const std::size_t bar = field.find('|');
    if (bar != 0) models.emplace_back(field.substr(0, bar));
    field.remove_prefix(bar == std::string_view::npos ? field.size() : bar + 1);
  }
  std::ranges::sort(models);
  models.erase(std::ranges::unique(models).begin(), models.end());
  return models;
}

GpuRequest gpu_request(std::int64_t num_gpu, std::int64_t gpu_milli) {
  if (num_gpu == 0) return {};
  const auto devices = static_cast<std::int32_t>(num_gpu);
  if (gpu_milli == 1000) return {GpuRequestKind::kWhole, devices, 0};
  return {GpuRequestKind::kFraction, devices, gpu_milli * 1000};
}

}  // namespace

Result<std::vector<generator::InstanceNode>> parse_openb_nodes(std::string_view text, std::string_view file) {
  const auto table = read_csv(text, file, {{"sn", "cpu_milli", "memory_mib", "gpu", "model"}, {}});
  if (!table) return table.error();
  if (auto fault = name_fault(*table)) return *std::move(fault);
  std::vector<generator::InstanceNode> nodes;
  for (std::size_t row = 0; row < table->rows.size(); ++row) {
    const auto numbers = numbers_of(*table, row, 1, {kMostCpuMilli, kMostMemoryMib, kMostGpus});
    if (!numbers) return numbers.error();
    generator::InstanceNode& node = nodes.emplace_back();
    node.name = table->rows[row][0];
    node.cpu_milli = (*numbers)[0];
    node.memory_mib = (*numbers)[1];
    node.pods = kPodsPerNode;
    node.gpu_count = static_cast<std::int32_t>((*numbers)[2]);
    node.gpu_model = table->rows[row][4];
  }
  return nodes;
}

Result<std::vector<OpenbPod>> parse_openb_pods(std::string_view text, std::string_view file) {
  constexpr std::size_t kGpuMilliColumn = 4, kModelsColumn = 5;
  const auto table = read_csv(text, file, {{"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli"}, {"gpu_spec"}});
  if (!table) return table.error();
  if (auto fault = name_fault(*table)) return *std::move(fault);
  std::vector<OpenbPod> pods;
  for (std::size_t row = 0; row < table->rows.size(); ++row) {
    const auto numbers = numbers_of(*table, row, 1, {kMostCpuMilli, kMostMemoryMib, kMostGpus, 1000});
    if (!numbers) return numbers.error();
    const std::int64_t num_gpu = (*numbers)[2], gpu_milli = (*numbers)[3];
    if (num_gpu >= 1 && gpu_milli == 0)
      return table->fault(row, kGpuMilliColumn, "num_gpu is at least 1, but gpu_milli is 0");
    if (num_gpu > 1 && gpu_milli < 1000) {
      return table->fault(row, kGpuMilliColumn, "a share requires num_gpu 1");
    }
    OpenbPod& pod = pods.emplace_back();
    pod.name = table->rows[row][0];
    pod.shape.cpu_milli = (*numbers)[0];
    pod.shape.memory_mib = (*numbers)[1];
    pod.shape.gpu = gpu_request(num_gpu, gpu_milli);
    pod.shape.gpu_models = models_of(table->rows[row][kModelsColumn]);
  }
  return pods;
}

Result<std::vector<std::uint32_t>> parse_openb_order(std::string_view text, std::string_view file,
                                                     std::size_t row_count) {
  // A table of one column without a header: it gets one, and its line numbers move back by one.
  std::vector<std::uint32_t> order;
  std::size_t line = 0;
  while (!text.empty()) {
    ++line;
    const std::size_t end = text.find('\n');
    CsvTable table{std::string(file), {"row"}, {{text.substr(0, end)}}};
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (table.rows[0][0].ends_with('\r')) table.rows[0][0].remove_suffix(1);
    const auto row = table.number(0, 0, static_cast<std::int64_t>(row_count) - 1);
    if (!row) return InputError{row.error().code, fmt::format("{}:{}:row", file, line), row.error().message};
    order.push_back(static_cast<std::uint32_t>(*row));
  }
  return order;
}

OpenbFiles openb_trace_files(const std::string& directory, const std::string& trace) {
  return openb_trace_files(directory, trace, 42);
}

OpenbFiles openb_trace_files(const std::string& directory, const std::string& trace, std::uint32_t seed) {
  // The lists of `default` and of all gpuspec traces are equally long, so the same seed gives the same order.
  const bool has_default_order = trace == "gpuspec10" || trace == "gpuspec20";
  return {directory + "/nodes.csv", directory + "/pods_" + trace + ".csv",
          fmt::format("{}/arrivals_{}_{}.idx", directory, has_default_order ? "default" : trace, seed)};
}

const std::vector<std::string>& openb_traces() {
  static const std::vector<std::string> traces = {"default",    "cpu050",      "cpu100",    "cpu250",    "gpushare40",
                                                  "gpushare60", "gpushare100", "gpuspec10", "gpuspec20", "gpuspec33",
                                                  "multigpu20", "multigpu30",  "multigpu50"};
  return traces;
}

const std::vector<std::uint32_t>& openb_seeds() {
  static const std::vector<std::uint32_t> seeds = {42, 43, 44, 45, 46};
  return seeds;
}

std::string openb_source_directory() { return MUSTER_OPENB_DIRECTORY; }

Result<OpenbInput> load_openb(const OpenbFiles& files) {
  const auto node_text = read_maybe_compressed(files.nodes), pod_text = read_maybe_compressed(files.pods);
  if (!node_text) return node_text.error();
  if (!pod_text) return pod_text.error();
  auto nodes = parse_openb_nodes(*node_text, files.nodes);
  if (!nodes) return nodes.error();
  auto pods = parse_openb_pods(*pod_text, files.pods);
  if (!pods) return pods.error();
  OpenbInput input{*std::move(nodes), *std::move(pods), {}};
  if (files.order.empty()) return input;
  const auto order_text = read_maybe_compressed(files.order);
  if (!order_text) return order_text.error();
  auto order = parse_openb_order(*order_text, files.order, input.pods.size());
  if (!order) return order.error();
  input.order = *std::move(order);
  return input;
}

}  // namespace muster::traces
