// Reads files of JSON lines, which the commands that measure write.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace farvec::measure {

struct JsonRows {
  std::vector<nlohmann::ordered_json> rows;
  /// The bytes up to the end of the last line that is whole; what follows was cut off and is in no
  /// row.
  std::uint64_t whole_bytes = 0;
  std::uint64_t bytes = 0;

  bool cut_off() const { return whole_bytes < bytes; }
};

/// Reads the rows of a file; empty lines are left out. Throws an Error that names the file and the
/// line where a line is no JSON object.
JsonRows read_json_rows(const std::string& path);

}  // namespace farvec::measure
