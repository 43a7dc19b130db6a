// Files of JSON lines, as the commands that measure write them.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace farvec::measure {

struct JsonRows {
  std::vector<nlohmann::ordered_json> rows;
  /// Up to the end of the last line that is whole; what follows was cut off and is in no row.
  std::uint64_t whole_bytes = 0;
  std::uint64_t bytes = 0;

  bool cut_off() const { return whole_bytes < bytes; }
};

/// Empty lines are left out. Throws Error naming the file and the line for one that is no JSON
/// object.
JsonRows read_json_rows(const std::string& path);

}  // namespace farvec::measure
