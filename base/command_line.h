// What programs take on their command lines: options, flags and commands, with help and messages.
// CLI11 does the work. It is all inline functions, 10 s to compile, so only the .cc includes it.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace farvec {

template <typename T, typename... Types>
concept IsAnyOf = (std::same_as<T, Types> || ...);

/// What an option is read into. A vector takes several words, or the option several times.
template <typename T>
concept OptionValue =
    IsAnyOf<T, std::string, std::uint16_t, std::uint32_t, std::uint64_t, float, double,
            std::optional<std::uint32_t>, std::optional<std::uint64_t>, std::vector<std::string>,
            std::vector<std::uint32_t>, std::vector<float>, std::vector<double>>;

/// An option that a command has, as long as the CommandLine lives. Every function gives the option
/// back, for the next one.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option required();
  Option range(int least, int most);  ///< of every value, both ends included
  Option range(unsigned least, unsigned most);
  Option range(double least, double most);
  Option positive();
  Option one_of(const std::vector<std::string>& words);
  /// A size as parse_bytes() takes it, which throws Error for others.
  Option size();
  Option comma_separated();  ///< a vector, whose values may also be words of their own
  Option one_at_a_time();    ///< a vector, one value each time that the option is given
  Option needs(Option other);
  Option excludes(Option other);
  /// Help shows the value that the variable has now.
  Option show_default();
  Option group(const std::string& heading);  ///< of the help

 private:
  CLI::Option* option_;
};

/// A command of a program, or the program itself. A copy is the same command.
class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}

  /// `names`: "--list", "-l,--list", or "file" for a word without a name. `value` has to live until
  /// parse() is done, and keeps what it holds when the option is not given.
  template <OptionValue T>
  Option add_option(const std::string& names, T& value, const std::string& help = "");
  /// `take` gets the value.
  template <IsAnyOf<int, double> T>
  Option add_option(const std::string& names, const std::function<void(const T&)>& take,
                    const std::string& help);
  /// True when it is given.
  Option add_flag(const std::string& names, bool& value, const std::string& help);
  /// Options of which exactly one has to be given, below a heading of their own.
  Command add_choice(const std::string& name, const std::string& help);
  Command add_command(const std::string& name, const std::string& help);
  void require_command();  ///< one of its commands has to be given

  void footer(const std::string& text);                  ///< of the help
  void callback(const std::function<void()>& callback);  ///< when parse() finds the command

  /// False also when there is no such option.
  bool was_given(const std::string& option) const;

 private:
  CLI::App* app_;
};

/// Thrown by a callback for a command line that makes no sense: parse() reports it.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// What a program takes. It has --help.
class CommandLine : public Command {
 public:
  /// Without a name it is the program's file.
  explicit CommandLine(const std::string& description, const std::string& name = "");
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  void version(const std::string& text);  ///< of --version

  /// Adds `--config FILE`, whose lines (base/options_file.h) are options by their long names; a
  /// flag is true or false. What the command line gives goes before what the file says.
  void takes_config();

  /// Sets the variables and calls the callbacks, whose exceptions pass. None: the program goes on.
  /// Else all has been said, and it ends with this status: 0 after --help and --version, 2 after a
  /// message about a wrong command line.
  [[nodiscard]] std::optional<int> parse(int argc, char** argv);

 private:
  explicit CommandLine(std::unique_ptr<CLI::App> app);
  std::vector<std::string> with_config(const std::vector<std::string>& words) const;

  std::unique_ptr<CLI::App> owned_;
  bool takes_config_ = false;
  std::string config_;
};

}  // namespace farvec
