// The command line of one subcommand. Precedence: flags, then the environment, then a configuration file.
#pragma once

#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "model/base/error_code.h"
#include "model/snapshot/snapshot.h"

namespace muster::cli {

// The user has asked for something that does not exist. The message names the flag, variable or key. Ends in
// kExitUsage.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// How often an option may be given: once, often with one value each, or often with a list of values each, "a,b".
enum class Repetition : std::uint8_t { kOnce, kOften, kLists };
inline constexpr char kNoLetter = '\0';

struct OptionRow {
  const char* name;   // the flag without its dashes; `MUSTER_NAME` in the environment
  const char* value;  // the name of its value in the help; empty: a switch, `true` or `false` if it has a value.
                      // Completions offer files for FILE, PATH and SOURCE, directories for DIR
  const char* help;
  char letter = kNoLetter;   // a short form, "-o"
  const char* choices = "";  // the values that it may have, separated by spaces, the default first; empty: others, too
  Repetition repetition = Repetition::kOnce;
};

// One value of an option.
struct GivenOption {
  std::string name;    // of its row
  std::string value;   // one element of a list
  std::string origin;  // "--budget", "MUSTER_BUDGET", "muster.ini: budget"
};

struct CommandSyntax {
  // "muster solve [FILE...] [OPTION...]". Completions offer files for FILE, PLANS, SNAPSHOT, SNAPSHOTS and NAME.csv,
  // and the words of A|B|C.
  const char* synopsis;
  const char* summary;  // a few sentences
  std::vector<OptionRow> options;
  std::size_t least_arguments = 0, most_arguments = 0;
};

// Durations as in options: "200ms", "1m30s", or a number of seconds. None: it is neither.
std::optional<Nanoseconds> duration_in(std::string_view text);

// The words of a row's choices.
std::vector<std::string_view> choices_of(const OptionRow& row);

// The text of `--help`.
std::string help_text(const CommandSyntax& syntax);

class Settings {
 public:
  // argv[0] is the subcommand's name. Throws UsageError: unknown flags, repeated ones unless their row allows it,
  // missing values, wrong number of arguments, a configuration file (flag `config`) that cannot be read. If `help` is
  // given, nothing else is checked.
  Settings(const CommandSyntax& syntax, int argc, const char* const* argv);

  bool wants_help() const { return wants_help_; }
  const std::vector<std::string>& arguments() const { return arguments_; }

  // None if it is not set anywhere. All but `text` throw UsageError if the value is invalid.
  std::optional<std::string> text(std::string_view name) const;
  bool is_on(std::string_view name) const;
  std::optional<Nanoseconds> duration(std::string_view name) const;  // as in a line, or a number of seconds; above zero
  std::optional<Nanoseconds> instant(std::string_view name) const;   // as in a line, or seconds since the epoch
  std::optional<std::int64_t> integer(std::string_view name, std::int64_t least, std::int64_t most) const;
  std::optional<double> fraction(std::string_view name) const;  // 0..1
  // One of the row's choices; absent: the first of them. Empty: the command has no such option.
  std::string choice(std::string_view name) const;

  // Throws UsageError if two of these options, which name files to be written, name one file.
  void check_outputs(std::initializer_list<std::string_view> names) const;

  // The values of an option that may be repeated, lists taken apart, in their order. Empty elements are left out.
  std::vector<std::string> texts(std::string_view name) const;
  // Of all such options, in the order in which they were given: of the command line, then of the environment and
  // of the file, in the order of the rows.
  const std::vector<GivenOption>& repeated() const { return repeated_; }

 private:
  using Setting = GivenOption;
  const Setting* find(std::string_view name) const;
  [[noreturn]] static void refuse(const Setting& setting, std::string_view wanted);
  void set(const OptionRow& row, const std::vector<std::string>& values, const std::string& origin);
  void read_flags(const CommandSyntax& syntax, int argc, const char* const* argv);
  void read_environment(const CommandSyntax& syntax);
  void read_file(const CommandSyntax& syntax, const std::string& path);

  bool wants_help_ = false;
  std::vector<std::string> arguments_;
  std::map<std::string, Setting, std::less<>> settings_;  // of an option that was repeated: what was given first
  std::vector<GivenOption> repeated_;
  std::vector<OptionRow> rows_;
};

// The word that a mistyped one was probably meant to be.
//
// "; did you mean 'solve'?" with the nearest candidate by Damerau-Levenshtein distance (optimal string alignment: a
// letter inserted, left out, replaced, or two neighbours swapped), at most 2 and less than the word is long; the first
// of equally near ones. Empty: none is that near. `prefix` stands before the candidate ("--").
std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates,
                         std::string_view prefix = "");

// Options that `import` and `generate` have in common.
//
// A number of at least zero. None if it is not set anywhere. Throws UsageError.
inline std::optional<double> amount_option(const Settings& settings, std::string_view name) {
  const std::optional<std::string> text = settings.text(name);
  if (!text) return std::nullopt;
  double number = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, number);
  if (error != std::errc() || stop != end || !(number >= 0 && number <= std::numeric_limits<double>::max())) {
    throw UsageError(std::string(name) + ": '" + *text + "' is not a number of at least 0");
  }
  return number;
}

// Sets `field` if the option is given; the datasets define its permitted values.
inline void set_amount(const Settings& settings, std::string_view name, double& field) {
  field = amount_option(settings, name).value_or(field);
}

inline void set_count(const Settings& settings, std::string_view name, std::int32_t& field) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  field = static_cast<std::int32_t>(settings.integer(name, kLeast, kMost).value_or(field));
}

inline void set_seed(const Settings& settings, std::uint64_t& field) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (const auto seed = settings.integer("seed", 0, kMost)) field = static_cast<std::uint64_t>(*seed);
}

// Options that contradict each other, or the data.
inline void refuse_fault(const std::optional<InputError>& fault) {
  if (fault) throw UsageError("--" + fault->path + " " + fault->message);
}

// The program itself, and under which name it was started: `muster`, or `kubectl-muster`, as kubectl starts its plugin
// `muster`.
//
// The program itself, whatever has happened to its file since it was started.
inline constexpr const char* kOwnProgram = "/proc/self/exe";

// Of argv[0]. Once, before threads are started.
void set_program_name(std::string_view argument_0);

bool is_kubectl_plugin();

// What users type for it: "muster", "kubectl muster".
std::string_view typed_program_name();

}  // namespace muster::cli
