// These functions open memory that has a name in a file system: POSIX shared memory and plain
// files.
#pragma once

#include <memory>
#include <string>

#include "memory_node/backing/backing.h"

namespace farvec::memory_node {

/// Takes the name /NAME-REGION. It refuses the name while another process holds it, and takes it
/// over when its holder has died.
std::unique_ptr<Backing> open_shm_backing(const std::string& name, const std::string& region,
                                          std::uint64_t bytes);

/// Takes the file FOLDER/REGION.farvec in the same way.
std::unique_ptr<Backing> open_file_backing(const std::string& folder, const std::string& region,
                                           std::uint64_t bytes);

}  // namespace farvec::memory_node
