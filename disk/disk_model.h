// A DiskModel says when the requests of a modelled disk end. Presets are bare devices of papers,
// and never follow what a search has measured.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace farvec::disk {

/// The disk has dies, which serve one page at a time, and one link to the host. 0: no limit.
struct DiskModel {
  std::string name = "custom";
  double read_us = 0;      ///< what a die takes for a page
  double write_us = 0;     ///< the same for a page that is written
  double sync_us = 0;      ///< after all writes before it have ended
  std::uint32_t dies = 1;  ///< at least 1; the address of a page says which has it
  std::uint32_t page_bytes = 16384;
  double bytes_per_us = 0;     ///< what the link brings
  double requests_per_us = 0;  ///< that the controller takes
  std::uint32_t depth = 0;     ///< requests that are in the disk at once; others wait
  /// How many cores use the disk alike: each request comes with cores - 1 others of its kind, at
  /// other places.
  std::uint32_t cores = 1;

  bool operator==(const DiskModel&) const = default;
};

/// Takes the name of a preset, and then parts that change it: "ssd-a,cores=4",
/// "ssd-a,read=60us,rate=0.2M/s", "custom,read=80us,dies=64,bandwidth=5GB/s". Throws Error naming
/// what is accepted.
DiskModel parse_disk_model(std::string_view text);

/// Returns all of it, for outputs: it says that it is modelled.
std::string to_string(const DiskModel& model);

/// Returns how many bytes the disk brings in the time of one more request: a gap of fewer bytes
/// between two reads is cheaper to read than to leave out. At least 512, at most 1 MiB.
std::uint32_t bytes_per_request(const DiskModel& model);

/// Returns the names of presets with where their numbers come from, in lines, for help.
std::string disk_model_help();

}  // namespace farvec::disk
