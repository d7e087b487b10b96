// The answers of commands for people: notes, named values and tables, as text, as Markdown or as JSON.
//
// A command fills an AnswerDocument with texts as they are; only render() escapes them, each format in its own way. So
// a name from a cluster can neither move the cursor of a terminal nor break a table.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "cli/terminal/options.h"

namespace muster::cli {

// What a cell or a note means to the reader; shown as a colour if the output has colours.
enum class Meaning : std::uint8_t { kPlain, kGood, kWarning, kBad, kDim };

// `value / scale` exactly; the scale is a power of ten.
struct Decimal {
  std::int64_t value = 0;
  std::int64_t scale = 1;
  friend bool operator==(const Decimal&, const Decimal&) = default;
};

// What JSON has in a cell. The first alternative is `null`, for people "-".
using Value = std::variant<std::monostate, bool, std::int64_t, double, Decimal, std::string, std::vector<std::string>,
                           std::vector<std::int64_t>>;

// For people: whole numbers and Decimal exactly, other numbers with at most three decimals, `yes` and `no`, lists
// separated by commas, "-" for nothing.
std::string value_text(const Value& value);

// A value, with a text for people if that of the value does not do.
struct Cell {
  Cell() = default;
  Cell(const char* word) : value(std::string(word)) {}
  Cell(std::string_view word) : value(std::string(word)) {}
  Cell(std::string word) : value(std::move(word)) {}
  Cell(std::integral auto number) : value(static_cast<std::int64_t>(number)) {}
  Cell(bool truth) : value(truth) {}
  Cell(double number) : value(number) {}
  Cell(Decimal number) : value(number) {}
  Cell(std::vector<std::string> words) : value(std::move(words)) {}
  Cell(std::vector<std::int64_t> numbers) : value(std::move(numbers)) {}
  template <class Inner>
  Cell(const std::optional<Inner>& known) : Cell(known ? Cell(*known) : Cell()) {}

  // Shown to people in place of the value; "" shows nothing.
  Cell&& shown_as(std::string words) && {
    text = std::move(words);
    has_text = true;
    return std::move(*this);
  }
  Cell&& meaning(Meaning told) && {
    means = told;
    return std::move(*this);
  }

  Value value;
  std::string text;
  bool has_text = false;
  Meaning means = Meaning::kPlain;
};

enum class Align : std::uint8_t { kLeft, kRight };
// In which formats a field, a table or a column occurs: in all; in `wide` and `json`; in `json` alone; in all but
// `json`.
enum class Shown : std::uint8_t { kAlways, kWide, kJson, kText };

struct Column {
  std::string key;    // in JSON, camelCase
  std::string title;  // for people, "QUEUE"
  Align align = Align::kLeft;
  Shown shown = Shown::kAlways;
};

// What happens to a last column that does not fit into the width of the terminal.
enum class Overflow : std::uint8_t { kCut, kWrap };

struct Table {
  std::string key = {};    // in JSON, camelCase
  std::string title = {};  // for people; empty: none
  std::vector<Column> columns = {};
  std::vector<std::vector<Cell>> rows = {};  // a cell for each column
  // `table` shows this many rows and counts the others; 0: all. The other formats show all of them.
  std::size_t most_rows = 0;
  Overflow overflow = Overflow::kCut;
  Shown shown = Shown::kAlways;
};

template <class Value>
inline constexpr bool stands_right =
    (std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>) || std::is_same_v<Value, Decimal>;
template <class Value>
inline constexpr bool stands_right<std::optional<Value>> = stands_right<Value>;

// A column of a table, with what stands in it: a member of what a row is about, or a function of it. Numbers stand to
// the right; of a function that returns a Cell, `align` says it.
template <class Row>
struct RowColumn {
  template <class Content>
  RowColumn(std::string key, std::string title, Content content, Align align, Shown shown = Shown::kAlways)
      : column{std::move(key), std::move(title), align, shown},
        cell([content](const Row& row) { return Cell(std::invoke(content, row)); }) {}
  template <class Content>
  RowColumn(std::string key, std::string title, Content content, Shown shown = Shown::kAlways)
      : RowColumn(
            std::move(key), std::move(title), content,
            stands_right<std::remove_cvref_t<std::invoke_result_t<Content, const Row&>>> ? Align::kRight : Align::kLeft,
            shown) {}
  Column column;
  std::function<Cell(const Row&)> cell;
};

// The table with these columns and a row for each element. A cell is made when its row is, from left to right.
template <class Row, class Rows>
Table filled(Table table, const std::vector<RowColumn<Row>>& columns, const Rows& rows) {
  for (const RowColumn<Row>& one : columns) table.columns.push_back(one.column);
  for (const Row& row : rows) {
    std::vector<Cell>& cells = table.rows.emplace_back();
    for (const RowColumn<Row>& one : columns) cells.push_back(one.cell(row));
  }
  return table;
}

// Tables sorted by a column and cut to a number of rows, as options of a command request it.
//
// Sorts the rows by the column with this key or title, whatever the case of letters: numbers descending, texts
// ascending, and what is unknown last. Equal rows keep their order. False: there is no such column, and nothing
// changes.
bool sort_rows(Table& table, std::string_view column);

// Keeps the first rows; returns how many are removed.
std::size_t limit_rows(Table& table, std::size_t most);

// Blocks in the order in which they were added.
class AnswerDocument {
 public:
  // `kind`: the name of the answer in JSON, such as "diff".
  explicit AnswerDocument(std::string kind) : kind_(std::move(kind)) {}

  // A line of text. JSON has them in the list `notes`.
  void add_note(std::string text, Meaning meaning = Meaning::kPlain);
  // A named value: "LABEL: VALUE", in JSON a member of the document. Keys of fields and tables are distinct.
  void add_field(std::string key, std::string label, Cell value, Shown shown = Shown::kAlways);
  // A list of objects in JSON. Requires a cell for each column in each row.
  void add_table(Table table);

  struct Note {
    std::string text;
    Meaning meaning = Meaning::kPlain;
  };
  struct Field {
    std::string key, label;
    Cell value;
    Shown shown = Shown::kAlways;
  };
  using Block = std::variant<Note, Field, Table>;
  const std::string& kind() const { return kind_; }
  const std::vector<Block>& blocks() const { return blocks_; }

 private:
  std::string kind_;
  std::vector<Block> blocks_;
};

enum class AnswerFormat : std::uint8_t { kTable, kWide, kMarkdown, kJson };

struct RenderOptions {
  AnswerFormat format = AnswerFormat::kTable;
  bool colours = false;   // in `table` and `wide`
  std::size_t width = 0;  // of the terminal; 0: there is none, so nothing is cut
};

// The document as text that ends with a line feed; in JSON, one object on one line:
// {"kind":...,FIELD:VALUE,...,TABLE:[{COLUMN:VALUE,...},...],...,"notes":[...]}. Cost: O(text).
std::string render(const AnswerDocument& document, const RenderOptions& options);

// The rows of --format and --color for CommandSyntax. `others` come before them.
std::vector<OptionRow> with_answer_options(std::vector<OptionRow> others);
// Their values for output on stdout. Colours occur on a terminal, unless NO_COLOR is set and not empty or TERM is
// "dumb"; `--color always` and `--color never` override this. Throws UsageError.
RenderOptions render_options(const Settings& settings);

}  // namespace muster::cli
