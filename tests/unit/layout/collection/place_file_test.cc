#include "layout/collection/place_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/error.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::layout {
namespace {

class PlaceFile : public testing::Test {
 protected:
  std::string bytes() const {
    std::ifstream file(folder_.path() / kPlaceFile, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  void write(const std::string& bytes) const {
    std::ofstream(folder_.path() / kPlaceFile, std::ios::binary) << bytes;
  }

  tests::TemporaryFolder folder_;
};

TEST_F(PlaceFile, IsReadAsItWasWritten) {
  EXPECT_EQ(read_place(folder_.path()), IndexPlace());
  for (const IndexPlace& place :
       {IndexPlace{"ssd", std::uint64_t{1} << 40}, IndexPlace{"emulated:rdma", 0},
        IndexPlace{std::string(kMostTierWord, 'x'), 1}}) {
    write_place(folder_.path(), place);
    EXPECT_EQ(read_place(folder_.path()), place);
  }
}

TEST_F(PlaceFile, EachDamagedByteIsFound) {
  write_place(folder_.path(), {"numa:1", 77});
  const std::string whole = bytes();
  ASSERT_EQ(whole.size(), 128u);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const int bit : {0, 4, 7}) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      write(damaged);
      EXPECT_THROW(read_place(folder_.path()), Error) << i;
    }
  }
  for (const std::size_t size : {0, 1, 127}) {
    write(whole.substr(0, size));
    EXPECT_THROW(read_place(folder_.path()), Error) << size;
  }
  write(whole + "x");
  EXPECT_THROW(read_place(folder_.path()), Error);
}

}  // namespace
}  // namespace farvec::layout
