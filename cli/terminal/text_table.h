// The answers of commands for people: notes, named values and tables, as text, as Markdown or as JSON.
//
// A command fills an AnswerDocument with texts as they are; only render() escapes them, each format in its own way. So
// a name from a cluster can neither move the cursor of a terminal nor break a table.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
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
