#include "solver/cbc/worker_protocol.h"

#include <cstring>
#include <string>
#include <type_traits>

namespace muster::cbc {

namespace {

class ByteWriter {
 public:
  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    append(&value, sizeof value);
  }
  template <class Sequence>
  void put_all(const Sequence& values) {
    put(static_cast<std::uint64_t>(values.size()));
    append(values.data(), values.size() * sizeof(values[0]));
  }
  std::vector<std::byte> take() { return std::move(bytes_); }
  void reserve(std::size_t size) { bytes_.reserve(size); }

 private:
  void append(const void* from, std::size_t size) {
    const auto* begin = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), begin, begin + size);
  }

  std::vector<std::byte> bytes_;
};

// Reads in the order of writing; once something is missing everything else reads as empty and is_whole() is false.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T>
  void get(T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (!has(sizeof value)) return;
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_ = bytes_.subspan(sizeof value);
  }
  // Any other byte is no bool.
  void get(bool& value) {
    std::uint8_t byte = 0;
    get(byte);
    is_good_ = is_good_ && byte <= 1;
    value = byte == 1;
  }
  template <class Enumeration>
  void get(Enumeration& value, Enumeration last) {
    get(value);
    is_good_ = is_good_ && value <= last;
  }
  template <class Sequence>
  void get_all(Sequence& values) {
    std::uint64_t count = 0;
    get(count);
    if (count > bytes_.size() / sizeof(values[0]) || !has(count * sizeof(values[0]))) {
      is_good_ = false;
      return;
    }
    values.resize(count);
    const std::size_t size = count * sizeof(values[0]);
    if (size > 0) std::memcpy(values.data(), bytes_.data(), size);
    bytes_ = bytes_.subspan(size);
  }
  bool is_whole() const { return is_good_ && bytes_.empty(); }

 private:
  bool has(std::size_t size) {
    is_good_ = is_good_ && bytes_.size() >= size;
    return is_good_;
  }

  std::span<const std::byte> bytes_;
  bool is_good_ = true;
};

// Names stay with the parent: the worker has no use for them.
template <class Coder, class Model, class Apply>
void each_array(Coder& coder, Model& milp, const Apply& apply) {
  apply(coder, milp.objective);
  apply(coder, milp.lower);
  apply(coder, milp.upper);
  apply(coder, milp.is_integer);
  apply(coder, milp.is_structure);
  apply(coder, milp.row_lower);
  apply(coder, milp.row_upper);
  apply(coder, milp.column_begin);
  apply(coder, milp.entry_row);
  apply(coder, milp.entry_value);
}

bool fits_together(const lp::Milp& milp) {
  const std::size_t columns = milp.objective.size();
  if (milp.lower.size() != columns || milp.upper.size() != columns || milp.is_integer.size() != columns) return false;
  if (!milp.is_structure.empty() && milp.is_structure.size() != columns) return false;
  if (milp.row_lower.size() != milp.row_upper.size()) return false;
  if (milp.column_begin.size() != columns + 1 || milp.column_begin.front() != 0) return false;
  if (milp.column_begin.back() != milp.entries() || milp.entry_row.size() != milp.entry_value.size()) return false;
  for (std::size_t column = 0; column < columns; ++column) {
    if (milp.column_begin[column] > milp.column_begin[column + 1]) return false;
  }
  for (const std::int32_t row : milp.entry_row) {
    if (row < 0 || row >= milp.rows()) return false;
  }
  return true;
}

std::size_t bytes_of(const lp::Milp& milp) {
  return milp.objective.size() * 29 + milp.row_lower.size() * 16 + milp.entry_row.size() * 12 + 200;
}

}  // namespace

std::vector<std::byte> encode(const lp::Milp& milp, const MilpRequest& request) {
  ByteWriter writer;
  writer.reserve(bytes_of(milp) + request.start.size() * 8);
  each_array(writer, milp, [](ByteWriter& to, const auto& array) { to.put_all(array); });
  writer.put(request.deadline.time_since_epoch().count());
  writer.put(request.relative_gap);
  writer.put(request.absolute_gap);
  writer.put(request.work.is_none() ? std::int64_t{-1} : request.work.left());
  writer.put(request.node_limit);
  writer.put(request.without_preprocessing);
  writer.put(request.way);
  writer.put(request.is_proof);
  writer.put_all(request.start);
  writer.put(request.cutoff);
  writer.put(request.relax);
  return writer.take();
}

std::optional<Question> decode_question(std::span<const std::byte> bytes) {
  Question question;
  ByteReader reader(bytes);
  each_array(reader, question.milp, [](ByteReader& from, auto& array) { from.get_all(array); });
  std::chrono::steady_clock::rep deadline = 0;
  reader.get(deadline);
  question.request.deadline = std::chrono::steady_clock::time_point(std::chrono::steady_clock::duration(deadline));
  reader.get(question.request.relative_gap);
  reader.get(question.request.absolute_gap);
  std::int64_t work = -1;
  reader.get(work);
  if (work >= 0) question.request.work = WorkLimit(work);
  reader.get(question.request.node_limit);
  reader.get(question.request.without_preprocessing);
  reader.get(question.request.way, SearchWay::kFewHeuristics);
  reader.get(question.request.is_proof);
  reader.get_all(question.request.start);
  reader.get(question.request.cutoff);
  reader.get(question.request.relax);
  if (!reader.is_whole() || !fits_together(question.milp)) return std::nullopt;
  return question;
}

std::vector<std::byte> encode(const MilpAnswer& answer) {
  ByteWriter writer;
  writer.put(answer.status);
  writer.put(answer.objective);
  writer.put(answer.bound);
  writer.put_all(answer.x);
  writer.put_all(answer.row_price);
  writer.put(answer.nodes);
  writer.put(answer.work);
  writer.put(answer.start_was_used);
  writer.put_all(answer.message);
  return writer.take();
}

std::optional<MilpAnswer> decode_answer(std::span<const std::byte> bytes) {
  MilpAnswer answer;
  ByteReader reader(bytes);
  reader.get(answer.status, SolveStatus::kFailed);
  reader.get(answer.objective);
  reader.get(answer.bound);
  reader.get_all(answer.x);
  reader.get_all(answer.row_price);
  reader.get(answer.nodes);
  reader.get(answer.work);
  reader.get(answer.start_was_used);
  reader.get_all(answer.message);
  if (!reader.is_whole()) return std::nullopt;
  return answer;
}

}  // namespace muster::cbc
