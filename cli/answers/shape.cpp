#include "cli/answers/shape.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "cli/terminal/terminal.h"
#include "model/snapshot/quantity.h"

namespace muster::cli {
namespace {

constexpr std::int64_t kMostPods = 100'000, kMostDevices = 4096;

using Failure = std::optional<InputError>;

InputError invalid(std::string message) { return {ErrorCode::kInvalidValue, "", std::move(message)}; }

struct Part {
  std::string_view key, value;  // no key: what comes before the keys
};

// The count before the first part, and the parts. An empty part is an error.
struct Parts {
  std::int64_t count = 1;
  std::vector<Part> list;
};

// "16x8:H100" has 16; nothing if the text does not begin with a number and an x.
std::optional<std::int64_t> leading_count(std::string_view& text) {
  std::int64_t count = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (fault != std::errc() || end == text.data() + text.size() || *end != 'x') return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return count;
}

Result<Parts> parts_of(std::string_view text) {
  Parts parts;
  if (const auto count = leading_count(text)) {
    if (*count < 1 || *count > kMostPods)
      return invalid(fmt::format("the number before x is not from 1 to {}", kMostPods));
    parts.count = *count;
  }
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    const std::size_t sign = part.find('=');
    if (part.empty()) return invalid("a part of the shape is empty");
    if (sign == std::string_view::npos && !parts.list.empty())
      return invalid(fmt::format("\"{}\" is not KEY=VALUE", escaped(part)));
    if (sign == 0) return invalid(fmt::format("\"{}\" has no key", escaped(part)));
    if (sign != std::string_view::npos && sign + 1 == part.size())
      return invalid(fmt::format("\"{}\" has no value", escaped(part)));
    parts.list.push_back(sign == std::string_view::npos ? Part{{}, part}
                                                        : Part{part.substr(0, sign), part.substr(sign + 1)});
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

Failure read_units(std::string_view text, QuantityUnit unit, Rounding rounding, std::int64_t& out) {
  const Result<Quantity> quantity = parse_quantity(text);
  if (!quantity) return quantity.error();
  const Result<std::int64_t> units = count_units(*quantity, unit, rounding);
  if (!units) return units.error();
  out = *units;
  return {};
}

QuantityUnit unit_of(std::string_view resource) {
  return resource == "cpu" ? QuantityUnit::kThousandth : QuantityUnit::kOne;
}

using Resources = std::vector<std::pair<std::string, Amount>>;

Failure read_resource(const Part& part, Rounding rounding, Resources& out) {
  if (std::ranges::find(out, part.key, &Resources::value_type::first) != out.end())
    return invalid(fmt::format("{} is given twice", escaped(part.key)));
  Amount amount = 0;
  if (Failure failure = read_units(part.value, unit_of(part.key), rounding, amount)) return failure;
  out.emplace_back(part.key, amount);
  return {};
}

// "8", "8:H100", "0.5": a number of devices, or a part of one, and a model.
Failure read_gpus(std::string_view text, change::PodShape& shape) {
  if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    if (colon + 1 == text.size()) return invalid("the GPU model is empty");
    shape.gpu_models.emplace_back(text.substr(colon + 1));
    text = text.substr(0, colon);
  }
  std::int64_t millionths = 0;
  constexpr std::int64_t kWhole = 1'000'000;
  if (read_units(text, QuantityUnit::kMillionth, Rounding::kRefuse, millionths) || millionths > kMostDevices * kWhole)
    return invalid(fmt::format("\"{}\" is no number of GPUs", escaped(text)));
  if (millionths == 0) {
    shape.gpu = {};
  } else if (millionths % kWhole == 0) {
    shape.gpu = {GpuRequestKind::kWhole, static_cast<std::int32_t>(millionths / kWhole), 0};
  } else if (millionths < kWhole) {
    shape.gpu = {GpuRequestKind::kFraction, 1, millionths};
  } else {
    return invalid(fmt::format("{} GPUs are neither a part of one nor whole ones", escaped(text)));
  }
  return {};
}

Failure read_gpu_memory(std::string_view text, std::int64_t& mib) {
  if (Failure failure = read_units(text, QuantityUnit::kMebi, Rounding::kUp, mib)) return failure;
  if (mib == 0) return invalid("gpu-memory is 0");
  return {};
}

class GangReading {
 public:
  Failure read(const Part& part) {
    change::PodShape& pod = shape.pod;
    if (part.key.empty() || part.key == "gpu" || part.key == "nvidia.com/gpu") {
      if (has_gpus_) return invalid("the number of GPUs is given twice");
      has_gpus_ = true;
      return read_gpus(part.value, pod);
    }
    if (part.key == "gpu-memory") return read_gpu_memory(part.value, memory_mib_);
    if (part.key == "model") {
      pod.gpu_models.emplace_back(part.value);
    } else if (part.key == "level") {
      shape.required_level = part.value;
    } else if (part.key == "tolerate") {
      pod.tolerated.emplace_back(part.value);
    } else {
      return read_resource(part, Rounding::kUp, pod.resources);
    }
    return {};
  }
  Failure finish() {
    GpuRequest& gpu = shape.pod.gpu;
    if (memory_mib_ > 0) {
      if (gpu.kind == GpuRequestKind::kFraction) return invalid("both a part of a GPU and gpu-memory are given");
      gpu = {GpuRequestKind::kMemory, std::max(gpu.devices, 1), memory_mib_};
    }
    if (!shape.pod.gpu_models.empty() && gpu.kind == GpuRequestKind::kNone)
      return invalid("a GPU model is given, but no number of GPUs");
    if (gpu.kind == GpuRequestKind::kNone && shape.pod.resources.empty()) return invalid("the shape asks for nothing");
    return {};
  }

  change::GangShape shape;

 private:
  bool has_gpus_ = false;
  std::int64_t memory_mib_ = 0;
};

Failure read_label(std::string_view text, change::NodeShape& shape) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0)
    return invalid(fmt::format("the label \"{}\" is not KEY:VALUE", escaped(text)));
  shape.labels.emplace_back(text.substr(0, colon), text.substr(colon + 1));
  return {};
}

Failure read_node_gpus(std::string_view text, change::NodeShape& shape) {
  change::PodShape devices;
  if (Failure failure = read_gpus(text, devices)) return failure;
  if (devices.gpu.kind == GpuRequestKind::kFraction) return invalid("a node has whole GPUs");
  shape.gpus = devices.gpu.devices;
  if (!devices.gpu_models.empty()) shape.gpu_model = devices.gpu_models.front();
  return {};
}

Failure read_node_part(const Part& part, change::NodeShape& shape) {
  if (part.key == "gpu" || part.key == "nvidia.com/gpu") return read_node_gpus(part.value, shape);
  if (part.key == "gpu-memory") return read_gpu_memory(part.value, shape.gpu_memory_mib);
  if (part.key == "label") return read_label(part.value, shape);
  if (part.key.empty()) return invalid(fmt::format("\"{}\" is not KEY=VALUE", escaped(part.value)));
  return read_resource(part, Rounding::kDown, shape.resources);
}

}  // namespace

Result<change::GangShape> parse_shape(std::string_view text) {
  const Result<Parts> parts = parts_of(text);
  if (!parts) return parts.error();
  GangReading reading;
  reading.shape.pods = static_cast<std::int32_t>(parts->count);
  for (const Part& part : parts->list) {
    if (Failure failure = reading.read(part)) return *std::move(failure);
  }
  if (Failure failure = reading.finish()) return *std::move(failure);
  return std::move(reading.shape);
}

Result<change::AddShapedNodes> parse_node_shape(std::string_view text) {
  const Result<Parts> parts = parts_of(text);
  if (!parts) return parts.error();
  change::AddShapedNodes nodes;
  nodes.count = parts->count;
  for (const Part& part : parts->list) {
    if (Failure failure = read_node_part(part, nodes.shape)) return *std::move(failure);
  }
  return nodes;
}

bool is_node_shape(std::string_view text) { return text.find('=') != std::string_view::npos; }

std::string shape_error(std::string_view text, const InputError& error) {
  return fmt::format("invalid shape '{}': {}", escaped(text), escaped(error.message));
}

}  // namespace muster::cli
