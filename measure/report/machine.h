// What a page of results says of the machine that it was measured on.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace farvec::measure {

struct Machine {
  std::string name;
  std::string processor;     ///< as the kernel calls it
  long processors = 0;       ///< online
  std::string instructions;  ///< vector instructions that distances use
  std::size_t l3_bytes = 0;  ///< third-level cache of the first processor; 0: not known
};

Machine this_machine();

/// Name, processor, instruction set, third-level cache.
std::string describe(const Machine& machine);
inline std::string host_description() {
  return describe(this_machine());
}

/// The command line of this process, as a shell would take it again.
std::string command_description();

/// Of the caches in a folder as /sys/devices/system/cpu/cpu0/cache; 0 when it names no third level.
std::size_t third_level_bytes(const std::filesystem::path& caches);

/// "32 MiB", "1.5 GiB".
std::string describe_bytes(std::size_t bytes);

}  // namespace farvec::measure
