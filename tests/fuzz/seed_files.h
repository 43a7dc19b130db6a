// Where the seeds of fuzz targets are written: FOLDER/<target>/<name>.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <exception>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include "base/error.h"

namespace farvec::fuzz {

/// Makes the target's folder.
inline std::string seed_path(const std::filesystem::path& folder, const std::string& target,
                             const std::string& name) {
  const auto corpus = folder / target;
  std::filesystem::create_directories(corpus);
  return (corpus / name).string();
}

/// Throws Error when the file cannot be written.
inline void write_seed(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw Error("cannot write the seed '{}'", path);
}

/// The main() of a program whose only argument is the folder.
template <typename WriteAll>
int write_seeds(int argc, char** argv, const WriteAll& write_all) {
  if (argc != 2) {
    fmt::print(stderr, "usage: {} FOLDER\n", argv[0]);
    return 2;
  }
  try {
    write_all(std::filesystem::path(argv[1]));
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: error: {}\n", argv[0], error.what());
    return 1;
  }
  return 0;
}

}  // namespace farvec::fuzz
