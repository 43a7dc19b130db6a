#include "base/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>

#include "base/options_file.h"
#include "base/quantity.h"

namespace farvec {
namespace {

/// The same in every program; CLI11 has another number for each mistake.
constexpr int kUsageError = 2;

/// CLI11 reports a misspelt command as a missing one; this names it.
void name_unknown_command(const CLI::App& app, const CLI::ParseError& error) {
  if (app.get_require_subcommand_min() == 0 || error.get_name() != "RequiredError") return;
  const auto unread = app.remaining(true);
  if (unread.empty()) return;
  fmt::print(stderr, "{}: error: there is no command or argument '{}'\n", app.get_name(),
             unread.front());
}

const std::string kConfig = "--config";

/// Whether the words give the option, in the form "--name value" or "--name=value".
bool gives(const std::vector<std::string>& words, const std::string& option) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return word == option || word.starts_with(option + "=");
  });
}

/// The file that the words name last; empty when they name none.
std::string config_of(const std::vector<std::string>& words) {
  std::string path;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].starts_with(kConfig + "=")) path = words[i].substr(kConfig.size() + 1);
    if (words[i] == kConfig && i + 1 < words.size()) path = words[i + 1];
  }
  return path;
}

std::vector<OptionLine> config_lines(const std::string& path) {
  try {
    return read_options_file(path);
  } catch (const Error& error) {
    throw UsageError("{}: {}", kConfig, error.what());
  }
}

}  // namespace

Option Option::required() {
  return Option(option_->required());
}

Option Option::range(int least, int most) {
  return Option(option_->check(CLI::Range(least, most)));
}

Option Option::range(unsigned least, unsigned most) {
  return Option(option_->check(CLI::Range(least, most)));
}

Option Option::range(double least, double most) {
  return Option(option_->check(CLI::Range(least, most)));
}

Option Option::positive() {
  return Option(option_->check(CLI::PositiveNumber));
}

Option Option::one_of(const std::vector<std::string>& words) {
  return Option(option_->check(CLI::IsMember(words)));
}

Option Option::size() {
  return Option(option_->transform([name = option_->get_name()](const std::string& text) {
    return std::to_string(parse_bytes(text, name));
  }));
}

Option Option::comma_separated() {
  return Option(option_->delimiter(','));
}

Option Option::one_at_a_time() {
  return Option(option_->allow_extra_args(false));
}

Option Option::needs(Option other) {
  return Option(option_->needs(other.option_));
}

Option Option::excludes(Option other) {
  return Option(option_->excludes(other.option_));
}

Option Option::show_default() {
  return Option(option_->capture_default_str());
}

Option Option::group(const std::string& heading) {
  return Option(option_->group(heading));
}

namespace {

template <typename T>
constexpr bool kIsUnsigned =
    IsAnyOf<T, std::uint16_t, std::uint32_t, std::uint64_t, std::optional<std::uint32_t>,
            std::optional<std::uint64_t>, std::vector<std::uint32_t>>;

template <typename T>
constexpr bool kIsReal = IsAnyOf<T, float, double, std::vector<float>, std::vector<double>>;

/// NaN is in every range of CLI11, because it is below no number and above none.
std::string refuse_nan(const std::string& word) {
  return std::isnan(std::strtod(word.c_str(), nullptr)) ? "Value " + word + " is no number" : "";
}

/// CLI11 would read -1 as the largest number, and a number of more than 64 bits as well. It refuses
/// by itself what is no number at all.
std::string refuse_other_numbers(const std::string& word) {
  errno = 0;
  (void)std::strtoull(word.c_str(), nullptr, 0);
  const std::size_t first = word.find_first_not_of(" \t");
  const bool negative = first != std::string::npos && word[first] == '-';
  if (!negative && errno != ERANGE) return {};
  return "Value " + word + " not in range 0 to 18446744073709551615";
}

}  // namespace

template <OptionValue T>
Option Command::add_option(const std::string& names, T& value, const std::string& help) {
  CLI::Option* const option = app_->add_option(names, value, help);
  if constexpr (kIsUnsigned<T>) option->check(refuse_other_numbers);
  if constexpr (kIsReal<T>) option->check(refuse_nan);
  return Option(option);
}

template <IsAnyOf<int, double> T>
Option Command::add_option(const std::string& names, const std::function<void(const T&)>& take,
                           const std::string& help) {
  CLI::Option* const option = app_->add_option_function<T>(names, take, help);
  if constexpr (kIsReal<T>) option->check(refuse_nan);
  return Option(option);
}

// One instantiation for each type of OptionValue, and for those that a function may take.
template Option Command::add_option(const std::string&, std::string&, const std::string&);
template Option Command::add_option(const std::string&, std::uint16_t&, const std::string&);
template Option Command::add_option(const std::string&, std::uint32_t&, const std::string&);
template Option Command::add_option(const std::string&, std::uint64_t&, const std::string&);
template Option Command::add_option(const std::string&, float&, const std::string&);
template Option Command::add_option(const std::string&, double&, const std::string&);
template Option Command::add_option(const std::string&, std::optional<std::uint32_t>&,
                                    const std::string&);
template Option Command::add_option(const std::string&, std::optional<std::uint64_t>&,
                                    const std::string&);
template Option Command::add_option(const std::string&, std::vector<std::string>&,
                                    const std::string&);
template Option Command::add_option(const std::string&, std::vector<std::uint32_t>&,
                                    const std::string&);
template Option Command::add_option(const std::string&, std::vector<float>&, const std::string&);
template Option Command::add_option(const std::string&, std::vector<double>&, const std::string&);
template Option Command::add_option(const std::string&, const std::function<void(const int&)>&,
                                    const std::string&);
template Option Command::add_option(const std::string&, const std::function<void(const double&)>&,
                                    const std::string&);

Option Command::add_flag(const std::string& names, bool& value, const std::string& help) {
  return Option(app_->add_flag(names, value, help));
}

Command Command::add_choice(const std::string& name, const std::string& help) {
  CLI::App* const choice = app_->add_option_group(name, help);
  choice->require_option(1);
  return Command(choice);
}

Command Command::add_command(const std::string& name, const std::string& help) {
  return Command(app_->add_subcommand(name, help));
}

void Command::require_command() {
  app_->require_subcommand(1);
}

void Command::footer(const std::string& text) {
  app_->footer(text);
}

void Command::callback(const std::function<void()>& callback) {
  app_->callback(callback);
}

bool Command::was_given(const std::string& option) const {
  const CLI::Option* const found = std::as_const(*app_).get_option_no_throw(option);
  return found != nullptr && found->count() > 0;
}

CommandLine::CommandLine(const std::string& description, const std::string& name)
    : CommandLine(std::make_unique<CLI::App>(description, name)) {}

CommandLine::CommandLine(std::unique_ptr<CLI::App> app)
    : Command(app.get()), owned_(std::move(app)) {}

CommandLine::~CommandLine() = default;

void CommandLine::version(const std::string& text) {
  owned_->set_version_flag("--version", text);
}

void CommandLine::takes_config() {
  takes_config_ = true;
  add_option(
      kConfig, config_,
      "File of options: lines NAME = VALUE, the name without its dashes, the value one word\n"
      "or between double quotes, of a flag true or false; # begins a comment. What the\n"
      "command line gives goes before it");
}

/// The words, followed by those options of the file that the words do not give themselves.
std::vector<std::string> CommandLine::with_config(const std::vector<std::string>& words) const {
  const std::string path = takes_config_ ? config_of(words) : "";
  if (path.empty()) return words;
  std::vector<std::string> all{words.front()};
  for (const OptionLine& line : config_lines(path)) {
    const std::string option = "--" + line.name;
    if (option == kConfig || std::as_const(*owned_).get_option_no_throw(option) == nullptr) {
      throw UsageError("{}:{}: there is no option '{}'", path, line.line, line.name);
    }
    if (!gives(words, option)) all.push_back(option + "=" + line.value);
  }
  all.insert(all.end(), words.begin() + 1, words.end());
  return all;
}

std::optional<int> CommandLine::parse(int argc, char** argv) {
  try {
    const std::vector<std::string> words = with_config({argv, argv + argc});
    std::vector<const char*> all;
    all.reserve(words.size());
    for (const std::string& word : words) all.push_back(word.c_str());
    owned_->parse(static_cast<int>(all.size()), all.data());
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    name_unknown_command(*owned_, error);
    return owned_->exit(error) == 0 ? 0 : kUsageError;
  } catch (const UsageError& error) {
    owned_->exit(CLI::ParseError(error.what(), CLI::ExitCodes::ValidationError));
    return kUsageError;
  }
}

}  // namespace farvec
