// Declares what a program takes on its command line (options, flags and commands), with help and
// messages. CLI11 does the work. It is all inline functions, 10 s to compile, so only the .cc
// includes it.
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

/// What an option is read into. A vector takes several words, or the option may be given several
/// times.
template <typename T>
concept OptionValue =
    IsAnyOf<T, std::string, std::uint16_t, std::uint32_t, std::uint64_t, float, double,
            std::optional<std::uint32_t>, std::optional<std::uint64_t>, std::vector<std::string>,
            std::vector<std::uint32_t>, std::vector<float>, std::vector<double>>;

/// An Option is an option of a command. It is usable as long as the CommandLine lives. Every
/// function returns the option, so that calls can be chained.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option required();
  Option range(int least, int most);  ///< every value is in this range, both ends included
  Option range(unsigned least, unsigned most);
  Option range(double least, double most);
  Option positive();
  Option one_of(const std::vector<std::string>& words);
  /// The value is a size in the form of parse_bytes(), which throws Error for others.
  Option size();
  Option comma_separated();  ///< a vector, whose values may also be words of their own
  Option one_at_a_time();    ///< a vector, one value each time that the option is given
  Option needs(Option other);
  Option excludes(Option other);
  /// Help shows the value that the variable has now.
  Option show_default();
  Option group(const std::string& heading);  ///< the heading in the help

 private:
  CLI::Option* option_;
};

/// A Command is a command of a program, or the program itself. A copy is the same command.
class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}

  /// `names`: "--list", "-l,--list", or "file" for a word without a name. `value` must live until
  /// parse() is done, and keeps its value when the option is not given.
  template <OptionValue T>
  Option add_option(const std::string& names, T& value, const std::string& help = "");
  /// Calls `take` with the value.
  template <IsAnyOf<int, double> T>
  Option add_option(const std::string& names, const std::function<void(const T&)>& take,
                    const std::string& help);
  /// `value` becomes true when the flag is given.
  Option add_flag(const std::string& names, bool& value, const std::string& help);
  /// Adds options of which exactly one has to be given, under a heading of their own.
  Command add_choice(const std::string& name, const std::string& help);
  Command add_command(const std::string& name, const std::string& help);
  void require_command();  ///< one of its commands has to be given

  void footer(const std::string& text);                  ///< text at the end of the help
  void callback(const std::function<void()>& callback);  ///< called when parse() finds the command

  /// Returns false also when there is no such option.
  bool was_given(const std::string& option) const;

 private:
  CLI::App* app_;
};

/// A callback throws it for a command line that makes no sense; parse() reports it.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// A CommandLine is what a program takes on its command line. It always has --help.
class CommandLine : public Command {
 public:
  /// Without a name, the name of the program's file is used.
  explicit CommandLine(const std::string& description, const std::string& name = "");
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  void version(const std::string& text);  ///< the text that --version prints

  /// Adds `--config FILE`, whose lines (base/options_file.h) are options by their long names; a
  /// flag is true or false. The command line overrides the file.
  void takes_config();

  /// Sets the variables and calls the callbacks, whose exceptions pass through. Without a result
  /// the program goes on. Otherwise all messages have been printed and the program ends with this
  /// status: 0 after --help and --version, 2 after a message about a wrong command line.
  [[nodiscard]] std::optional<int> parse(int argc, char** argv);

 private:
  explicit CommandLine(std::unique_ptr<CLI::App> app);
  std::vector<std::string> with_config(const std::vector<std::string>& words) const;

  std::unique_ptr<CLI::App> owned_;
  bool takes_config_ = false;
  std::string config_;
};

}  // namespace farvec
