// Catalogues, and what a caller says of a file.
#pragma once

#include <xxhash.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "layout/collection/catalogue.h"
#include "memory_node/held_file.h"

namespace farvec::memory_node {

/// The catalogue of a collection without segments.
inline std::string catalogue_bytes(std::uint32_t dimension) {
  layout::Catalogue catalogue;
  catalogue.manifest.dimension = dimension;
  const auto bytes = layout::encode_catalogue(catalogue);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The truth about a regular file.
inline HeldFile described(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  HeldFile file;
  file.path = path;
  file.bytes = bytes.size();
  file.checksum = XXH3_64bits(bytes.data(), bytes.size());
  return file;
}

}  // namespace farvec::memory_node
