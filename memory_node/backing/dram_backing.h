// open_dram_backing() opens anonymous memory with a descriptor (memfd), in huge pages where the
// machine has some.
#pragma once

#include <memory>
#include <string>

#include "memory_node/backing/backing.h"

namespace farvec::memory_node {

std::unique_ptr<Backing> open_dram_backing(const std::string& region, std::uint64_t bytes);

}  // namespace farvec::memory_node
