#include "layout/index/index_copy.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/input_file.h"
#include "base/progress.h"
#include "layout/index/index_publisher.h"
#include "layout/index/region_file.h"

namespace farvec::layout {
namespace {

std::uint64_t payload_of(const Manifest& manifest) {
  std::uint64_t bytes = 0;
  for (const RegionEntry& region : manifest.regions) bytes += region.payload_bytes;
  return bytes;
}

RegionEntry copy_region(const RegionEntry& entry, const InputFile& from, RegionFile to,
                        Progress& progress) {
  std::vector<std::byte> chunk;
  for (std::size_t number = 0; number < entry.checksums.size(); ++number) {
    const std::uint64_t begin = number * entry.chunk_bytes;
    chunk.resize(std::min(entry.chunk_bytes, entry.payload_bytes - begin));
    from.read_at(kRegionHeaderBytes + begin, chunk.data(), chunk.size());
    check_chunk(entry, number, chunk, from.path());
    to.append(chunk);
    progress.advance(chunk.size());
  }
  return to.publish();
}

}  // namespace

Manifest copy_index(const IndexDirectory& index, const std::filesystem::path& directory,
                    const WriteOptions& options) {
  Manifest manifest = index.manifest();
  manifest.placement.reset();
  const std::uint64_t payload = payload_of(manifest);
  Progress progress("copying", payload, options.quiet, options.interrupted);
  const auto write_regions = [&](const std::filesystem::path& partial) {
    std::vector<RegionEntry> regions;
    for (std::uint32_t region = 0; region < index.manifest().regions.size(); ++region) {
      const RegionEntry& entry = index.manifest().region(region);
      regions.push_back(copy_region(entry, InputFile(index.region_path(region).string()),
                                    RegionFile(partial, entry.kind, options.on_chunk), progress));
    }
    return regions;
  };
  return publish_index(directory, std::move(manifest), options.overwrite,
                       payload + bytes_beside_payload(payload), write_regions);
}

}  // namespace farvec::layout
