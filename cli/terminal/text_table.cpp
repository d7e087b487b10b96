#include "cli/terminal/text_table.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/terminal/terminal.h"
#include "io/json/json_writer.h"
#include "model/base/require.h"

namespace muster::cli {
namespace {

constexpr std::size_t kGap = 2;                // blanks between columns
constexpr std::size_t kNarrowestWrapped = 30;  // a last column that is narrower is not wrapped
constexpr std::size_t kNarrowestCut = 8;       // nor cut

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

// At most three decimals.
std::string text_of_number(double number) {
  std::string text = fmt::format("{:.3f}", number);
  const std::size_t end = text.find_last_not_of('0');
  if (end != std::string::npos && text.find('.') != std::string::npos) text.resize(text[end] == '.' ? end : end + 1);
  return text == "-0" ? "0" : text;
}

std::string decimal_text(const Decimal& number) {
  std::string text;
  json::JsonWriter(text).decimal(number.value, number.scale);
  return text;
}

template <class Item>
std::string joined(const std::vector<Item>& items) {
  return items.empty() ? "-" : fmt::format("{}", fmt::join(items, ", "));
}

std::string cell_text(const Cell& cell) { return escaped(cell.has_text ? cell.text : value_text(cell.value)); }

bool is_in(Shown shown, AnswerFormat format) {
  if (format == AnswerFormat::kJson) return shown != Shown::kText;
  return shown == Shown::kAlways || shown == Shown::kText || (shown == Shown::kWide && format == AnswerFormat::kWide);
}

// The blocks of a format.
std::vector<AnswerDocument::Block> blocks_of(const AnswerDocument& document, AnswerFormat format) {
  std::vector<AnswerDocument::Block> blocks;
  for (const AnswerDocument::Block& block : document.blocks()) {
    const auto* field = std::get_if<AnswerDocument::Field>(&block);
    const auto* table = std::get_if<Table>(&block);
    const Shown shown = field != nullptr ? field->shown : table != nullptr ? table->shown : Shown::kAlways;
    if (is_in(shown, format)) blocks.push_back(block);
  }
  return blocks;
}

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80; }

// Letters, not bytes; a letter that is wide on a terminal counts as one.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return !is_continuation(c); }));
}

// At most `width` letters, the last of them an ellipsis if any is missing.
std::string cut(const std::string& text, std::size_t width) {
  if (width_of(text) <= width) return text;
  std::size_t end = 0, letters = 0;
  for (; end < text.size(); ++end) {
    if (!is_continuation(text[end]) && letters++ == width - 1) break;
  }
  return text.substr(0, end) + "…";
}

// In lines of at most `width` letters, except longer words.
std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  std::size_t column = 0;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, std::min(text.find(' '), text.size()));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const std::size_t letters = width_of(word);
    if (column > 0 && column + 1 + letters > width) {
      lines.emplace_back();
      column = 0;
    }
    if (column > 0) lines.back() += ' ';
    lines.back() += word;
    column += letters + (column > 0 ? 1 : 0);
  }
  return lines;
}

std::string coloured(const std::string& text, Meaning meaning, bool has_colours) {
  constexpr std::string_view kCodes[] = {"", "32", "33", "31", "2"};
  const std::string_view code = kCodes[static_cast<std::size_t>(meaning)];
  if (!has_colours || code.empty() || text.empty()) return text;
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string bold(const std::string& text, bool has_colours) {
  return has_colours && !text.empty() ? fmt::format("\x1b[1m{}\x1b[0m", text) : text;
}

// A table's cells as texts: the columns of a format, the titles as the first row.
struct Grid {
  struct Text {
    std::string text;
    Meaning meaning = Meaning::kPlain;
  };
  std::vector<Align> aligns;
  std::vector<std::vector<Text>> rows;
  std::size_t left_out = 0;  // rows
};

Grid grid_of(const Table& table, AnswerFormat format) {
  Grid grid;
  std::vector<std::size_t> columns;
  grid.rows.emplace_back();
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (!is_in(table.columns[i].shown, format)) continue;
    columns.push_back(i);
    grid.aligns.push_back(table.columns[i].align);
    grid.rows.front().push_back({escaped(table.columns[i].title)});
  }
  const bool is_short = format == AnswerFormat::kTable && table.most_rows > 0;
  const std::size_t shown = is_short ? std::min(table.most_rows, table.rows.size()) : table.rows.size();
  for (std::size_t row = 0; row < shown; ++row) {
    grid.rows.emplace_back();
    for (const std::size_t i : columns) {
      grid.rows.back().push_back({cell_text(table.rows[row][i]), table.rows[row][i].means});
    }
  }
  grid.left_out = table.rows.size() - shown;
  return grid;
}

// The text of an answer on a terminal or in a pipe.
class TextWriter {
 public:
  explicit TextWriter(const RenderOptions& options) : options_(options) {}

  std::string write(const AnswerDocument& document) {
    const std::vector<AnswerDocument::Block> blocks = blocks_of(document, options_.format);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (i > 0 && (blocks[i].index() == kTable || blocks[i - 1].index() == kTable)) out_ += '\n';
      std::visit(Overloaded{[&](const AnswerDocument::Note& note) { write_note(note); },
                            [&](const AnswerDocument::Field& field) { write_field(field, label_width(blocks, i)); },
                            [&](const Table& table) { write_table(table); }},
                 blocks[i]);
    }
    return out_;
  }

 private:
  static constexpr std::size_t kTable = 2;  // the index in Block

  // Of the fields one after another around `at`.
  static std::size_t label_width(const std::vector<AnswerDocument::Block>& blocks, std::size_t at) {
    const auto field = [&](std::size_t i) { return std::get_if<AnswerDocument::Field>(&blocks[i]); };
    std::size_t begin = at, width = 0;
    while (begin > 0 && field(begin - 1) != nullptr) --begin;
    for (; begin < blocks.size() && field(begin) != nullptr; ++begin) {
      width = std::max(width, width_of(escaped(field(begin)->label)));
    }
    return width;
  }

  void write_note(const AnswerDocument::Note& note) {
    out_ += coloured(escaped(note.text), note.meaning, options_.colours) + '\n';
  }

  void write_field(const AnswerDocument::Field& field, std::size_t width) {
    const std::string label = escaped(field.label) + ":";
    const std::size_t padding = width + 1 - width_of(label) + 1;
    out_ += label + std::string(padding, ' ') + coloured(cell_text(field.value), field.value.means, options_.colours);
    out_ += '\n';
  }

  void write_table(const Table& table) {
    if (!table.title.empty()) out_ += bold(escaped(table.title), options_.colours) + '\n';
    const Grid grid = grid_of(table, options_.format);
    if (grid.rows.size() == 1) {
      out_ += "none\n";
      return;
    }
    std::vector<std::size_t> widths(grid.aligns.size());
    for (const std::vector<Grid::Text>& row : grid.rows) {
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i].text));
    }
    for (const std::vector<Grid::Text>& row : grid.rows) write_row(row, grid.aligns, widths, table.overflow);
    if (grid.left_out > 0) out_ += fmt::format("and {} more; --format wide shows all\n", grid.left_out);
  }

  void write_row(const std::vector<Grid::Text>& row, const std::vector<Align>& aligns,
                 const std::vector<std::size_t>& widths, Overflow overflow) {
    std::string line;
    std::size_t indent = 0;  // of the last column
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      const std::string blanks(widths[i] - width_of(row[i].text), ' ');
      const std::string text = coloured(row[i].text, row[i].meaning, options_.colours);
      line += (aligns[i] == Align::kRight ? blanks + text : text + blanks) + std::string(kGap, ' ');
      indent += widths[i] + kGap;
    }
    if (aligns.back() == Align::kRight) line += std::string(widths.back() - width_of(row.back().text), ' ');
    const std::vector<std::string> last = fitted(row.back().text, indent, overflow);
    for (std::size_t i = 0; i < last.size(); ++i) {
      if (i > 0) line += '\n' + std::string(indent, ' ');
      line += coloured(last[i], row.back().meaning, options_.colours);
    }
    line.resize(line.find_last_not_of(' ') + 1);
    out_ += line + '\n';
  }

  // The text of the last column in one or more lines.
  std::vector<std::string> fitted(const std::string& text, std::size_t indent, Overflow overflow) const {
    if (overflow == Overflow::kWrap && options_.width >= indent + kNarrowestWrapped) {
      return wrapped(text, options_.width - indent);
    }
    if (overflow == Overflow::kCut && options_.width >= indent + kNarrowestCut) {
      return {cut(text, options_.width - indent)};
    }
    return {text};
  }

  const RenderOptions& options_;
  std::string out_;
};

// Text in GitHub Markdown: what would be markup there has a backslash.
std::string markdown(const std::string& text) {
  constexpr std::string_view kMarkup = R"(\|`*_<>[]&~#)";
  std::string out;
  for (const char c : text) {
    if (kMarkup.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

void write_markdown(const Table& table, std::string& out) {
  if (!table.title.empty()) out += "### " + markdown(escaped(table.title)) + "\n\n";
  const Grid grid = grid_of(table, AnswerFormat::kMarkdown);
  if (grid.rows.size() == 1) {
    out += "none\n";
    return;
  }
  for (std::size_t row = 0; row < grid.rows.size(); ++row) {
    out += '|';
    for (const Grid::Text& text : grid.rows[row]) out += " " + markdown(text.text) + " |";
    out += '\n';
    if (row > 0) continue;
    out += '|';
    for (const Align align : grid.aligns) out += align == Align::kRight ? "---:|" : "---|";
    out += '\n';
  }
}

std::string markdown_of(const AnswerDocument& document) {
  std::string out;
  const std::vector<AnswerDocument::Block> blocks = blocks_of(document, AnswerFormat::kMarkdown);
  const auto is_field = [&](std::size_t i) { return std::holds_alternative<AnswerDocument::Field>(blocks[i]); };
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (i > 0 && !(is_field(i) && is_field(i - 1))) out += '\n';
    std::visit(Overloaded{[&](const AnswerDocument::Note& note) { out += markdown(escaped(note.text)) + '\n'; },
                          [&](const AnswerDocument::Field& field) {
                            out += fmt::format("- {}: {}\n", markdown(escaped(field.label)),
                                               markdown(cell_text(field.value)));
                          },
                          [&](const Table& table) { write_markdown(table, out); }},
               blocks[i]);
  }
  return out;
}

// Not by JsonWriter::string: marks that turn the direction of writing are escaped, too.
std::string quoted(std::string_view text) { return "\"" + json_escaped(text) + "\""; }

std::string json_of(const Value& value) {
  std::string out;
  json::JsonWriter json(out);
  std::visit(
      Overloaded{[&](std::monostate) { json.raw("null"); }, [&](bool truth) { json.raw(truth ? "true" : "false"); },
                 [&](std::int64_t number) { json.integer(number); }, [&](double number) { json.number(number); },
                 [&](const Decimal& number) { json.decimal(number.value, number.scale); },
                 [&](const std::string& text) { json.raw(quoted(text)); },
                 [&](const std::vector<std::string>& texts) {
                   json.array();
                   for (const std::string& text : texts) json.item().raw(quoted(text));
                   json.end();
                 },
                 [&](const std::vector<std::int64_t>& numbers) {
                   json.array();
                   for (const std::int64_t number : numbers) json.value(number);
                   json.end();
                 }},
      value);
  return out;
}

void write_cell(const Table& table, json::JsonWriter& json) {
  json.array();
  for (const std::vector<Cell>& row : table.rows) {
    json.object();
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (is_in(table.columns[i].shown, AnswerFormat::kJson)) json.key(table.columns[i].key).raw(json_of(row[i].value));
    }
    json.end();
  }
  json.end();
}

std::string json_of(const AnswerDocument& document) {
  std::string out;
  json::JsonWriter json(out);
  json.object().member("kind", document.kind());
  std::vector<std::string> notes;
  for (const AnswerDocument::Block& block : blocks_of(document, AnswerFormat::kJson)) {
    std::visit(
        Overloaded{[&](const AnswerDocument::Note& note) { notes.push_back(note.text); },
                   [&](const AnswerDocument::Field& field) { json.key(field.key).raw(json_of(field.value.value)); },
                   [&](const Table& table) { write_cell(table, json.key(table.key)); }},
        block);
  }
  if (!notes.empty()) json.key("notes").raw(json_of(Value(notes)));
  json.end().raw("\n");
  return out;
}

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

bool wants_colours(const Settings& settings) {
  const std::string choice = settings.choice("color");
  if (choice != "auto") return choice == "always";
  const char* terminal = std::getenv("TERM");
  const bool is_dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  return is_terminal(STDOUT_FILENO) && !is_set("NO_COLOR") && !is_dumb;
}

bool equal_letters(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return std::ranges::equal(a, b, {}, lower, lower);
}

// None: the value is no number.
std::optional<double> number_of(const Value& value) {
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? 1 : 0;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* exact = std::get_if<Decimal>(&value)) {
    return static_cast<double>(exact->value) / static_cast<double>(exact->scale);
  }
  return std::nullopt;
}

// Whether a stands before b.
bool comes_first(const Value& a, const Value& b) {
  const bool a_is_unknown = std::holds_alternative<std::monostate>(a);
  const bool b_is_unknown = std::holds_alternative<std::monostate>(b);
  if (a_is_unknown || b_is_unknown) return b_is_unknown && !a_is_unknown;
  const std::optional<double> x = number_of(a), y = number_of(b);
  if (x && y) return *x > *y;
  return value_text(a) < value_text(b);
}

}  // namespace

std::string value_text(const Value& value) {
  return std::visit(Overloaded{[](std::monostate) { return std::string("-"); },
                               [](bool truth) { return std::string(truth ? "yes" : "no"); },
                               [](std::int64_t number) { return std::to_string(number); },
                               [](double number) { return text_of_number(number); },
                               [](const Decimal& number) { return decimal_text(number); },
                               [](const std::string& text) { return text.empty() ? std::string("-") : text; },
                               [](const std::vector<std::string>& texts) { return joined(texts); },
                               [](const std::vector<std::int64_t>& numbers) { return joined(numbers); }},
                    value);
}

void AnswerDocument::add_note(std::string text, Meaning meaning) {
  blocks_.emplace_back(Note{std::move(text), meaning});
}

void AnswerDocument::add_field(std::string key, std::string label, Cell value, Shown shown) {
  blocks_.emplace_back(Field{std::move(key), std::move(label), std::move(value), shown});
}

void AnswerDocument::add_table(Table table) {
  MUSTER_REQUIRE(std::ranges::all_of(table.rows, [&](const auto& row) { return row.size() == table.columns.size(); }));
  blocks_.emplace_back(std::move(table));
}

bool sort_rows(Table& table, std::string_view column) {
  const auto found = std::ranges::find_if(table.columns, [&](const Column& known) {
    return equal_letters(known.key, column) || (!known.title.empty() && equal_letters(known.title, column));
  });
  if (found == table.columns.end()) return false;
  const auto at = static_cast<std::size_t>(found - table.columns.begin());
  std::ranges::stable_sort(table.rows, [&](const std::vector<Cell>& a, const std::vector<Cell>& b) {
    return comes_first(a[at].value, b[at].value);
  });
  return true;
}

std::size_t limit_rows(Table& table, std::size_t most) {
  const std::size_t removed = table.rows.size() - std::min(most, table.rows.size());
  table.rows.resize(table.rows.size() - removed);
  return removed;
}

std::string render(const AnswerDocument& document, const RenderOptions& options) {
  if (options.format == AnswerFormat::kJson) return json_of(document);
  if (options.format == AnswerFormat::kMarkdown) return markdown_of(document);
  return TextWriter(options).write(document);
}

std::vector<OptionRow> with_answer_options(std::vector<OptionRow> others) {
  others.push_back({"format", "NAME", "form of the answer: table, wide, md or json (default table)", kNoLetter,
                    "table wide md json"});
  others.push_back({"color", "WHEN", "colours in tables: auto, always or never (default auto: on a terminal)",
                    kNoLetter, "auto always never"});
  return others;
}

RenderOptions render_options(const Settings& settings) {
  RenderOptions options;
  const std::string format = settings.choice("format");
  options.format = format == "wide"   ? AnswerFormat::kWide
                   : format == "md"   ? AnswerFormat::kMarkdown
                   : format == "json" ? AnswerFormat::kJson
                                      : AnswerFormat::kTable;
  options.colours = wants_colours(settings);
  options.width = terminal_width(STDOUT_FILENO);
  return options;
}

}  // namespace muster::cli
