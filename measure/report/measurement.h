// Provides what the commands that measure share: lists of values, passes, JSON lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/progress.h"

namespace farvec::measure {

/// Splits at commas; no text is one empty word.
std::vector<std::string> split_words(const std::string& text);
/// Splits "20,40,80". Throws an Error that names `option` for anything but whole numbers of at
/// least `least`.
std::vector<std::uint32_t> split_numbers(const std::string& text, const std::string& option,
                                         std::uint32_t least = 1);
/// Splits numbers of searches in flight in the same way; "auto" is 0.
std::vector<std::uint32_t> split_slots(const std::string& text);
/// Splits sizes, each in a form that parse_bytes() takes.
std::vector<std::size_t> split_bytes(const std::string& text, const std::string& option);
/// Splits sizes of what one read brings, 1 byte to 4 GiB.
std::vector<std::uint32_t> split_payloads(const std::string& text);
/// Splits a list of "on" and "off".
std::vector<bool> split_switches(const std::string& text, const std::string& option);
/// Splits percentages: "0%,50%" is 0 and 0.5.
std::vector<double> split_shares(const std::string& text, const std::string& option);

/// Throws an Error that names `option` when one of the values is more than `most`.
void check_largest(const std::vector<std::uint32_t>& values, std::uint32_t most,
                   const char* option);

/// Calls measure_pass() `passes` times or until it is interrupted, and shows the time left on
/// stderr.
void run_passes(std::uint32_t passes, const Interruption& interrupted,
                const std::function<void()>& measure_pass);

/// Collects the lines of a file that exists only when write() has succeeded; does nothing when the
/// path is empty.
class JsonLines {
 public:
  /// Throws Error when the file cannot be written, before anything has been measured for it.
  explicit JsonLines(std::string path);
  void append(const std::string& object) { lines_ += object + '\n'; }
  void write() const;

 private:
  const std::string path_;
  std::string lines_;
};

}  // namespace farvec::measure
