// publish_index() does what writing any index has in common: room, a directory that appears when it
// is complete, the manifest.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "layout/index/manifest.h"

namespace farvec::layout {

/// Throws FullDisk when the disk below `directory` has less than `needed` bytes.
void require_room(const std::filesystem::path& directory, std::uint64_t needed);

/// Returns the bytes that a manifest and the headers of regions add to `payload_bytes` bytes of
/// payload.
std::uint64_t bytes_beside_payload(std::uint64_t payload_bytes);

/// Lets `write_regions` fill `directory`.partial, adds the manifest with the entries that it
/// returns, and gives the directory its name. Throws FullDisk, Error or SystemError; then nothing
/// stays. Returns the manifest as written.
Manifest publish_index(
    const std::filesystem::path& directory, Manifest manifest, bool overwrite,
    std::uint64_t needed_bytes,
    const std::function<std::vector<RegionEntry>(const std::filesystem::path&)>& write_regions);

}  // namespace farvec::layout
