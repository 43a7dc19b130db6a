#include "layout/device/device_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "base/error.h"
#include "base/random.h"
#include "layout/index/placement.h"
#include "tests/unit/message_of.h"

namespace farvec::layout {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kBytes = 64 * kDeviceUnitBytes;

/// Units `first` to `first + 3`: three regions and the description, a unit each.
DeviceIndex index_at(std::uint64_t first, const std::string& name) {
  DeviceIndex index;
  index.generation = first;
  index.sequence = first;
  index.published = 1'700'000'000;
  index.name = name;
  const auto unit = [](std::uint64_t number) { return number * kDeviceUnitBytes; };
  index.regions = {{0, RegionKind::records_csr, {unit(first), kRegionHeaderBytes + 10}},
                   {1, RegionKind::codes, {unit(first + 1), kDeviceUnitBytes}},
                   {2, RegionKind::offsets, {unit(first + 2), kRegionHeaderBytes}}};
  index.description = {unit(first + 3), 1000};
  index.description_checksum = 77;
  return index;
}

DeviceDirectory directory_of(std::uint64_t sequence) {
  DeviceDirectory directory;
  directory.uuid = {1, 2};
  directory.sequence = sequence;
  directory.device_bytes = kBytes;
  directory.unsafe_shutdowns = 3;
  directory.slots[0] = index_at(1, "a");
  directory.slots[7] = index_at(9, std::string(kMostDeviceNameBytes, 'b'));
  return directory;
}

/// The unit that both copies lie in.
struct Head {
  std::vector<std::byte> bytes = std::vector<std::byte>(kDeviceUnitBytes);

  void write(std::uint32_t copy, const DeviceDirectory& directory) {
    const auto encoded = encode_device_directory(directory);
    ASSERT_EQ(encoded.size(), kDeviceDirectoryBytes);
    std::memcpy(bytes.data() + device_copy_offset(copy), encoded.data(), encoded.size());
  }
  ReadDeviceDirectory read(std::uint64_t device_bytes = kBytes) const {
    return read_device_directory(bytes, device_bytes, "dev");
  }
  std::string refusal(std::uint64_t device_bytes = kBytes) const {
    return tests::message_of([&] { (void)read(device_bytes); });
  }
};

void expect_equal(const DeviceIndex& a, const DeviceIndex& b) {
  EXPECT_EQ(a.generation, b.generation);
  EXPECT_EQ(a.sequence, b.sequence);
  EXPECT_EQ(a.published, b.published);
  EXPECT_EQ(a.node, b.node);
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.description.offset, b.description.offset);
  EXPECT_EQ(a.description.bytes, b.description.bytes);
  EXPECT_EQ(a.description_checksum, b.description_checksum);
  ASSERT_EQ(a.regions.size(), b.regions.size());
  for (std::size_t i = 0; i < a.regions.size(); ++i) {
    EXPECT_EQ(a.regions[i].kind, b.regions[i].kind);
    EXPECT_EQ(a.regions[i].extent.offset, b.regions[i].extent.offset);
    EXPECT_EQ(a.regions[i].extent.bytes, b.regions[i].extent.bytes);
  }
}

TEST(DeviceDirectory, IsReadAsItWasWritten) {
  Head head;
  head.write(0, directory_of(5));
  EXPECT_THAT(head.read().other_damage, HasSubstr("copy 1 of the directory is damaged"));
  head.write(1, directory_of(5));
  const auto read = head.read();
  EXPECT_EQ(read.copy, 0u);
  EXPECT_EQ(read.other_damage, "");
  EXPECT_TRUE(read.copies_agree);
  EXPECT_EQ(read.directory.uuid, (std::array<std::uint64_t, 2>{1, 2}));
  EXPECT_EQ(read.directory.sequence, 5u);
  EXPECT_EQ(read.directory.device_bytes, kBytes);
  EXPECT_EQ(read.directory.unsafe_shutdowns, 3u);
  for (std::uint32_t slot = 0; slot < kDeviceSlots; ++slot) {
    const std::optional<DeviceIndex> expected = directory_of(5).slots[slot];
    ASSERT_EQ(read.directory.slots[slot].has_value(), expected.has_value()) << slot;
    if (expected) expect_equal(*read.directory.slots[slot], *expected);
  }
  EXPECT_EQ(read.directory.free_slot(), 1u);
  // 64 units, one of them the directory's, 8 taken.
  EXPECT_EQ(read.directory.free_bytes(), 55 * kDeviceUnitBytes);
}

TEST(DeviceDirectory, TheNewerOfTwoWholeCopiesCounts) {
  Head head;
  head.write(0, directory_of(5));
  head.write(1, directory_of(6));
  EXPECT_EQ(head.read().copy, 1u);
  head.write(0, directory_of(7));
  EXPECT_EQ(head.read().copy, 0u);
}

TEST(DeviceDirectory, AnyFlippedByteOfACopyLeavesTheOther) {
  Head whole;
  whole.write(0, directory_of(6));
  whole.write(1, directory_of(5));
  Random random(1);
  for (int trial = 0; trial < 200; ++trial) {
    Head head = whole;
    const std::size_t at = trial < 8 ? trial : random.below(kDeviceDirectoryBytes);
    head.bytes[at] ^= std::byte{0x40};
    const auto read = head.read();
    EXPECT_EQ(read.directory.sequence, 5u) << at;
    EXPECT_THAT(read.other_damage, HasSubstr("copy 0 of the directory is damaged")) << at;
    EXPECT_FALSE(read.copies_agree);
    head.bytes[device_copy_offset(1) + at] ^= std::byte{1};
    EXPECT_THAT(head.refusal(), HasSubstr(at < 8 ? "is not formatted for farvec"
                                                 : "both copies of its directory are damaged"))
        << at;
  }
}

TEST(DeviceDirectory, ForeignBytesAreNoDirectory) {
  Head head;
  EXPECT_THAT(head.refusal(), HasSubstr("dev is not formatted for farvec"));
  EXPECT_FALSE(has_device_directory(head.bytes));
  std::fill(head.bytes.begin(), head.bytes.end(), std::byte{0xa5});
  EXPECT_THAT(head.refusal(), HasSubstr("dev is not formatted for farvec"));
  head.bytes.resize(4096);
  EXPECT_THAT(head.refusal(), HasSubstr("dev has 4096 bytes"));
}

TEST(DeviceDirectory, ASmallerDeviceIsAPartOfTheOneItWas) {
  Head head;
  head.write(0, directory_of(5));
  EXPECT_THAT(head.refusal(kBytes - 1), HasSubstr("is a part of the device it was"));
  EXPECT_EQ(head.read(kBytes + kDeviceUnitBytes).directory.device_bytes, kBytes);
}

/// A directory that a farvec with a fault, or a stranger who knows the checksum, may have written.
std::string refusal_of(const std::function<void(DeviceDirectory&)>& change) {
  DeviceDirectory directory = directory_of(5);
  change(directory);
  Head head;
  head.write(1, directory);
  return head.refusal();
}

TEST(DeviceDirectory, ADeviceSmallerThanItsDirectoryIsRefused) {
  for (const std::uint64_t bytes : {std::uint64_t{0}, kDeviceUnitBytes - 1}) {
    EXPECT_THAT(refusal_of([bytes](DeviceDirectory& directory) {
                  directory.slots = {};
                  directory.device_bytes = bytes;
                }),
                HasSubstr("its directory is none that this farvec writes"));
  }
}

TEST(DeviceDirectory, ImpossibleExtentsAreRefused) {
  const auto first = [](DeviceDirectory& d) -> DeviceIndex& { return *d.slots[0]; };
  const char* outside = "which the device does not have";
  for (const DeviceExtent extent :
       {DeviceExtent{0, 5000}, DeviceExtent{kDeviceUnitBytes + 4096, 5000},
        DeviceExtent{kBytes, 5000}, DeviceExtent{kBytes - kDeviceUnitBytes, kDeviceUnitBytes + 1},
        DeviceExtent{kDeviceUnitBytes, ~std::uint64_t{0}},
        DeviceExtent{~std::uint64_t{0} / kDeviceUnitBytes * kDeviceUnitBytes, 5000}}) {
    EXPECT_THAT(refusal_of([&](auto& d) { first(d).regions[0].extent = extent; }),
                HasSubstr(outside))
        << extent.offset << " " << extent.bytes;
    EXPECT_THAT(refusal_of([&](auto& d) { first(d).description = extent; }), HasSubstr(outside))
        << extent.offset << " " << extent.bytes;
  }
  EXPECT_THAT(refusal_of([&](auto& d) {
                first(d).description = {kDeviceUnitBytes, 0};
              }),
              HasSubstr(outside));
  EXPECT_THAT(refusal_of([&](auto& d) { first(d).regions[0].extent.bytes = 4095; }),
              HasSubstr("which does not exist"));
  EXPECT_THAT(refusal_of([&](auto& d) { first(d).regions[2].extent.bytes += kDeviceUnitBytes; }),
              HasSubstr("to two"));
  EXPECT_THAT(refusal_of([&](auto& d) { d.slots[1] = d.slots[0]; }), HasSubstr("to two"));
}

TEST(DeviceDirectory, ImpossibleIndexesAreRefused) {
  const auto first = [](DeviceDirectory& d) -> DeviceIndex& { return *d.slots[0]; };
  EXPECT_THAT(refusal_of([&](auto& d) { first(d).node = Placement::kMaxNodes; }),
              HasSubstr("an index that no farvec writes"));
  EXPECT_THAT(refusal_of([&](auto& d) { first(d).regions.clear(); }),
              HasSubstr("an index that no farvec writes"));
  EXPECT_THAT(refusal_of([&](auto& d) { first(d).name = std::string(1, '\0'); }),
              HasSubstr("an index that no farvec writes"));
  EXPECT_THAT(refusal_of([&](auto& d) { first(d).regions[1].region = 0; }),
              HasSubstr("which does not exist"));
  for (const std::uint32_t kind : {0u, kRegionKinds + 1}) {
    EXPECT_THAT(
        refusal_of([&](auto& d) { first(d).regions[0].kind = static_cast<RegionKind>(kind); }),
        HasSubstr("which does not exist"));
  }
  EXPECT_THAT(refusal_of([](auto& d) { d.sequence = 0; }), HasSubstr("none that this farvec"));
}

/// Takes space as find_device_space() says, and frees it, beside a map of units.
TEST(DeviceSpace, IsFoundWheneverARunIsFreeAndNeverTwice) {
  Random random(3);
  constexpr std::uint64_t kUnits = 40;
  DeviceDirectory directory;
  directory.device_bytes = kUnits * kDeviceUnitBytes + 12345;
  std::vector<bool> taken(kUnits);
  taken[0] = true;
  const auto mark = [&taken](const DeviceExtent& extent, bool value) {
    for (std::uint64_t at = extent.offset; at < extent.offset + extent.bytes;
         at += kDeviceUnitBytes) {
      ASSERT_NE(taken[at / kDeviceUnitBytes], value);
      taken[at / kDeviceUnitBytes] = value;
    }
  };
  int found = 0, refused = 0;
  for (int step = 0; step < 3000; ++step) {
    const auto slot = static_cast<std::uint32_t>(random.below(10));
    if (directory.slots[slot]) {
      mark(directory.slots[slot]->description, false);
      mark(directory.slots[slot]->regions[0].extent, false);
      directory.slots[slot].reset();
      continue;
    }
    const std::uint64_t sizes[] = {1 + random.below(14 * kDeviceUnitBytes),
                                   1 + random.below(kDeviceUnitBytes)};
    try {
      const auto extents = find_device_space(directory, sizes, "dev");
      directory.slots[slot].emplace();
      directory.slots[slot]->description = extents[1];
      directory.slots[slot]->regions = {{0, RegionKind::codes, extents[0]}};
      EXPECT_EQ(extents[0].bytes, sizes[0]);
      EXPECT_LE(extents[0].offset + extents[0].taken(), kUnits * kDeviceUnitBytes);
      mark(extents[0], true);
      mark(extents[1], true);
      ++found;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("dev has no room"));
      // Then there is no run of so many units, or nothing beside it.
      std::uint64_t run = 0, longest = 0, free = 0;
      for (const bool used : taken) {
        run = used ? 0 : run + 1;
        free += used ? 0 : 1;
        longest = std::max(longest, run);
      }
      const std::uint64_t wanted = DeviceExtent{0, sizes[0]}.taken() / kDeviceUnitBytes;
      EXPECT_TRUE(longest < wanted || free < wanted + 1) << longest << " " << wanted;
      ++refused;
    }
    EXPECT_EQ(directory.free_bytes() / kDeviceUnitBytes,
              static_cast<std::uint64_t>(std::count(taken.begin(), taken.end(), false)));
  }
  EXPECT_GT(found, 300);
  EXPECT_GT(refused, 100);
}

TEST(DeviceSpace, SlotsRunOut) {
  DeviceDirectory directory;
  directory.device_bytes = kBytes;
  for (auto& slot : directory.slots) slot.emplace();
  EXPECT_THAT(tests::message_of([&] { (void)directory.free_slot(); }),
              HasSubstr("holds 120 indexes, which is all"));
}

TEST(DeviceDescription, IsReadAsItWasWrittenAndRefusedOtherwise) {
  DeviceIndex index = index_at(1, "a");
  index.regions[1].extent.bytes = kDeviceChunkBytes + 1;
  ASSERT_EQ(device_chunks(index.regions), 4u);
  for (const std::string manifest : {"{}", "{ \"a\": 1 }", "12345678"}) {
    const DeviceDescription description{manifest, {1, 2, 3, 4}};
    std::vector<std::byte> bytes = encode_device_description(description);
    index.description_checksum = device_checksum(bytes);
    const DeviceDescription read = decode_device_description(bytes, index, "dev");
    EXPECT_EQ(read.manifest_json, manifest);
    EXPECT_EQ(read.checksums, description.checksums);
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      bytes[at] ^= std::byte{8};
      EXPECT_THAT(tests::message_of([&] { (void)decode_device_description(bytes, index, "dev"); }),
                  HasSubstr("the description of 'a' is damaged"));
      // With a checksum that fits, the lengths are still held against the rest.
      DeviceIndex fitting = index;
      fitting.description_checksum = device_checksum(bytes);
      if (at < 16) {
        EXPECT_THAT(
            tests::message_of([&] { (void)decode_device_description(bytes, fitting, "dev"); }),
            HasSubstr("is of other regions"))
            << at;
      }
      bytes[at] ^= std::byte{8};
    }
    bytes.pop_back();
    index.description_checksum = device_checksum(bytes);
    EXPECT_THAT(tests::message_of([&] { (void)decode_device_description(bytes, index, "dev"); }),
                HasSubstr("is of other regions"));
  }
}

}  // namespace
}  // namespace farvec::layout
