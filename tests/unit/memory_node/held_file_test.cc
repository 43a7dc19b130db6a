#include "memory_node/held_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/unit/fifo.h"
#include "tests/unit/memory_node/segment_file_bytes.h"
#include "tests/unit/message_of.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::memory_node {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using tests::message_of;

constexpr layout::SegmentKey kCatalogue{7, layout::kCatalogueNumber};

class HeldFileTest : public testing::Test {
 protected:
  HeldFileTest() { write(file_, catalogue_bytes(8)); }

  static void write(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }
  HeldFile said(const fs::path& path) const {
    HeldFile said = described(file_);
    said.path = path;
    said.is_resolved = true;
    return said;
  }
  static void read(const OpenedFile& file) {
    std::vector<std::byte> bytes(file.said().bytes);
    (void)file.read(bytes, [](std::uint64_t) {});
  }
  static std::string refusal(const HeldFile& said) {
    try {
      read(OpenedFile(said, kCatalogue));
    } catch (const RefusedFile& refused) {
      return refused.what();
    }
    return "";
  }

  tests::TemporaryFolder folder_;
  const fs::path path_ = fs::canonical(folder_.path());
  const fs::path file_ = path_ / "catalogue";
};

TEST_F(HeldFileTest, IsReadFromWhatWasLookedAt) {
  const OpenedFile opened(said(file_), kCatalogue);
  write(path_ / "other", catalogue_bytes(1000));
  fs::rename(path_ / "other", file_);
  EXPECT_EQ(message_of([&] { read(opened); }), "") << "its name is another's by now";
  fs::remove(file_);
  EXPECT_EQ(message_of([&] { read(opened); }), "");
}

TEST_F(HeldFileTest, ThatChangesBetweenLookAndReadingIsRefused) {
  const OpenedFile longer(said(file_), kCatalogue);
  const auto bytes = fs::file_size(file_);
  fs::resize_file(file_, bytes / 2);
  EXPECT_THROW(read(longer), RefusedFile);
  fs::resize_file(file_, bytes);  // with zeros
  EXPECT_THAT(message_of([&] { read(longer); }), HasSubstr("was replaced"));
  write(file_, std::string(bytes, 's'));
  EXPECT_THAT(message_of([&] { read(longer); }), HasSubstr("was replaced"));
}

TEST_F(HeldFileTest, ALinkThatCameAfterTheLookIsNotFollowed) {
  fs::create_directory(path_ / "real");
  fs::copy(file_, path_ / "real" / "catalogue");
  fs::create_directory_symlink(path_ / "real", path_ / "folder");
  fs::create_symlink(file_, path_ / "link");
  EXPECT_EQ(refusal(said(path_ / "real" / "catalogue")), "");
  for (const fs::path& path : {path_ / "folder" / "catalogue", path_ / "link"}) {
    HeldFile file = said(path);
    EXPECT_THAT(refusal(file), HasSubstr("a link has come")) << path;
    file.is_resolved = false;
    EXPECT_EQ(refusal(file), "") << path;
  }
}

TEST_F(HeldFileTest, OnlyARegularFileIsOpened) {
  EXPECT_THAT(tests::error_with_fifo(path_ / "fifo",
                                     [&] {
                                       read({said(path_ / "fifo"), kCatalogue});
                                     }),
              HasSubstr("not a regular file"));
  for (const fs::path& path : {fs::path("/dev/zero"), path_}) {
    EXPECT_THAT(refusal(said(path)), HasSubstr("not a regular file")) << path;
  }
}

}  // namespace
}  // namespace farvec::memory_node
