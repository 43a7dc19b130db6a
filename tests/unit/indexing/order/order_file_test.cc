#include "indexing/order/order_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <vector>

#include "base/error.h"
#include "tests/unit/message_of.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::indexing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using tests::message_of;
using tests::TemporaryFolder;

class OrderFile : public ::testing::Test {
 protected:
  std::string write(const std::vector<std::uint32_t>& words, const char* name = "order.ibin") {
    const std::string path = folder_.file(name);
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(words.data()),
               static_cast<std::streamsize>(words.size() * sizeof(std::uint32_t)));
    return path;
  }
  std::string error_of(const std::vector<std::uint32_t>& words, std::size_t count) {
    const std::string path = write(words);
    return message_of([&] { read_order(path, count); });
  }

  TemporaryFolder folder_;
};

TEST_F(OrderFile, IsReadAsItWasWritten) {
  const std::string path = folder_.file("order.ibin");
  write_order(path, std::vector<NodeId>{2, 0, 1});
  EXPECT_THAT(read_order(path, 3), ElementsAre(2, 0, 1));
}

TEST_F(OrderFile, NamesEveryRowOnce) {
  EXPECT_THAT(error_of({3, 1, 2, 0, 2}, 3), HasSubstr("place 2 names row 2 again"));
  EXPECT_THAT(error_of({3, 1, 2, 0, 3}, 3), HasSubstr("place 2 names row 3 of 3"));
}

TEST_F(OrderFile, IsOfTheRowsThatThereAre) {
  EXPECT_THAT(error_of({2, 1, 0, 1}, 3), HasSubstr("orders 2 rows, but there are 3"));
  EXPECT_THAT(error_of({2, 2, 0, 1, 2, 3}, 2), HasSubstr("an order has one id"));
  EXPECT_THAT(error_of({2, 1, 0, 1, 0, 0}, 2), HasSubstr("ids and distances"));
}

TEST_F(OrderFile, IsRefusedWhenItIsCut) {
  EXPECT_THAT(error_of({}, 2), HasSubstr("truncated"));
  EXPECT_THAT(error_of({2, 1, 0}, 2), HasSubstr("truncated"));
}

TEST_F(OrderFile, IsAnIbin) {
  const std::string path = write({1, 1, 0}, "order.fbin");
  EXPECT_THAT(message_of([&] { read_order(path, 1); }), HasSubstr("kept in .ibin"));
  EXPECT_THROW(write_order(path, std::vector<NodeId>{0}), Error);
  EXPECT_THROW(write_order(folder_.file("none.ibin"), {}), Error);
}

}  // namespace
}  // namespace farvec::indexing
