#include "io/json/yaml.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "io/json/json_document.h"
#include "io/json/json_writer.h"

namespace muster::json {

namespace {

constexpr std::size_t kMostDepth = 100;  // readers of JSON stop earlier
constexpr std::size_t kMostGrowth = 10, kLeastRoom = std::size_t{1} << 22;

// Thrown through the parser, which knows no other way out.
struct Fault : std::runtime_error {
  Fault(const YAML::Mark& where, ErrorCode kind, const std::string& what)
      : std::runtime_error(what), mark(where), code(kind) {}
  YAML::Mark mark;
  ErrorCode code;
};

enum class NodeKind : std::uint8_t { kNull, kPlain, kText, kSequence, kMap };

struct Node {
  NodeKind kind;
  YAML::Mark mark;
  std::string text;                     // of a scalar
  std::vector<std::uint32_t> children;  // of a mapping: key, value, key, value
};

using Nodes = std::vector<Node>;

// One document as a graph: an alias is its anchor's node once more.
class Composer : public YAML::EventHandler {
 public:
  Nodes nodes;
  std::optional<std::uint32_t> root;

  YAML::Mark start;

  void OnDocumentStart(const YAML::Mark& mark) override { start = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { add(NodeKind::kNull, mark, anchor); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) throw Fault(mark, ErrorCode::kInvalidYaml, "unknown anchor");
    if (std::ranges::find(open_, found->second) != open_.end()) {
      throw Fault(mark, ErrorCode::kInvalidYaml, "an alias refers to the anchor that contains it");
    }
    attach(found->second);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    static constexpr std::string_view kStandard = "tag:yaml.org,2002:";
    NodeKind kind = NodeKind::kText;
    if (tag == "?" || tag == std::string(kStandard) + "int" || tag == std::string(kStandard) + "float" ||
        tag == std::string(kStandard) + "bool" || tag == std::string(kStandard) + "null") {
      kind = NodeKind::kPlain;
    } else if (tag != "!" && tag != std::string(kStandard) + "str" && tag != std::string(kStandard) + "timestamp") {
      throw Fault(mark, ErrorCode::kInvalidYaml, "unknown tag " + tag);
    }
    // The parser makes single bytes of these two escapes.
    if (!is_utf8(value)) throw Fault(mark, ErrorCode::kInvalidYaml, R"(the escapes \N and \_ are not supported)");
    nodes[add(kind, mark, anchor)].text = value;
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(NodeKind::kSequence, mark, anchor);
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(NodeKind::kMap, mark, anchor);
  }
  void OnMapEnd() override { open_.pop_back(); }

 private:
  std::uint32_t add(NodeKind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    const auto position = static_cast<std::uint32_t>(nodes.size());
    nodes.push_back({kind, mark, {}, {}});
    if (anchor != 0) anchors_[anchor] = position;
    attach(position);
    return position;
  }
  void open(NodeKind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (open_.size() == kMostDepth)
      throw Fault(mark, ErrorCode::kTooDeep, "mappings and sequences are nested too deep");
    open_.push_back(add(kind, mark, anchor));
  }
  void attach(std::uint32_t position) {
    if (open_.empty()) {
      root = position;
    } else {
      nodes[open_.back()].children.push_back(position);
    }
  }

  std::unordered_map<YAML::anchor_t, std::uint32_t> anchors_;
  std::vector<std::uint32_t> open_;
};

bool is_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

// "+12", "1_000", "0x1F", "0o17", "017", "0b1".
std::optional<std::int64_t> plain_number(std::string_view plain) {
  std::string digits;
  std::ranges::copy_if(plain, std::back_inserter(digits), [](char c) { return c != '_'; });
  std::string_view rest = digits;
  const bool is_negative = rest.starts_with('-');
  if (is_negative || rest.starts_with('+')) rest.remove_prefix(1);
  int base = 10;
  if (rest.size() > 1 && rest[0] == '0') {
    const char mark = rest[1];
    base = mark == 'x' || mark == 'X' ? 16 : mark == 'b' || mark == 'B' ? 2 : 8;
    rest.remove_prefix(base != 8 || mark == 'o' || mark == 'O' ? 2 : 1);
  }
  if (rest.empty() || rest[0] == '-' || rest[0] == '+') return std::nullopt;
  const std::string number = (is_negative ? "-" : "") + std::string(rest);
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(number.data(), number.data() + number.size(), value, base);
  if (code != std::errc() || end != number.data() + number.size()) return std::nullopt;
  return value;
}

std::size_t digits_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  return end - at;
}

// "1.", ".5", "+1e3", as JSON writes them; none if it is no decimal number.
std::optional<std::string> decimal_number(std::string_view plain) {
  std::string out;
  std::size_t at = plain.starts_with('-') || plain.starts_with('+') ? 1 : 0;
  if (plain.starts_with('-')) out += '-';
  const std::size_t whole = digits_at(plain, at);
  std::string_view front = plain.substr(at, whole);
  while (front.size() > 1 && front[0] == '0') front.remove_prefix(1);
  out += front.empty() ? "0" : front;
  at += whole;
  std::size_t after = 0;
  if (at < plain.size() && plain[at] == '.') {
    after = digits_at(plain, at + 1);
    if (after > 0) out.append(plain, at, after + 1);
    at += after + 1;
  }
  if (whole + after == 0) return std::nullopt;
  if (at < plain.size() && (plain[at] == 'e' || plain[at] == 'E')) {
    const std::size_t begin = at++;
    if (at < plain.size() && (plain[at] == '-' || plain[at] == '+')) ++at;
    const std::size_t power = digits_at(plain, at);
    if (power == 0) return std::nullopt;
    at += power;
    out.append(plain, begin, at - begin);
  }
  if (at != plain.size()) return std::nullopt;
  return out;
}

void write_plain(JsonWriter& writer, const Node& node) {
  const std::string& text = node.text;
  if (text.empty() || is_any(text, {"~", "null", "Null", "NULL"})) {
    writer.raw("null");
  } else if (is_any(text, {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})) {
    writer.raw("true");
  } else if (is_any(text, {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})) {
    writer.raw("false");
  } else if (const auto whole = plain_number(text)) {
    writer.integer(*whole);
  } else if (const auto decimal = decimal_number(text)) {
    writer.raw(*decimal);
  } else if (is_any(text.substr(text.find_first_not_of("+-") == 1 ? 1 : 0),
                    {".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"})) {
    throw Fault(node.mark, ErrorCode::kInvalidYaml, "infinity and NaN are not supported");
  } else {
    writer.string(text);
  }
}

class Writer {
 public:
  Writer(const Nodes& nodes, std::string& out, std::size_t limit)
      : nodes_(nodes), out_(out), writer_(out), limit_(limit) {}

  void write(std::uint32_t position, std::size_t depth) {
    const Node& node = nodes_[position];
    if (out_.size() > limit_)
      throw Fault(node.mark, ErrorCode::kTooLarge, "the text is too large after expanding aliases");
    if (depth > kMostDepth) throw Fault(node.mark, ErrorCode::kTooDeep, "mappings and sequences are nested too deep");
    switch (node.kind) {
      case NodeKind::kNull:
        writer_.raw("null");
        return;
      case NodeKind::kPlain:
        return write_plain(writer_, node);
      case NodeKind::kText:
        writer_.string(node.text);
        return;
      case NodeKind::kSequence:
        return write_sequence(node, depth);
      case NodeKind::kMap:
        return write_map(node, depth);
    }
  }

 private:
  struct Member {
    std::string_view key;
    std::uint32_t value;
  };
  using Members = std::vector<Member>;
  using Keys = std::unordered_set<std::string_view>;

  void write_sequence(const Node& node, std::size_t depth) {
    bool first = true;
    writer_.raw("[");
    for (const std::uint32_t child : node.children) {
      writer_.separate(first);
      write(child, depth + 1);
    }
    writer_.raw("]");
  }

  void write_map(const Node& node, std::size_t depth) {
    bool first = true;
    writer_.raw("{");
    for (const auto& [key, value] : members_of(node, depth)) {
      writer_.separate(first).string(key).raw(":");
      write(value, depth + 1);
    }
    writer_.raw("}");
  }

  // Its own members, and those of the mappings that it merges and does not have itself.
  Members members_of(const Node& node, std::size_t depth) {
    if (depth > kMostDepth) throw Fault(node.mark, ErrorCode::kTooDeep, "merges are nested too deep");
    Members members;
    std::vector<std::uint32_t> merged;
    for (std::size_t i = 0; i + 1 < node.children.size(); i += 2) {
      const Node& key = nodes_[node.children[i]];
      if (key.kind != NodeKind::kPlain && key.kind != NodeKind::kText) {
        throw Fault(key.mark, ErrorCode::kInvalidYaml, "a key must be a scalar");
      }
      if (key.kind == NodeKind::kPlain && key.text == "<<") {
        merged.push_back(node.children[i + 1]);
      } else {
        members.push_back({key.text, node.children[i + 1]});
      }
    }
    refuse_duplicates(node, members);
    if (merged.empty()) return members;
    Keys keys;
    for (const Member& member : members) keys.insert(member.key);
    for (const std::uint32_t source : merged) merge(source, depth, members, keys);
    return members;
  }

  void refuse_duplicates(const Node& node, const Members& members) const {
    std::vector<std::string_view> keys;
    for (const Member& member : members) keys.push_back(member.key);
    std::ranges::sort(keys);
    const auto twice = std::ranges::adjacent_find(keys);
    if (twice == keys.end()) return;
    bool seen = false;
    for (std::size_t i = 0; i < node.children.size(); i += 2) {
      const Node& key = nodes_[node.children[i]];
      if (key.text == *twice && std::exchange(seen, true)) {
        throw Fault(key.mark, ErrorCode::kInvalidYaml, "duplicate key " + key.text);
      }
    }
  }

  void merge(std::uint32_t source, std::size_t depth, Members& members, Keys& keys) {
    const Node& node = nodes_[source];
    count_merged(node, 1);  // mappings without members cost time, too
    if (node.kind == NodeKind::kSequence) {
      for (const std::uint32_t child : node.children) {
        if (nodes_[child].kind != NodeKind::kMap)
          throw Fault(nodes_[child].mark, ErrorCode::kInvalidYaml, "<< must merge mappings");
        merge(child, depth + 1, members, keys);
      }
      return;
    }
    if (node.kind != NodeKind::kMap) throw Fault(node.mark, ErrorCode::kInvalidYaml, "<< must merge mappings");
    for (const Member& member : members_of(node, depth + 1)) {
      count_merged(node, member.key.size() + 1);
      if (keys.insert(member.key).second) members.push_back(member);
    }
  }

  void count_merged(const Node& node, std::size_t bytes) {
    merged_bytes_ += bytes;
    if (merged_bytes_ > limit_)
      throw Fault(node.mark, ErrorCode::kTooLarge, "the text is too large after expanding aliases");
  }

  const Nodes& nodes_;
  std::string& out_;
  JsonWriter writer_;
  std::size_t limit_, merged_bytes_ = 0;
};

std::string place(const YAML::Mark& mark) {
  return mark.is_null() ? "1:1" : std::to_string(mark.line + 1) + ":" + std::to_string(mark.column + 1);
}

// YAML has none, and the parser takes some of them for the end of the text, an escape or another encoding.
std::optional<InputError> refuse_control_characters(std::string_view text) {
  YAML::Mark mark;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7F)
      return InputError{ErrorCode::kInvalidYaml, place(mark), "control characters are not allowed"};
    if (c == '\n') {
      ++mark.line;
      mark.column = 0;
    } else if ((byte & 0xC0) != 0x80) {
      ++mark.column;
    }
  }
  return std::nullopt;
}

}  // namespace

Result<std::string> yaml_to_json(std::string_view text) {
  if (!is_utf8(text)) return InputError{ErrorCode::kInvalidUtf8, "1:1", "the text is not valid UTF-8"};
  if (auto error = refuse_control_characters(text)) return *std::move(error);
  std::istringstream stream{std::string(text)};
  std::string out;
  const std::size_t limit = kMostGrowth * text.size() + kLeastRoom;
  try {
    YAML::Parser parser(stream);
    int last_start = -1;
    while (true) {
      Composer composer;
      if (!parser.HandleNextDocument(composer)) break;
      // A token that cannot begin a document is not consumed, and would be read again without end.
      if (composer.start.pos == last_start) throw Fault(composer.start, ErrorCode::kInvalidYaml, "unexpected text");
      last_start = composer.start.pos;
      if (!composer.root || composer.nodes[*composer.root].kind == NodeKind::kNull) continue;
      Writer(composer.nodes, out, limit).write(*composer.root, 1);
      out += '\n';
    }
  } catch (const Fault& fault) {
    return InputError{fault.code, place(fault.mark), fault.what()};
  } catch (const YAML::Exception& fault) {
    return InputError{ErrorCode::kInvalidYaml, place(fault.mark), fault.msg};
  }
  return out;
}

}  // namespace muster::json
