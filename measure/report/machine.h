// Describes the machine that a page of results was measured on.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace farvec::measure {

struct Machine {
  std::string name;
  std::string processor;     ///< the kernel's name for it
  long processors = 0;       ///< processors that are online
  std::string instructions;  ///< vector instructions that distances use
  std::size_t l3_bytes = 0;  ///< third-level cache of the first processor; 0: not known
};

Machine this_machine();

/// Returns name, processor, instruction set and third-level cache in one line.
std::string describe(const Machine& machine);
inline std::string host_description() {
  return describe(this_machine());
}

/// Returns the command line of this process in a form that a shell would take again.
std::string command_description();

/// Returns the size of the third-level cache in a folder like /sys/devices/system/cpu/cpu0/cache; 0
/// when the folder names none.
std::size_t third_level_bytes(const std::filesystem::path& caches);

/// Returns text like "32 MiB" or "1.5 GiB".
std::string describe_bytes(std::size_t bytes);

}  // namespace farvec::measure
