// Reads a file of options, which holds what a command line says, one option per line. It is for
// programs that other programs start.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace farvec {

/// An OptionLine is one line: `listen = "127.0.0.1:7700"` has the name "listen", and the value
/// without its quotes.
struct OptionLine {
  std::string name;
  std::string value;
  std::size_t line = 0;  ///< line number, from 1
};

/// Parses the lines `NAME = VALUE` of a text; empty lines and what follows a # are skipped. A value
/// is one word or stands between double quotes, which it then cannot contain. The result is in the
/// order of the text, and a name may occur several times. Throws Error as "PATH:LINE: what is wrong
/// there".
std::vector<OptionLine> parse_options(std::string_view text, const std::string& path);

/// Parses a file. Throws also what read_text() throws, and Error when the file is longer than 1
/// MiB.
std::vector<OptionLine> read_options_file(const std::string& path);

}  // namespace farvec
