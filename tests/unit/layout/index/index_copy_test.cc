#include "layout/index/index_copy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "tests/unit/layout/index/index_fixture.h"

namespace farvec::layout {
namespace {

using testing::HasSubstr;

const WriteOptions kQuietly{.threads = 2, .quiet = true};

class IndexCopyTest : public testing::Test {
 protected:
  std::filesystem::path from() const { return folder_.path() / "from"; }
  std::filesystem::path to() const { return folder_.path() / "to"; }
  Manifest copy(const WriteOptions& options = kQuietly) const {
    return copy_index(IndexDirectory::open(from()), to(), options);
  }
  static std::string bytes_of(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  TemporaryFolder folder_;
};

TEST_F(IndexCopyTest, HasTheSameBytesInEveryLayout) {
  for (const LayoutKind layout : kRecordLayouts) {
    for (const std::size_t count : {1, 500, 60'000}) {  // the last has more than one chunk
      if (count > 500 && layout != LayoutKind::csr) continue;
      std::filesystem::remove_all(to());
      const Manifest written = RandomIndex(count, layout).write(from(), true);
      std::uint64_t moved = 0;
      const Manifest copied =
          copy({.quiet = true, .on_chunk = [&](std::uint64_t bytes) { moved += bytes; }});
      EXPECT_EQ(manifest_to_json(copied), manifest_to_json(written));
      const IndexDirectory index = IndexDirectory::open(to());
      index.verify({.threads = 2, .quiet = true});
      std::uint64_t payload = 0;
      for (std::uint32_t region = 0; region < written.regions.size(); ++region) {
        EXPECT_EQ(bytes_of(index.region_path(region)),
                  bytes_of(IndexDirectory::open(from()).region_path(region)));
        payload += written.region(region).payload_bytes;
      }
      EXPECT_EQ(moved, payload);
    }
  }
}

TEST_F(IndexCopyTest, NothingStaysOfADamagedIndex) {
  RandomIndex(500).write(from());
  for (const std::uint32_t region : {0u, 1u, 2u}) {
    const std::filesystem::path file = IndexDirectory::open(from()).region_path(region);
    const std::string whole = bytes_of(file);
    std::string damaged = whole;
    damaged.back() = static_cast<char>(damaged.back() ^ 1);
    std::ofstream(file, std::ios::binary) << damaged;
    EXPECT_THAT(error_of([&] { copy(); }), HasSubstr("is damaged: chunk"));
    EXPECT_FALSE(std::filesystem::exists(to()));
    std::ofstream(file, std::ios::binary) << whole;
  }
  EXPECT_THROW(copy({.quiet = true, .interrupted = [] { return true; }}), WorkInterrupted);
  EXPECT_FALSE(std::filesystem::exists(to()));
  copy();
  EXPECT_THAT(error_of([&] { copy(); }), HasSubstr("exists"));
}

}  // namespace
}  // namespace farvec::layout
