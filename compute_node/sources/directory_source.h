// A DirectorySource says which index directory of this machine is served.
#pragma once

#include <cstdint>
#include <string>

#include "search/core/disk_options.h"

namespace farvec::compute_node {

struct DirectorySource {
  std::string path;
  std::string tier = "dram";
  std::uint64_t cache_bytes = 0;  ///< over all cores
  search::DiskArguments disk;     ///< for tier ssd
};

}  // namespace farvec::compute_node
