// A file of options: what a command line says, a line each, for programs that others start.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace farvec {

/// One line: `listen = "127.0.0.1:7700"` has the name "listen", and the value without its quotes.
struct OptionLine {
  std::string name;
  std::string value;
  std::size_t line = 0;  ///< from 1
};

/// The lines `NAME = VALUE` of a text; empty ones and what follows a # are passed over. A value is
/// one word or stands between double quotes, which it then cannot hold itself. The order is the
/// text's, and a name may come again. Throws Error as "PATH:LINE: what is wrong there".
std::vector<OptionLine> parse_options(std::string_view text, const std::string& path);

/// Those of a file. Throws also what read_text() throws, and Error beyond 1 MiB.
std::vector<OptionLine> read_options_file(const std::string& path);

}  // namespace farvec
