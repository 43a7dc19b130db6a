#include "layout/index/index_publisher.h"

#include <string>
#include <utility>

#include "base/error.h"
#include "base/file_names.h"
#include "base/full_disk.h"
#include "layout/index/partial_directory.h"
#include "layout/index/region_file.h"

namespace farvec::layout {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void explain_full_disk(const SystemError& error, const fs::path& directory,
                                    std::uint64_t needed, std::uint64_t free) {
  throw FullDisk(
      "{}; the index '{}' needs {} bytes, {} are free now that the partial output "
      "has been removed",
      error.what(), directory.string(), needed, free);
}

/// The folder that `directory` is in or will be in, however the path is spelled.
fs::path folder_around(const fs::path& directory) {
  return parent_of(settled_name(directory));
}

}  // namespace

void require_room(const fs::path& directory, std::uint64_t needed) {
  const fs::path parent = folder_around(directory);
  const std::uint64_t free = free_bytes(parent);
  if (free >= needed) return;
  throw FullDisk(
      "the index '{}' needs {} bytes, '{}' has {} free: free some or choose another disk",
      directory.string(), needed, parent.string(), free);
}

std::uint64_t bytes_beside_payload(std::uint64_t payload_bytes) {
  constexpr std::uint64_t kManifestBytes = 16384;
  constexpr std::uint64_t kChecksumBytes = 32;  // in the manifest, for each chunk
  return (kRegionCount + 1) * kRegionHeaderBytes + kManifestBytes +
         payload_bytes / kChunkBytes * kChecksumBytes;
}

Manifest publish_index(
    const fs::path& directory, Manifest manifest, bool overwrite, std::uint64_t needed_bytes,
    const std::function<std::vector<RegionEntry>(const fs::path&)>& write_regions) {
  require_room(directory, needed_bytes);
  try {
    PartialDirectory partial(directory, overwrite);
    manifest.regions = write_regions(partial.path());
    partial.publish(manifest);
  } catch (const SystemError& error) {
    if (!is_full_disk(error.code)) throw;
    explain_full_disk(error, directory, needed_bytes, free_bytes(folder_around(directory)));
  }
  return manifest;
}

}  // namespace farvec::layout
