#include "io/json/json_document.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <simdjson.h>

#include "model/base/require.h"

namespace muster::json {

namespace {

constexpr std::size_t kSmallestCapacity = std::size_t{1} << 16;

bool is_plain_word(std::string_view key) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (key.empty() || !is_letter(key.front())) return false;
  return std::ranges::all_of(key, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

bool is_number_character(char c) {
  return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

InputError describe(simdjson::error_code code, const JsonLimits& limits) {
  switch (code) {
    case simdjson::UTF8_ERROR:
      return {ErrorCode::kInvalidUtf8, "$", "the line is not valid UTF-8"};
    case simdjson::DEPTH_ERROR:
      return {ErrorCode::kTooDeep, "$",
              "objects and lists are nested more than " + std::to_string(limits.max_depth) + " deep"};
    case simdjson::CAPACITY:
    case simdjson::MEMALLOC:
      return {ErrorCode::kTooLarge, "$", "there is not enough memory to read the line"};
    case simdjson::NUMBER_ERROR:
      return {ErrorCode::kInvalidJson, "$", "a number is malformed or outside the range of 64 bits"};
    case simdjson::EMPTY:
      return {ErrorCode::kInvalidJson, "$", "the line is empty"};
    default:
      return {ErrorCode::kInvalidJson, "$", simdjson::error_message(code)};
  }
}

}  // namespace

std::string_view kind_name(JsonKind kind) {
  switch (kind) {
    case JsonKind::kObject:
      return "an object";
    case JsonKind::kArray:
      return "a list";
    case JsonKind::kString:
      return "a string";
    case JsonKind::kInteger:
    case JsonKind::kUnsigned:
    case JsonKind::kDouble:
      return "a number";
    case JsonKind::kTrue:
    case JsonKind::kFalse:
      return "a boolean";
    case JsonKind::kNull:
      return "null";
  }
  return "";
}

struct JsonDocument::Implementation {
  simdjson::dom::parser parser;
  std::size_t max_depth = 0;
  std::unique_ptr<char[]> text;  // the line and the padding that the parser reads beyond it
  std::size_t text_capacity = 0;
  bool is_parsed = false;
  JsonTape tape;
  NumberCursor cursor;

  simdjson::error_code parse(std::string_view line, std::size_t depth);
  simdjson::error_code grow(std::size_t bytes, std::size_t depth);
};

simdjson::error_code JsonDocument::Implementation::grow(std::size_t bytes, std::size_t depth) {
  if (bytes + simdjson::SIMDJSON_PADDING > text_capacity) {
    text.reset();  // before the new one, so that both are never held
    text_capacity = 0;
    const std::size_t wanted = std::max(bytes + simdjson::SIMDJSON_PADDING, kSmallestCapacity);
    text.reset(new (std::nothrow) char[wanted]);
    if (!text) return simdjson::MEMALLOC;
    text_capacity = wanted;
  }
  if (parser.capacity() >= bytes && max_depth == depth) return simdjson::SUCCESS;
  max_depth = depth;
  // One more than requested: the parser refuses the depth that it is given.
  return parser.allocate(std::max({bytes, parser.capacity(), kSmallestCapacity}), depth + 1);
}

simdjson::error_code JsonDocument::Implementation::parse(std::string_view line, std::size_t depth) {
  is_parsed = false;
  if (const simdjson::error_code code = grow(line.size(), depth); code != simdjson::SUCCESS) return code;
  line.copy(text.get(), line.size());  // unlike memcpy, of an empty line without a place, too
  std::memset(text.get() + line.size(), ' ', simdjson::SIMDJSON_PADDING);
  cursor = {};
  const simdjson::error_code code = parser.parse(text.get(), line.size(), false).error();
  tape = {parser.doc.tape.get(),
          reinterpret_cast<const char*>(parser.doc.string_buf.get()),
          {text.get(), line.size()},
          parser.implementation->structural_indexes.get(),
          parser.implementation->n_structural_indexes};
  is_parsed = code == simdjson::SUCCESS;
  return code;
}

JsonDocument::JsonDocument() : implementation_(std::make_unique<Implementation>()) {}
JsonDocument::~JsonDocument() = default;
JsonDocument::JsonDocument(JsonDocument&&) noexcept = default;
JsonDocument& JsonDocument::operator=(JsonDocument&&) noexcept = default;

std::optional<InputError> JsonDocument::parse(std::string_view text, const JsonLimits& limits) {
  if (text.size() > std::min(limits.max_bytes, simdjson::SIMDJSON_MAXSIZE_BYTES - 1024)) {
    return InputError{
        ErrorCode::kTooLarge, "$",
        "the line has " + std::to_string(text.size()) + " bytes; the limit is " + std::to_string(limits.max_bytes)};
  }
  if (text.starts_with("\xEF\xBB\xBF")) {
    return InputError{ErrorCode::kInvalidJson, "$", "the line begins with a byte order mark"};
  }
  const simdjson::error_code code = implementation_->parse(text, limits.max_depth);
  if (code != simdjson::SUCCESS) return describe(code, limits);
  return std::nullopt;
}

JsonValue JsonDocument::root() const {
  MUSTER_REQUIRE(implementation_->is_parsed);
  return {&implementation_->tape, 1};
}

NumberCursor::Place NumberCursor::before(JsonValue value) {
  if (tape_ != value.tape()) {
    tape_ = value.tape();
    last_ = {};
    passed_.resize(1);
  }
  const std::uint32_t position = value.position();
  std::size_t stride = std::min<std::size_t>(position / kStride, passed_.size() - 1);
  if (passed_[stride].value > position) --stride;
  const Place& passed = passed_[stride];
  return last_.value <= position && last_.value > passed.value ? last_ : passed;
}

// Of a parsed text: values come on the tape in the order in which the structural characters of the text open them;
// commas and colons are not on the tape.
std::string_view number_text(JsonValue number, NumberCursor& cursor) {
  const JsonTape& tape = *number.tape();
  if (tape.structurals == nullptr) return number.string();
  NumberCursor::Place at = cursor.before(number);
  for (;; ++at.character) {
    const char c = tape.text[tape.structurals[at.character]];
    if (c == ',' || c == ':') continue;
    cursor.pass(at);
    if (at.value == number.position()) break;
    const char type = static_cast<char>(tape.words[at.value] >> 56);
    at.value += type == 'l' || type == 'u' || type == 'd' ? 2 : 1;
  }
  cursor.stop(at);
  const std::size_t begin = tape.structurals[at.character];
  std::size_t end = begin;
  while (end < tape.text.size() && is_number_character(tape.text[end])) ++end;
  return tape.text.substr(begin, end - begin);
}

std::string_view JsonDocument::number_text(JsonValue number) {
  return json::number_text(number, implementation_->cursor);
}

std::string path_of(JsonValue value) {
  std::string path = "$";
  if (!value) return path;
  JsonValue at(value.tape(), 1);
  while (at.position() != value.position()) {
    JsonValue child;
    if (at.is(JsonKind::kObject)) {
      for (const JsonMember member : at.members()) {
        if (value.position() >= member.value.end()) continue;
        append_path_key(path, member.key);
        child = member.value;
        break;
      }
    } else if (at.is(JsonKind::kArray)) {
      std::size_t index = 0;
      for (const JsonValue element : at.elements()) {
        if (value.position() < element.end()) {
          child = element;
          break;
        }
        ++index;
      }
      if (child) path += "[" + std::to_string(index) + "]";
    }
    if (!child) return path;
    at = child;
  }
  return path;
}

void choose_parser() { static_cast<void>(simdjson::get_active_implementation()->name()); }

bool is_utf8(std::string_view text) { return simdjson::validate_utf8(text.data(), text.size()); }

void append_path_key(std::string& path, std::string_view key) {
  if (is_plain_word(key)) {
    path += '.';
    path += key;
    return;
  }
  path += "[\"";
  for (const char c : key) {
    if (c == '"' || c == '\\') path += '\\';
    path += c;
  }
  path += "\"]";
}

}  // namespace muster::json
