#include "datasets/traces/csv.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <lzma.h>

namespace muster::traces {

namespace {

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    const std::size_t comma = line.find(',');
    fields.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

// Cuts the first line off the text; a carriage return before the line feed is dropped.
std::string_view next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

constexpr std::size_t kAbsent = ~std::size_t{0};

// The position of each wanted column in the header.
Result<std::vector<std::size_t>> positions_of(const CsvTable& table, std::size_t required, std::string_view header) {
  const std::vector<std::string_view> names = split(header);
  std::vector<std::size_t> positions;
  for (const std::string& column : table.columns) {
    const auto found = std::ranges::find(names, column);
    if (found != names.end()) {
      positions.push_back(static_cast<std::size_t>(found - names.begin()));
    } else if (positions.size() < required) {
      return InputError{ErrorCode::kMissingColumn, fmt::format("{}:1:{}", table.file, column),
                        fmt::format("the header has no column \"{}\"", column)};
    } else {
      positions.push_back(kAbsent);
    }
  }
  return positions;
}

}  // namespace

InputError CsvTable::fault(std::size_t row, std::size_t column, std::string_view message) const {
  return {ErrorCode::kInvalidValue, fmt::format("{}:{}:{}", file, row + 2, columns[column]), std::string(message)};
}

Result<std::int64_t> CsvTable::number(std::size_t row, std::size_t column, std::int64_t most) const {
  const std::string_view field = rows[row][column];
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (failure != std::errc() || end != field.data() + field.size()) {
    return fault(row, column, fmt::format("\"{}\" is not a whole number", field));
  }
  if (value < 0 || value > most) return fault(row, column, fmt::format("{} is not from 0 to {}", value, most));
  return value;
}

Result<CsvTable> read_csv(std::string_view text, std::string_view file, const CsvColumns& columns) {
  CsvTable table{std::string(file), columns.required, {}};
  table.columns.insert(table.columns.end(), columns.optional.begin(), columns.optional.end());
  const std::string_view header = next_line(text);
  const auto positions = positions_of(table, columns.required.size(), header);
  if (!positions) return positions.error();
  const std::size_t width = split(header).size();
  while (!text.empty()) {
    const std::vector<std::string_view> fields = split(next_line(text));
    const bool is_empty = fields.size() == 1 && fields[0].empty();
    if (is_empty && text.empty()) break;
    if (fields.size() != width) {
      return InputError{ErrorCode::kInvalidValue, fmt::format("{}:{}", table.file, table.rows.size() + 2),
                        fmt::format("{} fields, but the header has {}", fields.size(), width)};
    }
    std::vector<std::string_view>& row = table.rows.emplace_back();
    for (const std::size_t position : *positions) {
      row.push_back(position == kAbsent ? std::string_view() : fields[position]);
    }
  }
  return table;
}

namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 20;
constexpr std::uint64_t kMostMemory = std::uint64_t{256} << 20;  // of the decoder; `xz -9` needs 65 MiB

std::optional<std::string> bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) return std::nullopt;
  return bytes;
}

std::optional<std::string> unpacked(const std::string& packed) {
  const auto* input = reinterpret_cast<const std::uint8_t*>(packed.data());
  for (std::size_t size = std::size_t{1} << 20; size <= kMostBytes; size *= 4) {
    std::string text(size, '\0');
    std::uint64_t memory = kMostMemory;
    std::size_t read = 0, written = 0;
    const lzma_ret result = lzma_stream_buffer_decode(&memory, 0, nullptr, input, &read, packed.size(),
                                                      reinterpret_cast<std::uint8_t*>(text.data()), &written, size);
    if (result == LZMA_BUF_ERROR && read < packed.size()) continue;  // there is more output
    if (result != LZMA_OK || read != packed.size()) return std::nullopt;
    text.resize(written);
    return text;
  }
  return std::nullopt;
}

}  // namespace

Result<std::string> read_maybe_compressed(const std::string& path) {
  if (auto bytes = bytes_of(path)) return *std::move(bytes);
  const auto packed = bytes_of(path + ".xz");
  if (!packed) return InputError{ErrorCode::kNoInput, path, "the file cannot be read"};
  auto text = unpacked(*packed);
  if (!text) return InputError{ErrorCode::kInvalidValue, path + ".xz", "not a valid xz file, or larger than 64 MiB"};
  return *std::move(text);
}

}  // namespace muster::traces
