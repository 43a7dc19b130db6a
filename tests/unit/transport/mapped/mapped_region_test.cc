#include "transport/mapped/mapped_region.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.h"
#include "tests/unit/fifo.h"

namespace farvec::transport {
namespace {

class MappedRegionTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "farvec-mapped-" + std::to_string(getpid());
    std::ofstream(path_, std::ios::binary) << std::string(5000, 'x');
  }
  void TearDown() override { std::filesystem::remove(path_); }

  std::string path_;
};

TEST_F(MappedRegionTest, MapsAFileAtItsSize) {
  const MappedRegion region = MappedRegion::map_file(path_);
  EXPECT_EQ(region.size(), 5000u);
  EXPECT_EQ(region.bytes()[4999], std::byte{'x'});
}

TEST_F(MappedRegionTest, MapsAPart) {
  EXPECT_EQ(MappedRegion::map_file(path_, Access::read_only, 10).size(), 10u);
}

TEST_F(MappedRegionTest, RefusesAFileThatIsTooShort) {
  EXPECT_THROW((void)MappedRegion::map_file(path_, Access::read_only, 5001), Error);
  std::filesystem::resize_file(path_, 0);
  EXPECT_THROW((void)MappedRegion::map_file(path_), Error);
}

TEST_F(MappedRegionTest, RefusesWhatIsNoMemory) {
  EXPECT_THROW((void)MappedRegion::map_file(path_ + ".absent"), SystemError);
  EXPECT_THROW((void)MappedRegion::map_file("/dev/null"), Error);
  EXPECT_THROW((void)MappedRegion::map_file("/tmp"), Error);
  EXPECT_THROW((void)MappedRegion::map_fd(-1), SystemError);
}

TEST_F(MappedRegionTest, DoesNotWaitForTheWriterOfAFifo) {
  std::filesystem::remove(path_);
  EXPECT_NE(tests::error_with_fifo(path_, [&] { (void)MappedRegion::map_file(path_); })
                .find("neither a file nor a devdax device"),
            std::string::npos);
}

TEST_F(MappedRegionTest, WritesAreSharedAndReadersCannotWrite) {
  const MappedRegion reader = MappedRegion::map_file(path_);
  MappedRegion writer = MappedRegion::map_file(path_, Access::read_write);
  writer.writable_bytes()[7] = std::byte{42};
  EXPECT_EQ(reader.bytes()[7], std::byte{42});
  EXPECT_DEATH((void)MappedRegion::map_file(path_).writable_bytes(), "read-only");
}

TEST_F(MappedRegionTest, AReadOnlyDescriptorCannotBeMappedForWriting) {
  const int fd = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_THROW((void)MappedRegion::map_fd(fd, 0, Access::read_write), SystemError);
  EXPECT_EQ(MappedRegion::map_fd(fd).size(), 5000u);
  close(fd);
}

TEST_F(MappedRegionTest, MovesItsMapping) {
  MappedRegion first = MappedRegion::map_file(path_);
  MappedRegion second = std::move(first);
  EXPECT_EQ(second.size(), 5000u);
  second = MappedRegion::map_file(path_, Access::read_only, 3);
  EXPECT_EQ(second.size(), 3u);
}

TEST_F(MappedRegionTest, MapsSharedMemory) {
  const std::string name = "/farvec-test-" + std::to_string(getpid());
  const int fd = shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
  if (fd < 0) GTEST_SKIP() << "shm_open: " << std::strerror(errno);
  ASSERT_EQ(ftruncate(fd, 12345), 0);
  MappedRegion region = MappedRegion::map_fd(fd, 0, Access::read_write);
  shm_unlink(name.c_str());
  close(fd);
  EXPECT_EQ(region.size(), 12345u);
  region.writable_bytes()[12344] = std::byte{1};
}

TEST_F(MappedRegionTest, MapsHugePages) {
  const int fd = memfd_create("farvec-huge", MFD_CLOEXEC | MFD_HUGETLB);
  if (fd < 0) GTEST_SKIP() << "memfd with MFD_HUGETLB: " << std::strerror(errno);
  ASSERT_EQ(ftruncate(fd, 2 << 20), 0);
  try {
    MappedRegion region = MappedRegion::map_fd(fd, 1000, Access::read_write);
    EXPECT_EQ(region.size(), 1000u);
  } catch (const SystemError& e) {
    close(fd);
    GTEST_SKIP() << "no huge pages reserved: " << e.what();
  }
  close(fd);
}

TEST_F(MappedRegionTest, MapsDevdax) {
  const char* const named = std::getenv("FARVEC_DEVDAX");
  const std::string device = named != nullptr ? named : "/dev/dax0.0";
  if (access(device.c_str(), R_OK) != 0) GTEST_SKIP() << "no " << device << " on this machine";
  const auto whole = MappedRegion::map_file(device);
  ASSERT_GT(whole.size(), 8u << 20);
  // What a memory node hands over is of the whole device, and a region begins anywhere in it.
  const int fd = open(device.c_str(), O_RDONLY | O_CLOEXEC);
  for (const std::uint64_t offset : {0u, 2u << 20, (6u << 20) + 4096u}) {
    const auto part = MappedRegion::map_fd(fd, 5000, Access::read_only, offset);
    EXPECT_TRUE(std::ranges::equal(part.bytes(), whole.bytes().subspan(offset, 5000))) << offset;
  }
  close(fd);
  EXPECT_THROW(MappedRegion::map_file(device, Access::read_only, whole.size() + 1), Error);
}

TEST_F(MappedRegionTest, MapsFromAnyOffset) {
  std::vector<char> bytes(20'000);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7);
  std::ofstream(path_, std::ios::binary).write(bytes.data(), 20'000);
  const int fd = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  const auto expected = std::as_bytes(std::span(bytes));
  for (const std::uint64_t offset : {0u, 1u, 4096u, 5000u, 19'999u}) {
    auto region = MappedRegion::map_fd(fd, 0, Access::read_only, offset);
    EXPECT_TRUE(std::ranges::equal(region.bytes(), expected.subspan(offset))) << offset;
    MappedRegion moved = std::move(region);
    EXPECT_TRUE(std::ranges::equal(moved.bytes(), expected.subspan(offset))) << offset;
  }
  EXPECT_THROW((void)MappedRegion::map_fd(fd, 0, Access::read_only, 20'000), Error);
  EXPECT_THROW((void)MappedRegion::map_fd(fd, 2, Access::read_only, 19'999), Error);
  EXPECT_THROW((void)MappedRegion::map_fd(fd, 1, Access::read_only, ~std::uint64_t{0}), Error);
  close(fd);
}

}  // namespace
}  // namespace farvec::transport
