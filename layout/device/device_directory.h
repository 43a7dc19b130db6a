// Describes what is on a memory device that farvec divides among indexes: its directory, twice, and
// the description of each index. docs/format.md has the bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "layout/region/region_header.h"

namespace farvec::layout {

/// Space is given out in multiples of this, the largest page with which a device is mapped.
inline constexpr std::uint64_t kDeviceUnitBytes = std::uint64_t{2} << 20;
/// One copy of the directory. Copy c begins at c * kDeviceUnitBytes / 2; space for indexes begins
/// at kDeviceUnitBytes.
inline constexpr std::uint64_t kDeviceDirectoryBytes = std::uint64_t{64} << 10;
inline constexpr std::uint32_t kDeviceDirectoryCopies = 2;
inline constexpr std::uint32_t kDeviceSlots = 120;
inline constexpr std::uint32_t kMostDeviceRegions = 4;
inline constexpr std::size_t kMostDeviceNameBytes = 135;
/// Bytes of a region that one checksum of a description covers.
inline constexpr std::uint64_t kDeviceChunkBytes = std::uint64_t{4} << 20;

constexpr std::uint64_t device_copy_offset(std::uint32_t copy) {
  return copy * (kDeviceUnitBytes / 2);
}

/// A DeviceExtent is a run of the device's bytes.
struct DeviceExtent {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;

  /// Returns the space that is taken for it: rounded up to whole units.
  std::uint64_t taken() const {
    return (bytes + kDeviceUnitBytes - 1) / kDeviceUnitBytes * kDeviceUnitBytes;
  }
};

/// A DeviceRegion is a region in the form in which a memory node serves it, header included.
struct DeviceRegion {
  std::uint32_t region = 0;
  RegionKind kind = RegionKind::records_csr;
  DeviceExtent extent;
};

/// A DeviceIndex is a published index, or one memory node's share of it.
struct DeviceIndex {
  std::uint64_t generation = 0;  ///< random, never 0; differs between two publications
  std::uint64_t sequence = 0;    ///< sequence of the directory that first had it: later is greater
  std::int64_t published = 0;    ///< seconds since 1970
  std::uint32_t node = 0;        ///< its number in the manifest's placement
  std::string name;              ///< 1 to kMostDeviceNameBytes bytes
  DeviceExtent description;
  std::uint64_t description_checksum = 0;  ///< XXH3-64 of its bytes
  std::vector<DeviceRegion> regions;       ///< region i is at index i

  /// Returns the bytes that it takes, in whole units.
  std::uint64_t taken_bytes() const;
};

/// Says which index has which bytes of a device. A slot keeps its number as long as its index is
/// there.
struct DeviceDirectory {
  std::array<std::uint64_t, 2> uuid{};
  std::uint64_t sequence = 0;  ///< how often it was written
  std::uint64_t device_bytes = 0;
  /// The device's count when its indexes were last known to be whole; 0 where it counts none.
  std::uint64_t unsafe_shutdowns = 0;
  std::array<std::optional<DeviceIndex>, kDeviceSlots> slots;

  std::uint64_t free_bytes() const;
  /// Returns the first slot without an index. Throws Error when there is none.
  std::uint32_t free_slot() const;
};

/// Encodes a directory in kDeviceDirectoryBytes.
std::vector<std::byte> encode_device_directory(const DeviceDirectory& directory);

/// The copy that was read, and the state of the other one.
struct ReadDeviceDirectory {
  DeviceDirectory directory;
  std::uint32_t copy = 0;
  std::string other_damage;   ///< empty: the other copy is whole
  bool copies_agree = false;  ///< both are whole and come from one write
};

/// Returns the newer of the copies that are whole, from a device of `device_bytes` that begins with
/// `bytes` (at least kDeviceUnitBytes of them). Throws Error, naming `source`, when the device was
/// never formatted, holds something else or another version, when both copies are damaged, or when
/// what they say is not possible: extents that overlap, are outside, or are too many.
ReadDeviceDirectory read_device_directory(std::span<const std::byte> bytes,
                                          std::uint64_t device_bytes, const std::string& source);

/// Says whether the magic of a copy is there, whatever follows it.
bool has_device_directory(std::span<const std::byte> bytes);

/// Finds places for extents of these sizes: each in the first run of units that has room for it.
/// Throws Error that says what is free when they do not fit.
std::vector<DeviceExtent> find_device_space(const DeviceDirectory& directory,
                                            std::span<const std::uint64_t> sizes,
                                            const std::string& source);

/// Describes an index on a device: its manifest, and the checksums of its regions' bytes on the
/// device.
struct DeviceDescription {
  std::string manifest_json;
  /// One XXH3-64 per kDeviceChunkBytes of each region, in the regions' order.
  std::vector<std::uint64_t> checksums;
};

std::uint64_t device_chunks(std::span<const DeviceRegion> regions);
std::vector<std::byte> encode_device_description(const DeviceDescription& description);
/// Throws Error, naming `source`, when the bytes are not the entry's description.
DeviceDescription decode_device_description(std::span<const std::byte> bytes,
                                            const DeviceIndex& index, const std::string& source);

/// Computes XXH3-64, the checksum in descriptions.
std::uint64_t device_checksum(std::span<const std::byte> bytes);

}  // namespace farvec::layout
