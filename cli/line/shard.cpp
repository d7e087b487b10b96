#include "cli/line/shard.h"

#include <charconv>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "cli/terminal/terminal.h"

namespace muster::cli {
namespace {

constexpr std::int64_t kMostShards = std::numeric_limits<std::int32_t>::max();

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = !text.empty() && error == std::errc() && end == text.data() + text.size() && number >= 0;
  return is_number ? std::optional(number) : std::nullopt;
}

// None: it is not set.
std::optional<std::int64_t> number_of_environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  if (const auto number = number_in(value)) return number;
  throw UsageError(fmt::format("{}={} is not a number", name, escaped(value)));
}

std::int64_t index_of_environment() {
  if (const auto index = number_of_environment("JOB_COMPLETION_INDEX")) return *index;
  if (const auto index = number_of_environment("SLURM_ARRAY_TASK_ID"))
    return *index - number_of_environment("SLURM_ARRAY_TASK_MIN").value_or(0);
  throw UsageError("--shards: neither JOB_COMPLETION_INDEX nor SLURM_ARRAY_TASK_ID is set; give --shard I/N");
}

}  // namespace

std::vector<OptionRow> with_shard_options(std::vector<OptionRow> others) {
  std::vector<OptionRow> rows = {
      {"shard", "I/N", "answer only the lines whose number, from 0, modulo N is I; see 'muster help merge'"},
      {"shards", "N", "the same, with I from JOB_COMPLETION_INDEX or SLURM_ARRAY_TASK_ID"}};
  rows.insert(rows.begin(), others.begin(), others.end());
  return rows;
}

Shard shard_of(const Settings& settings) {
  const std::optional<std::string> one = settings.text("shard");
  const std::optional<std::int64_t> count = settings.integer("shards", 1, kMostShards);
  if (one && count) throw UsageError("give --shard or --shards, not both");
  Shard shard;
  if (count) {
    shard = {index_of_environment(), *count};
  } else if (one) {
    const std::size_t slash = one->find('/');
    const auto index = number_in(std::string_view(*one).substr(0, slash));
    const auto of = slash == std::string::npos ? std::nullopt : number_in(std::string_view(*one).substr(slash + 1));
    if (!index || !of || *of < 1 || *of > kMostShards)
      throw UsageError(fmt::format("--shard {}: not I/N, such as 0/8", escaped(*one)));
    shard = {*index, *of};
  }
  if (shard.index < 0 || shard.index >= shard.count)
    throw UsageError(
        fmt::format("shard {} of {}: shards are counted from 0 to {}", shard.index, shard.count, shard.count - 1));
  return shard;
}

}  // namespace muster::cli
