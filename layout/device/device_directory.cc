#include "layout/device/device_directory.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/check.h"
#include "base/error.h"
#include "base/memory.h"
#include "layout/index/placement.h"

namespace farvec::layout {
namespace {

constexpr std::uint64_t kDeviceMagic = 0x5645444345565241;  // "ARVECDEV"
constexpr std::uint32_t kDirectoryHeaderBytes = 4096;

struct WireHeader {
  std::uint64_t magic = kDeviceMagic;
  std::uint32_t format_version = kFormatVersion;
  std::uint32_t header_bytes = kDirectoryHeaderBytes;
  std::uint64_t checksum = 0;  ///< XXH3-64 of the copy with 0 in this field
  std::array<std::uint64_t, 2> uuid{};
  std::uint64_t sequence = 0;
  std::uint64_t device_bytes = 0;
  std::uint64_t unit_bytes = kDeviceUnitBytes;
  std::uint64_t unsafe_shutdowns = 0;
};
static_assert(sizeof(WireHeader) == 72);

struct WireRegion {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint32_t region = 0;
  std::uint32_t kind = 0;
};

struct WireIndex {
  std::uint64_t generation = 0;  ///< 0: the slot is empty
  std::uint64_t sequence = 0;
  std::int64_t published = 0;
  std::uint32_t node = 0;
  std::uint32_t region_count = 0;
  std::uint64_t description_offset = 0;
  std::uint64_t description_bytes = 0;
  std::uint64_t description_checksum = 0;
  std::array<char, kMostDeviceNameBytes + 1> name{};  ///< ends with a zero
  std::array<WireRegion, kMostDeviceRegions> regions{};
  std::array<std::byte, 224> reserved{};
};
static_assert(sizeof(WireIndex) == 512);
static_assert(kDirectoryHeaderBytes + kDeviceSlots * sizeof(WireIndex) == kDeviceDirectoryBytes);
static_assert(std::is_trivially_copyable_v<WireHeader> && std::is_trivially_copyable_v<WireIndex>);

/// Precedes a description's manifest, whose bytes are padded to 8; the checksums follow.
struct WireDescription {
  std::uint64_t manifest_bytes = 0;
  std::uint64_t checksum_count = 0;
};

std::uint64_t copy_checksum(std::vector<std::byte> copy) {
  store_unaligned(copy.data() + offsetof(WireHeader, checksum), std::uint64_t{0});
  return device_checksum(copy);
}

WireIndex to_wire(const DeviceIndex& index) {
  FARVEC_CHECK(!index.name.empty() && index.name.size() <= kMostDeviceNameBytes, "{} bytes of name",
               index.name.size());
  FARVEC_CHECK(index.regions.size() <= kMostDeviceRegions, "{} regions", index.regions.size());
  WireIndex wire;
  wire.generation = index.generation;
  wire.sequence = index.sequence;
  wire.published = index.published;
  wire.node = index.node;
  wire.region_count = static_cast<std::uint32_t>(index.regions.size());
  wire.description_offset = index.description.offset;
  wire.description_bytes = index.description.bytes;
  wire.description_checksum = index.description_checksum;
  std::copy(index.name.begin(), index.name.end(), wire.name.begin());
  for (std::size_t i = 0; i < index.regions.size(); ++i) {
    const DeviceRegion& region = index.regions[i];
    wire.regions[i] = {region.extent.offset, region.extent.bytes, region.region,
                       static_cast<std::uint32_t>(region.kind)};
  }
  return wire;
}

/// Throws Error when the extent is not on whole units of the device's space.
void require_extent(const DeviceExtent& extent, std::uint64_t device_bytes,
                    const std::string& source) {
  const bool fits = extent.offset >= kDeviceUnitBytes && extent.offset % kDeviceUnitBytes == 0 &&
                    extent.bytes > 0 && extent.bytes <= device_bytes &&
                    extent.offset <= device_bytes - extent.bytes &&
                    extent.taken() <= device_bytes - extent.offset;
  if (!fits) {
    throw Error("{}: its directory names {} bytes at offset {}, which the device does not have",
                source, extent.bytes, extent.offset);
  }
}

DeviceIndex from_wire(const WireIndex& wire, std::uint64_t device_bytes,
                      const std::string& source) {
  DeviceIndex index;
  index.generation = wire.generation;
  index.sequence = wire.sequence;
  index.published = wire.published;
  index.node = wire.node;
  const auto end = std::find(wire.name.begin(), wire.name.end(), '\0');
  index.name.assign(wire.name.begin(), end);
  if (index.name.empty() || end == wire.name.end() || wire.region_count == 0 ||
      wire.region_count > kMostDeviceRegions || wire.node >= Placement::kMaxNodes) {
    throw Error("{}: its directory has an index that no farvec writes", source);
  }
  index.description = {wire.description_offset, wire.description_bytes};
  index.description_checksum = wire.description_checksum;
  require_extent(index.description, device_bytes, source);
  for (std::uint32_t i = 0; i < wire.region_count; ++i) {
    const WireRegion& region = wire.regions[i];
    const bool known = region.kind >= 1 && region.kind <= kRegionKinds && region.region == i;
    if (!known || region.bytes < kRegionHeaderBytes) {
      throw Error("{}: its directory has a region {} of kind {} and {} bytes, which does not exist",
                  source, region.region, region.kind, region.bytes);
    }
    index.regions.push_back(
        {region.region, static_cast<RegionKind>(region.kind), {region.offset, region.bytes}});
    require_extent(index.regions.back().extent, device_bytes, source);
  }
  return index;
}

/// Every extent that is taken, the directory's own unit first, in the order of offsets.
std::vector<DeviceExtent> taken_extents(const DeviceDirectory& directory) {
  std::vector<DeviceExtent> taken{{0, kDeviceUnitBytes}};
  for (const auto& index : directory.slots) {
    if (!index) continue;
    taken.push_back(index->description);
    for (const DeviceRegion& region : index->regions) taken.push_back(region.extent);
  }
  std::sort(taken.begin(), taken.end(),
            [](const DeviceExtent& a, const DeviceExtent& b) { return a.offset < b.offset; });
  return taken;
}

void require_apart(const DeviceDirectory& directory, const std::string& source) {
  const std::vector<DeviceExtent> taken = taken_extents(directory);
  for (std::size_t i = 1; i < taken.size(); ++i) {
    if (taken[i - 1].offset + taken[i - 1].taken() > taken[i].offset) {
      throw Error("{}: its directory gives the bytes at offset {} to two", source, taken[i].offset);
    }
  }
}

struct Copy {
  bool whole = false;
  WireHeader header;
  std::span<const std::byte> bytes;
};

Copy look_at(std::span<const std::byte> device, std::uint32_t number) {
  Copy copy;
  copy.bytes = device.subspan(device_copy_offset(number), kDeviceDirectoryBytes);
  std::memcpy(&copy.header, copy.bytes.data(), sizeof(copy.header));
  if (copy.header.magic != kDeviceMagic) return copy;
  copy.whole = copy_checksum({copy.bytes.begin(), copy.bytes.end()}) == copy.header.checksum;
  return copy;
}

/// Describes the copy that is not whole. A loss of power during a write causes that, and so does a
/// medium that loses bytes.
std::string damage_of(const Copy& copy, std::uint32_t number, std::uint64_t whole_sequence) {
  const bool newer = copy.header.magic == kDeviceMagic && copy.header.sequence > whole_sequence;
  return fmt::format(
      "copy {} of the directory is damaged: a write of it was cut, or the device lost bytes{}",
      number, newer ? "; it was the newer one, and what it alone named is gone" : "");
}

DeviceDirectory parse(const Copy& copy, std::uint64_t device_bytes, const std::string& source) {
  require_format_version(copy.header.format_version, source);
  if (copy.header.unit_bytes != kDeviceUnitBytes ||
      copy.header.header_bytes != kDirectoryHeaderBytes || copy.header.sequence == 0 ||
      copy.header.device_bytes < kDeviceUnitBytes) {
    throw Error("{}: its directory is none that this farvec writes", source);
  }
  if (copy.header.device_bytes > device_bytes) {
    throw Error("{} was formatted with {} bytes and has {}: it is a part of the device it was",
                source, copy.header.device_bytes, device_bytes);
  }
  DeviceDirectory directory;
  directory.uuid = copy.header.uuid;
  directory.sequence = copy.header.sequence;
  directory.device_bytes = copy.header.device_bytes;
  directory.unsafe_shutdowns = copy.header.unsafe_shutdowns;
  for (std::uint32_t slot = 0; slot < kDeviceSlots; ++slot) {
    WireIndex wire;
    std::memcpy(&wire, copy.bytes.data() + kDirectoryHeaderBytes + slot * sizeof(wire),
                sizeof(wire));
    if (wire.generation == 0) continue;
    directory.slots[slot] = from_wire(wire, directory.device_bytes, source);
  }
  require_apart(directory, source);
  return directory;
}

/// A free run of units.
struct Gap {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t bytes() const { return end - begin; }
};

std::vector<Gap> gaps_of(const DeviceDirectory& directory) {
  std::vector<Gap> gaps;
  std::uint64_t begin = 0;
  for (const DeviceExtent& extent : taken_extents(directory)) {
    if (extent.offset > begin) gaps.push_back({begin, extent.offset});
    begin = extent.offset + extent.taken();
  }
  const std::uint64_t end = directory.device_bytes / kDeviceUnitBytes * kDeviceUnitBytes;
  if (end > begin) gaps.push_back({begin, end});
  return gaps;
}

}  // namespace

std::uint64_t DeviceIndex::taken_bytes() const {
  std::uint64_t sum = description.taken();
  for (const DeviceRegion& region : regions) sum += region.extent.taken();
  return sum;
}

std::uint64_t DeviceDirectory::free_bytes() const {
  std::uint64_t sum = 0;
  for (const Gap& gap : gaps_of(*this)) sum += gap.bytes();
  return sum;
}

std::uint32_t DeviceDirectory::free_slot() const {
  const auto* const found = std::find(slots.begin(), slots.end(), std::nullopt);
  if (found == slots.end()) throw Error("the device holds {} indexes, which is all", kDeviceSlots);
  return static_cast<std::uint32_t>(found - slots.begin());
}

std::uint64_t device_checksum(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::vector<std::byte> encode_device_directory(const DeviceDirectory& directory) {
  std::vector<std::byte> copy(kDeviceDirectoryBytes);
  WireHeader header;
  header.uuid = directory.uuid;
  header.sequence = directory.sequence;
  header.device_bytes = directory.device_bytes;
  header.unsafe_shutdowns = directory.unsafe_shutdowns;
  std::memcpy(copy.data(), &header, sizeof(header));
  for (std::uint32_t slot = 0; slot < kDeviceSlots; ++slot) {
    if (!directory.slots[slot]) continue;
    const WireIndex wire = to_wire(*directory.slots[slot]);
    std::memcpy(copy.data() + kDirectoryHeaderBytes + slot * sizeof(wire), &wire, sizeof(wire));
  }
  header.checksum = copy_checksum(copy);
  std::memcpy(copy.data(), &header, sizeof(header));
  return copy;
}

ReadDeviceDirectory read_device_directory(std::span<const std::byte> bytes,
                                          std::uint64_t device_bytes, const std::string& source) {
  if (bytes.size() < kDeviceUnitBytes) {
    throw Error("{} has {} bytes; farvec's directory alone takes {}", source, bytes.size(),
                kDeviceUnitBytes);
  }
  const std::array<Copy, kDeviceDirectoryCopies> copies{look_at(bytes, 0), look_at(bytes, 1)};
  const auto whole = [&](std::uint32_t i) { return copies[i].whole; };
  if (!whole(0) && !whole(1)) {
    if (!has_device_directory(bytes)) {
      throw Error("{} is not formatted for farvec; 'farvec devices format' does that", source);
    }
    // Another version may have its checksum elsewhere.
    const std::uint32_t version = copies[0].header.format_version;
    if (version == copies[1].header.format_version) require_format_version(version, source);
    throw Error(
        "{}: both copies of its directory are damaged; 'farvec devices format --force' makes a new "
        "one, and forgets what lies there",
        source);
  }
  const bool second =
      whole(1) && (!whole(0) || copies[1].header.sequence > copies[0].header.sequence);
  ReadDeviceDirectory read;
  read.copy = second ? 1 : 0;
  const Copy& other = copies[1 - read.copy];
  const std::uint64_t sequence = copies[read.copy].header.sequence;
  if (!other.whole) read.other_damage = damage_of(other, 1 - read.copy, sequence);
  read.copies_agree = other.whole && other.header.sequence == sequence;
  read.directory = parse(copies[read.copy], device_bytes, source);
  return read;
}

bool has_device_directory(std::span<const std::byte> bytes) {
  for (std::uint32_t number = 0; number < kDeviceDirectoryCopies; ++number) {
    if (load_unaligned<std::uint64_t>(bytes.data() + device_copy_offset(number)) == kDeviceMagic) {
      return true;
    }
  }
  return false;
}

std::vector<DeviceExtent> find_device_space(const DeviceDirectory& directory,
                                            std::span<const std::uint64_t> sizes,
                                            const std::string& source) {
  std::vector<Gap> gaps = gaps_of(directory);
  std::vector<DeviceExtent> found;
  for (const std::uint64_t bytes : sizes) {
    const std::uint64_t taken = DeviceExtent{0, bytes}.taken();
    const auto gap = std::find_if(gaps.begin(), gaps.end(),
                                  [taken](const Gap& one) { return one.bytes() >= taken; });
    if (gap == gaps.end()) {
      std::uint64_t needed = 0;
      for (const std::uint64_t size : sizes) needed += DeviceExtent{0, size}.taken();
      std::uint64_t longest = 0;
      for (const Gap& one : gaps_of(directory)) longest = std::max(longest, one.bytes());
      throw Error(
          "{} has no room: {} bytes are wanted, the largest of them {} in a row; {} are free, {} "
          "in a row. 'farvec devices list {}' says what lies there, 'farvec devices remove' frees",
          source, needed, DeviceExtent{0, *std::max_element(sizes.begin(), sizes.end())}.taken(),
          directory.free_bytes(), longest, source);
    }
    found.push_back({gap->begin, bytes});
    gap->begin += taken;
  }
  return found;
}

std::uint64_t device_chunks(std::span<const DeviceRegion> regions) {
  std::uint64_t chunks = 0;
  for (const DeviceRegion& region : regions) {
    chunks += (region.extent.bytes + kDeviceChunkBytes - 1) / kDeviceChunkBytes;
  }
  return chunks;
}

std::vector<std::byte> encode_device_description(const DeviceDescription& description) {
  const WireDescription header{description.manifest_json.size(), description.checksums.size()};
  const std::size_t checksums = sizeof(header) + round_up(header.manifest_bytes, 8);
  std::vector<std::byte> bytes(checksums + description.checksums.size() * sizeof(std::uint64_t));
  std::memcpy(bytes.data(), &header, sizeof(header));
  std::memcpy(bytes.data() + sizeof(header), description.manifest_json.data(),
              header.manifest_bytes);
  std::memcpy(bytes.data() + checksums, description.checksums.data(), bytes.size() - checksums);
  return bytes;
}

DeviceDescription decode_device_description(std::span<const std::byte> bytes,
                                            const DeviceIndex& index, const std::string& source) {
  const auto refuse = [&source, &index](const char* why) {
    throw Error("{}: the description of '{}' {}; remove it and load the index again", source,
                index.name, why);
  };
  WireDescription header;
  if (bytes.size() < sizeof(header) || device_checksum(bytes) != index.description_checksum) {
    refuse("is damaged: its checksum does not match");
  }
  std::memcpy(&header, bytes.data(), sizeof(header));
  const std::uint64_t rest = bytes.size() - sizeof(header);
  if (header.manifest_bytes > rest || header.checksum_count > rest / sizeof(std::uint64_t) ||
      round_up(header.manifest_bytes, 8) + header.checksum_count * sizeof(std::uint64_t) != rest ||
      header.checksum_count != device_chunks(index.regions)) {
    refuse("is of other regions");
  }
  DeviceDescription description;
  description.manifest_json.assign(reinterpret_cast<const char*>(bytes.data() + sizeof(header)),
                                   header.manifest_bytes);
  description.checksums.resize(header.checksum_count);
  std::memcpy(description.checksums.data(),
              bytes.data() + sizeof(header) + round_up(header.manifest_bytes, 8),
              header.checksum_count * sizeof(std::uint64_t));
  return description;
}

}  // namespace farvec::layout
