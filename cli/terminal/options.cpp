#include "cli/terminal/options.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include <boost/program_options.hpp>
#include <fmt/format.h>

#include "cli/terminal/console.h"
#include "cli/terminal/terminal.h"
#include "model/base/words.h"
#include "model/snapshot/quantity.h"

namespace muster::cli {

namespace {

namespace po = boost::program_options;

constexpr const char* kArguments = "argument";

po::options_description describe_option(const CommandSyntax& syntax) {
  po::options_description description;
  for (const OptionRow& row : syntax.options) {
    const std::string names = row.letter == kNoLetter ? row.name : fmt::format("{},{}", row.name, row.letter);
    if (row.repetition != Repetition::kOnce) {
      description.add_options()(names.c_str(), po::value<std::vector<std::string>>()->composing(), row.help);
      continue;
    }
    auto* semantic = po::value<std::string>();
    if (*row.value == '\0') semantic->zero_tokens()->implicit_value("true");
    description.add_options()(names.c_str(), semantic, row.help);
  }
  return description;
}

const OptionRow* row_of(const CommandSyntax& syntax, std::string_view name) {
  const auto found = std::ranges::find(syntax.options, name, &OptionRow::name);
  return found == syntax.options.end() ? nullptr : &*found;
}

// The values of options that may be repeated, in the order of the command line.
std::vector<std::pair<const OptionRow*, std::string>> repeated_in(const CommandSyntax& syntax,
                                                                  const po::parsed_options& parsed) {
  std::vector<std::pair<const OptionRow*, std::string>> found;
  for (const auto& option : parsed.options) {
    const OptionRow* row = row_of(syntax, option.string_key);
    if (row == nullptr || row->repetition == Repetition::kOnce) continue;
    for (const std::string& value : option.value) found.emplace_back(row, value);
  }
  return found;
}

// `prefix` is the text before an option's name where it was given.
std::string unknown_option(const CommandSyntax& syntax, const std::string& given, std::string_view prefix) {
  const std::size_t name = std::min(given.find_first_not_of('-'), given.size());
  std::vector<std::string_view> names;
  for (const OptionRow& row : syntax.options) names.emplace_back(row.name);
  return fmt::format("unknown option '{}'{}", escaped(given),
                     did_you_mean(std::string_view(given).substr(name), names, prefix));
}

// A synopsis that begins with the name of the program, with the name that users type.
std::string as_typed(std::string_view synopsis) {
  constexpr std::string_view kName = "muster ";
  if (!synopsis.starts_with(kName)) return std::string(synopsis);
  return fmt::format("{} {}", typed_program_name(), synopsis.substr(kName.size()));
}

std::string variable_name(std::string_view option) {
  std::string name = "MUSTER_";
  for (const char c : option) name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

}  // namespace

std::optional<Nanoseconds> duration_in(std::string_view text) {
  if (const auto with_unit = parse_duration(text)) return *with_unit;
  const auto seconds = parse_number(text);
  if (!seconds) return std::nullopt;
  const auto duration = duration_of_seconds(*seconds);
  return duration ? std::optional(*duration) : std::nullopt;
}

std::vector<std::string_view> choices_of(const OptionRow& row) {
  std::vector<std::string_view> words;
  for (std::string_view rest = row.choices; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    words.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return words;
}

std::string help_text(const CommandSyntax& syntax) {
  std::string text = fmt::format("Usage: {}\n\n{}\n\n", as_typed(syntax.synopsis), syntax.summary);
  for (const OptionRow& row : syntax.options) {
    const std::string letter = row.letter == kNoLetter ? "" : fmt::format("-{}, ", row.letter);
    const std::string flag = fmt::format("{}--{}{}{}", letter, row.name, *row.value == '\0' ? "" : " ", row.value);
    text += fmt::format("  {:<27} {}\n", flag, row.help);
  }
  return text;
}

Settings::Settings(const CommandSyntax& syntax, int argc, const char* const* argv) : rows_(syntax.options) {
  CommandSyntax with_help = syntax;
  with_help.options.push_back({"help", "", "print this text"});
  read_flags(with_help, argc, argv);
  wants_help_ = is_on("help");
  if (wants_help_) return;
  read_environment(syntax);
  if (const auto path = text("config")) read_file(syntax, *path);
  if (arguments_.size() < syntax.least_arguments || arguments_.size() > syntax.most_arguments) {
    throw UsageError(
        fmt::format("{} given; usage: {}", counted(std::ssize(arguments_), "argument"), as_typed(syntax.synopsis)));
  }
}

void Settings::read_flags(const CommandSyntax& syntax, int argc, const char* const* argv) {
  const po::options_description description = describe_option(syntax);
  po::options_description all;
  all.add(description).add_options()(kArguments, po::value<std::vector<std::string>>());
  po::positional_options_description positional;
  positional.add(kArguments, -1);
  namespace style = po::command_line_style;
  constexpr int kStyle = style::unix_style & ~style::allow_guessing;
  try {
    po::variables_map found;
    const po::parsed_options parsed =
        po::command_line_parser(argc, argv).options(all).positional(positional).style(kStyle).run();
    po::store(parsed, found);
    for (const OptionRow& row : syntax.options) {
      if (found.count(row.name) == 0 || row.repetition != Repetition::kOnce) continue;
      set(row, {found[row.name].as<std::string>()}, fmt::format("--{}", row.name));
    }
    for (const auto& [row, value] : repeated_in(syntax, parsed)) set(*row, {value}, fmt::format("--{}", row->name));
    if (found.count(kArguments) > 0) arguments_ = found[kArguments].as<std::vector<std::string>>();
  } catch (const po::unknown_option& error) {
    throw UsageError(unknown_option(syntax, error.get_option_name(), "--"));
  } catch (const po::error& error) {
    throw UsageError(escaped(error.what()));
  }
}

// Of one source; called again for each repetition on the command line.
void Settings::set(const OptionRow& row, const std::vector<std::string>& values, const std::string& origin) {
  settings_.emplace(row.name, Setting{row.name, values.front(), origin});
  if (row.repetition == Repetition::kOnce) return;
  for (const std::string& value : values) {
    if (row.repetition == Repetition::kOften) repeated_.push_back({row.name, value, origin});
    if (row.repetition != Repetition::kLists) continue;
    std::istringstream list(value);
    for (std::string element; std::getline(list, element, ',');) {
      if (!element.empty()) repeated_.push_back({row.name, element, origin});
    }
  }
}

void Settings::read_environment(const CommandSyntax& syntax) {
  for (const OptionRow& row : syntax.options) {
    const std::string variable = variable_name(row.name);
    const char* value = std::getenv(variable.c_str());
    if (value != nullptr && find(row.name) == nullptr) set(row, {value}, variable);
  }
}

void Settings::read_file(const CommandSyntax& syntax, const std::string& path) {
  std::ifstream stream(path);
  if (!stream) throw UsageError(fmt::format("--config: {} cannot be read", escaped(path)));
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  std::string text(kMostBytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (text.size() > kMostBytes)
    throw UsageError(fmt::format("--config: {} has more than {} bytes", escaped(path), kMostBytes));
  if (text.find('\0') != std::string::npos)
    throw UsageError(fmt::format("--config: {} is not a text file: it contains a zero byte", escaped(path)));
  try {
    std::istringstream file(text);
    const po::options_description description = describe_option(syntax);
    std::map<std::string, std::vector<std::string>, std::less<>> found;
    for (const auto& option : po::parse_config_file(file, description).options)
      found[option.string_key].push_back(option.value.empty() ? "true" : option.value.front());
    for (const OptionRow& row : syntax.options) {
      const auto values = found.find(row.name);
      if (values == found.end() || find(row.name) != nullptr) continue;
      set(row, values->second, fmt::format("{}: {}", path, row.name));
    }
  } catch (const po::unknown_option& error) {
    throw UsageError(fmt::format("{}: {}", path, unknown_option(syntax, error.get_option_name(), "")));
  } catch (const po::error& error) {
    throw UsageError(fmt::format("{}: {}", escaped(path), escaped(error.what())));
  }
}

const Settings::Setting* Settings::find(std::string_view name) const {
  const auto found = settings_.find(name);
  return found == settings_.end() ? nullptr : &found->second;
}

void Settings::refuse(const Setting& setting, std::string_view wanted) {
  throw UsageError(fmt::format("{}: '{}' is not {}", escaped(setting.origin), escaped(setting.value), wanted));
}

std::optional<std::string> Settings::text(std::string_view name) const {
  const Setting* setting = find(name);
  return setting == nullptr ? std::nullopt : std::optional(setting->value);
}

bool Settings::is_on(std::string_view name) const {
  const Setting* setting = find(name);
  if (setting == nullptr || setting->value == "false" || setting->value == "0") return false;
  if (setting->value == "true" || setting->value == "1") return true;
  refuse(*setting, "true or false");
}

std::optional<Nanoseconds> Settings::duration(std::string_view name) const {
  const Setting* setting = find(name);
  if (setting == nullptr) return std::nullopt;
  const auto duration = duration_in(setting->value);
  if (!duration || *duration <= 0) refuse(*setting, "a duration greater than zero (\"200ms\", \"1s\", \"1m30s\")");
  return duration;
}

std::optional<Nanoseconds> Settings::instant(std::string_view name) const {
  const Setting* setting = find(name);
  if (setting == nullptr) return std::nullopt;
  if (const auto told = parse_instant(setting->value)) return *told;
  const auto seconds = parse_number(setting->value);
  const auto instant = seconds ? instant_of_seconds(*seconds) : Result<Nanoseconds>(seconds.error());
  if (!instant) refuse(*setting, "an instant (\"2026-03-01T10:00:00Z\", or seconds since 1970)");
  return *instant;
}

std::optional<std::int64_t> Settings::integer(std::string_view name, std::int64_t least, std::int64_t most) const {
  const Setting* setting = find(name);
  if (setting == nullptr) return std::nullopt;
  std::int64_t number = 0;
  const char* end = setting->value.data() + setting->value.size();
  const auto [stop, error] = std::from_chars(setting->value.data(), end, number);
  if (error != std::errc() || stop != end || number < least || number > most) {
    refuse(*setting, fmt::format("a whole number from {} to {}", least, most));
  }
  return number;
}

std::optional<double> Settings::fraction(std::string_view name) const {
  const Setting* setting = find(name);
  if (setting == nullptr) return std::nullopt;
  double number = 0;
  const char* end = setting->value.data() + setting->value.size();
  const auto [stop, error] = std::from_chars(setting->value.data(), end, number);
  if (error != std::errc() || stop != end || !(number >= 0 && number <= 1)) refuse(*setting, "a number from 0 to 1");
  return number;
}

void Settings::check_outputs(std::initializer_list<std::string_view> names) const {
  std::vector<const Setting*> given;
  for (const std::string_view name : names) {
    const Setting* setting = find(name);
    if (setting == nullptr) continue;
    for (const Setting* other : given) {
      if (are_one_file(setting->value, other->value))
        throw UsageError(fmt::format("--{} and --{}: both would write {}", other->name, name, setting->value));
    }
    given.push_back(setting);
  }
}

std::vector<std::string> Settings::texts(std::string_view name) const {
  std::vector<std::string> values;
  for (const GivenOption& given : repeated_) {
    if (given.name == name) values.push_back(given.value);
  }
  return values;
}

std::string Settings::choice(std::string_view name) const {
  const auto row = std::ranges::find(rows_, name, &OptionRow::name);
  if (row == rows_.end()) return "";
  const std::vector<std::string_view> choices = choices_of(*row);
  if (choices.empty()) throw std::logic_error(fmt::format("--{} has no choices", name));
  const Setting* setting = find(name);
  if (setting == nullptr) return std::string(choices.front());
  if (std::ranges::find(choices, setting->value) == choices.end()) {
    refuse(*setting, fmt::format("one of {}", fmt::join(choices, ", ")));
  }
  return setting->value;
}

namespace {

constexpr std::size_t kMostDistance = 2;

// Three rows of the usual dynamic-programming table: for each prefix of `a`, its distance to every prefix of `b`.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      const bool is_swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates, std::string_view prefix) {
  std::string_view nearest;
  std::size_t least = std::min(kMostDistance + 1, word.size());
  for (const std::string_view candidate : candidates) {
    const std::size_t longer = std::max(word.size(), candidate.size());
    if (longer - std::min(word.size(), candidate.size()) > kMostDistance) continue;  // bounds the cost
    const std::size_t far = distance(word, candidate);
    if (far >= least) continue;
    least = far;
    nearest = candidate;
  }
  return nearest.empty() ? "" : fmt::format("; did you mean '{}{}'?", prefix, nearest);
}

namespace {

bool is_plugin = false;

}  // namespace

// The file may have the ending of a platform: kubectl-muster-linux-amd64.
void set_program_name(std::string_view argument_0) {
  is_plugin = argument_0.substr(argument_0.rfind('/') + 1).starts_with("kubectl-muster");
}

bool is_kubectl_plugin() { return is_plugin; }

std::string_view typed_program_name() { return is_plugin ? "kubectl muster" : "muster"; }

}  // namespace muster::cli
