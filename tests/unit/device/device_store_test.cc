#include "device/device_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "device/pmem_memory.h"
#include "tests/unit/message_of.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::device {
namespace {

using layout::kDeviceUnitBytes;
using testing::HasSubstr;

class DeviceStoreTest : public testing::Test {
 protected:
  DeviceStoreTest() { create_pmem_file(path_, 16 * kDeviceUnitBytes); }

  void format(bool force = false) const {
    DeviceStore::format(open_pmem(path_, {.access = MemoryAccess::read_write}), force);
  }
  std::shared_ptr<DeviceStore> writer() const {
    return open_store(path_, {.access = MemoryAccess::read_write});
  }
  std::shared_ptr<DeviceStore> reader() const { return open_store(path_); }

  /// An entry whose regions nobody wrote: here nobody looks at them.
  static std::uint32_t publish(DeviceStore& store, const std::string& name) {
    const std::uint64_t sizes[] = {5000, 6000};
    const auto extents = store.find_space(sizes);
    layout::DeviceIndex index;
    index.name = name;
    index.regions = {{0, layout::RegionKind::records_csr, extents[0]}};
    index.description = extents[1];
    return store.publish(index);
  }

  void flip(std::uint64_t place) const {
    const auto memory = open_pmem(path_, {.access = MemoryAccess::read_write});
    memory->bytes()[place] ^= std::byte{1};
  }

  const tests::TemporaryFolder folder_;
  const std::string path_ = folder_.file("pmem");
};

TEST_F(DeviceStoreTest, KeepsWhatIsPublishedAcrossOpenings) {
  format();
  std::uint64_t generation = 0;
  {
    const auto store = writer();
    publish(*store, "a");
    const std::uint32_t slot = publish(*store, "b");
    generation = store->directory().slots[slot]->generation;
    EXPECT_EQ(slot, 1u);
    EXPECT_TRUE(store->remove(0));
  }
  const layout::DeviceDirectory directory = reader()->directory();
  EXPECT_FALSE(directory.slots[0].has_value());
  ASSERT_TRUE(directory.slots[1].has_value());
  EXPECT_EQ(directory.slots[1]->generation, generation);
  EXPECT_GT(directory.slots[1]->published, 1'700'000'000);
  EXPECT_EQ(directory.free_bytes(), 13 * kDeviceUnitBytes);
}

TEST_F(DeviceStoreTest, AReaderSeesWhatAWriterPublishesMeanwhile) {
  format();
  const auto reading = reader();
  EXPECT_FALSE(reading->directory().slots[0].has_value());
  publish(*writer(), "a");
  EXPECT_EQ(reading->directory().slots[0]->name, "a");
}

TEST_F(DeviceStoreTest, HasOneWriter) {
  format();
  const auto first = writer();
  EXPECT_THAT(tests::message_of([this] { (void)writer(); }),
              HasSubstr("is written by another process"));
  EXPECT_THAT(tests::message_of([this] { format(true); }),
              HasSubstr("is written by another process"));
  EXPECT_EQ(tests::message_of([this] { (void)reader(); }), "");
}

TEST_F(DeviceStoreTest, WhatIsReadIsNotRemoved) {
  format();
  auto store = writer();
  const std::uint32_t slot = publish(*store, "a");
  const std::uint64_t generation = store->directory().slots[slot]->generation;
  auto reading = reader();
  SlotHold elsewhere = reading->hold(slot, generation);
  ASSERT_NE(elsewhere, nullptr);
  EXPECT_FALSE(store->remove(slot));
  SlotHold own = store->hold(slot, generation);
  SlotHold second = store->hold(slot, generation);
  elsewhere.reset();
  EXPECT_FALSE(store->remove(slot));
  own.reset();
  EXPECT_FALSE(store->remove(slot));
  store.reset();  // holds keep it
  EXPECT_THAT(tests::message_of([this] { format(true); }), HasSubstr("is written by another"));
  second.reset();
  elsewhere = reading->hold(slot, generation);
  EXPECT_THAT(tests::message_of([this] { format(true); }), HasSubstr("is being read"));
  elsewhere.reset();
  EXPECT_TRUE(writer()->remove(slot));
  EXPECT_EQ(reading->hold(slot, generation), nullptr);
}

TEST_F(DeviceStoreTest, AHoldIsOfTheVeryIndex) {
  format();
  const auto store = writer();
  const std::uint32_t slot = publish(*store, "a");
  const std::uint64_t generation = store->directory().slots[slot]->generation;
  EXPECT_EQ(store->hold(slot, generation + 1), nullptr);
  EXPECT_EQ(store->hold(slot + 1, generation), nullptr);
  EXPECT_TRUE(store->remove(slot)) << "a refused hold held";
  EXPECT_EQ(publish(*store, "b"), slot);
  EXPECT_EQ(reader()->hold(slot, generation), nullptr);
}

TEST_F(DeviceStoreTest, FormatForgetsOnlyWhenItIsForced) {
  format();
  publish(*writer(), "a");
  EXPECT_THAT(tests::message_of([this] { format(); }), HasSubstr("holds indexes of farvec"));
  EXPECT_TRUE(reader()->directory().slots[0].has_value());
  format(true);
  EXPECT_FALSE(reader()->directory().slots[0].has_value());
  EXPECT_EQ(reader()->directory().free_bytes(), 15 * kDeviceUnitBytes);
  {
    const auto memory = open_pmem(path_, {.access = MemoryAccess::read_write});
    std::fill_n(memory->bytes().begin(), kDeviceUnitBytes, std::byte{0x11});
  }
  EXPECT_THAT(tests::message_of([this] { format(); }), HasSubstr("something that is not farvec's"));
  EXPECT_THAT(tests::message_of([this] { (void)reader(); }), HasSubstr("is not formatted"));
}

TEST_F(DeviceStoreTest, AWriterMendsADamagedCopy) {
  format();
  publish(*writer(), "a");
  {
    const auto memory = open_pmem(path_, {.access = MemoryAccess::read_write});
    const auto read = layout::read_device_directory(memory->bytes(), memory->bytes().size(), "");
    memory->bytes()[layout::device_copy_offset(1 - read.copy) + 100] ^= std::byte{1};
  }
  EXPECT_THAT(reader()->damage(), HasSubstr("of the directory is damaged"));
  EXPECT_THAT(writer()->damage(), HasSubstr("of the directory is damaged"));
  EXPECT_EQ(reader()->damage(), "");
  EXPECT_TRUE(reader()->directory().slots[0].has_value());
}

/// At every byte of a copy's header and of a slot.
TEST_F(DeviceStoreTest, AFlippedByteOfEitherCopyLosesNoPublication) {
  format();
  publish(*writer(), "a");
  publish(*writer(), "b");
  for (std::uint32_t copy = 0; copy < layout::kDeviceDirectoryCopies; ++copy) {
    for (const std::uint64_t at : {0, 3, 9, 16, 41, 4096, 4160, 4700, 60000}) {
      const std::uint64_t place = layout::device_copy_offset(copy) + at;
      flip(place);
      EXPECT_THAT(reader()->damage(), HasSubstr("of the directory is damaged"))
          << copy << " " << at;
      EXPECT_EQ(reader()->directory().slots[1]->name, "b") << copy << " " << at;
      EXPECT_EQ(reader()->directory().free_bytes(), 11 * kDeviceUnitBytes) << copy << " " << at;
      EXPECT_THAT(writer()->damage(), HasSubstr("of the directory is damaged"));
      EXPECT_EQ(reader()->damage(), "") << "a writer mends it";
    }
  }
}

TEST_F(DeviceStoreTest, AWriterBringsTheOlderCopyUp) {
  format();
  publish(*writer(), "a");
  {
    const auto memory = open_pmem(path_, {.access = MemoryAccess::read_write});
    auto read = layout::read_device_directory(memory->bytes(), memory->bytes().size(), "");
    EXPECT_TRUE(read.copies_agree);
    ++read.directory.sequence;  // the power went before the second copy was written
    memory->copy(layout::device_copy_offset(1), layout::encode_device_directory(read.directory));
  }
  EXPECT_EQ(writer()->damage(), "");
  flip(layout::device_copy_offset(0) + 5000);
  EXPECT_EQ(reader()->directory().slots[0]->name, "a");
}

TEST_F(DeviceStoreTest, AFullDeviceSaysWhatIsFree) {
  format();
  const auto store = writer();
  for (int i = 0; i < 7; ++i) publish(*store, "a");
  EXPECT_THAT(tests::message_of([&] { publish(*store, "b"); }),
              testing::AllOf(HasSubstr("has no room: 4194304 bytes are wanted"),
                             HasSubstr("2097152 are free")));
  EXPECT_TRUE(store->remove(3));
  EXPECT_EQ(publish(*store, "b"), 3u);
}

TEST(Pmem, RefusesWhatIsNoDevice) {
  const tests::TemporaryFolder folder;
  const auto refusal = [](const std::string& path) {
    return tests::message_of([&] { (void)open_pmem(path, {}); });
  };
  EXPECT_THAT(refusal(folder.path()),
              HasSubstr("is a directory, neither a devdax device nor a file"));
  EXPECT_THAT(refusal(folder.file("absent")), HasSubstr("No such file"));
  EXPECT_NE(refusal("/dev/null"), "");
  create_pmem_file(folder.file("empty"), 1);
  EXPECT_THAT(tests::message_of([&] { (void)open_store(folder.file("empty")); }),
              HasSubstr("has 1 bytes"));
  EXPECT_THAT(tests::message_of([&] { create_pmem_file(folder.file("empty"), 4096); }),
              HasSubstr("File exists"));
  EXPECT_THAT(
      tests::message_of([&] { create_pmem_file(folder.file("huge"), std::uint64_t{1} << 50); }),
      HasSubstr("reserving"));
  EXPECT_FALSE(std::filesystem::exists(folder.file("huge")));
}

TEST(Pmem, BytesArePersistedToTheFile) {
  const tests::TemporaryFolder folder;
  create_pmem_file(folder.file("a"), 3 * kDeviceUnitBytes);
  const std::vector<std::byte> bytes(10'000, std::byte{7});
  {
    const auto memory = open_pmem(folder.file("a"), {.access = MemoryAccess::read_write});
    EXPECT_EQ(memory->bytes().size(), 3 * kDeviceUnitBytes);
    memory->copy(12'345, bytes);
    memory->persist(12'345, bytes.size());
  }
  const auto memory = open_pmem(folder.file("a"), {});
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), memory->bytes().begin() + 12'345));
  EXPECT_EQ(memory->bytes()[12'344], std::byte{0});
  EXPECT_EQ(memory->unsafe_shutdowns(), 0u);
}

TEST(Pmem, IsMappedAndUnmappedByManyThreadsAtOnce) {
  const tests::TemporaryFolder folder;
  std::atomic<int> mapped{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, path = folder.file(std::to_string(i))] {
      create_pmem_file(path, kDeviceUnitBytes);
      for (int turn = 0; turn < 500; ++turn) {
        try {
          if (!open_pmem(path, {})->bytes().empty()) ++mapped;
        } catch (const Error& error) {
          ADD_FAILURE() << error.what();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(mapped, 2000);
}

}  // namespace
}  // namespace farvec::device
