// Real data sets, which a machine may not have.
#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace farvec::tests {

/// The folder of the set `name`, which need not be there.
inline std::filesystem::path data_set(const std::string& name) {
  const char* folder = std::getenv("FARVEC_DATA");
  const bool given = folder != nullptr && *folder != '\0';
  return std::filesystem::path(given ? folder : "FARVEC_DATA") / name;
}

/// Why the test of a set is skipped; empty when `path` is there. scripts/test_report.py knows these
/// reasons by how they begin.
inline std::string no_data(const std::filesystem::path& path) {
  return std::filesystem::exists(path) ? ""
                                       : fmt::format("no data: {} is not there", path.string());
}

}  // namespace farvec::tests
