#include "disk/disk_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "base/random.h"
#include "tests/unit/disk/disk_fixture.h"

namespace farvec::disk {
namespace {

std::string error_of(const std::string& path) {
  try {
    DiskFile file(path);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(DiskFile, NamesWhatCannotBeOpened) {
  tests::TemporaryFolder folder;
  EXPECT_THAT(error_of(folder.file("none")), testing::HasSubstr(folder.file("none")));
  EXPECT_THAT(error_of(folder.path()), testing::HasSubstr("neither a regular file nor"));
  ASSERT_EQ(mkfifo(folder.file("pipe").c_str(), 0600), 0);
  EXPECT_THAT(error_of(folder.file("pipe")), testing::HasSubstr("neither a regular file nor"));
}

TEST(DiskFile, KnowsItsSizeAndItsBlocks) {
  tests::TemporaryFolder folder;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{5000}}) {
    write_random(folder.file("f"), size);
    const DiskFile file(folder.file("f"));
    EXPECT_EQ(file.size(), size);
    EXPECT_EQ(kBlock % file.block_bytes(), 0u);
    EXPECT_THAT(file.description(), testing::HasSubstr(file.direct() ? "O_DIRECT" : "page cache"));
  }
}

TEST(DiskFile, CoversAnyRangeWithTheFewestBlocks) {
  tests::TemporaryFolder folder;
  write_random(folder.file("f"), 1);
  const DiskFile file(folder.file("f"));
  const std::uint64_t block = file.block_bytes();
  Random random(5);
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t offset = random.below(4 * block);
    const auto bytes = static_cast<std::uint32_t>(1 + random.below(3 * block));
    std::uint64_t first = 0;
    while (first + block <= offset) first += block;
    std::uint64_t end = first;
    while (end < offset + bytes) end += block;
    const BlockRange range = file.cover(offset, bytes);
    EXPECT_EQ(range.offset, first);
    EXPECT_EQ(range.bytes, end - first);
    EXPECT_EQ(range.offset + range.skip, offset);
  }
}

TEST(DiskFile, FallsBackToThePageCacheWhereFilesLieInMemory) {
  struct statfs info {};
  if (statfs("/dev/shm", &info) != 0 || info.f_type != TMPFS_MAGIC || access("/dev/shm", W_OK) != 0)
    GTEST_SKIP() << "no tmpfs to write to at /dev/shm";
  const std::string path = "/dev/shm/farvec-disk-test-" + std::to_string(getpid());
  const std::string content = write_random(path, 3 * kBlock + 7);
  testing::internal::CaptureStdout();  // where the log goes in tests
  auto files = open_files({path});
  const std::string log = testing::internal::GetCapturedStdout();
  std::filesystem::remove(path);
  EXPECT_THAT(log, testing::HasSubstr(path));
  EXPECT_THAT(log, testing::HasSubstr("page cache"));
  EXPECT_FALSE(files[0]->direct());
  EXPECT_EQ(fcntl(files[0]->descriptor(), F_GETFL) & O_DIRECT, 0);
  const BlockRange all = files[0]->cover(0, static_cast<std::uint32_t>(content.size()));
  auto engine = open_disk(std::move(files), 4);
  HugeBuffer memory(all.bytes);
  const DiskRequest read{.memory = memory.data(), .deadline = in_us(kLongUs), .bytes = all.bytes};
  ASSERT_TRUE(engine->post({&read, 1}).ok());
  const auto found = await(*engine, 1);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].status, StatusCode::ok);
  EXPECT_EQ(text(memory.data(), found[0].bytes), content);
}

}  // namespace
}  // namespace farvec::disk
