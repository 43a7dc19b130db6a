#include "memory_node/backing/backing.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <filesystem>

#include "base/error.h"
#include "tests/unit/fifo.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::memory_node {
namespace {

class BackingTest : public testing::TestWithParam<BackingKind> {
 protected:
  BackingOptions options() const {
    const bool shm = GetParam() == BackingKind::shm;
    return {GetParam(), shm ? folder_.path().filename().string() : folder_.path().string()};
  }
  tests::TemporaryFolder folder_;
};

TEST_P(BackingTest, GrantedDescriptorReadsAndCannotWrite) {
  const auto backing = open_backing(options(), "records", 10'000);
  ASSERT_EQ(backing->size(), 10'000u);
  EXPECT_EQ(backing->bytes()[9'999], std::byte{0});
  backing->bytes()[9'999] = std::byte{7};
  backing->persist();
  backing->seal();
  const auto descriptor = backing->read_only_descriptor();
  const auto region = transport::MappedRegion::map_fd(descriptor.get(), 10'000);
  EXPECT_EQ(region.bytes()[9'999], std::byte{7});
  EXPECT_EQ(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor.get(), 0),
            MAP_FAILED);
  EXPECT_EQ(errno, EACCES);
  void* mapped = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, descriptor.get(), 0);
  ASSERT_NE(mapped, MAP_FAILED);
  EXPECT_NE(mprotect(mapped, 4096, PROT_READ | PROT_WRITE), 0);
  munmap(mapped, 4096);
}

TEST_P(BackingTest, NameIsExclusiveAndGoesAway) {
  if (GetParam() == BackingKind::dram) GTEST_SKIP() << "anonymous memory has no name";
  auto backing = open_backing(options(), "records", 100);
  backing->seal();
  EXPECT_THROW(open_backing(options(), "records", 100), Error);
  backing.reset();
  EXPECT_EQ(open_backing(options(), "records", 100)->size(), 100u);
}

INSTANTIATE_TEST_SUITE_P(Kinds, BackingTest,
                         testing::Values(BackingKind::dram, BackingKind::shm, BackingKind::file),
                         [](const auto& kind) { return std::string(to_string(kind.param)); });

TEST(Backing, LeavesAFifoOfItsNameAlone) {
  const tests::TemporaryFolder folder;
  const std::string path = folder.file("records.farvec");
  const BackingOptions options{BackingKind::file, folder.path().string()};
  const std::string error =
      tests::error_with_fifo(path, [&] { (void)open_backing(options, "records", 4096); });
  EXPECT_NE(error.find("is not a file of a memory node"), std::string::npos) << error;
  EXPECT_TRUE(std::filesystem::is_fifo(path));
}

TEST(Backing, UnknownKindIsRefused) {
  EXPECT_THROW(parse_backing_kind("tape"), Error);
}

}  // namespace
}  // namespace farvec::memory_node
