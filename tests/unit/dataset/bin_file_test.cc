#include "dataset/bin_file.h"

#include <gmock/gmock.h>

#include "tests/unit/dataset/test_files.h"

namespace farvec::dataset {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using U32 = std::uint32_t;

class BinFile : public ::testing::Test {
 protected:
  std::string open_error(const Bytes& bytes, const std::string& name = "a.fbin") {
    const auto path = bytes.write(folder_.file(name));
    return message_of([&] { open_vectors(path); });
  }

  TemporaryFolder folder_;
};

TEST_F(BinFile, RefusesTruncatedHeader) {
  EXPECT_THAT(open_error(Bytes().add(U32{1})), HasSubstr("truncated"));
  EXPECT_THAT(open_error(Bytes()), HasSubstr("has 0 bytes"));
}

TEST_F(BinFile, RefusesTruncatedRows) {
  const auto bytes = Bytes().add(U32{2}).add(U32{2}).add_all<float>({1, 2, 3, 4}).cut(1);
  EXPECT_THAT(open_error(bytes), AllOf(HasSubstr("needs 24"), HasSubstr("1 whole rows")));
}

TEST_F(BinFile, RefusesHeaderThatPromisesTooMuch) {
  const auto bytes = Bytes().add(U32{4'000'000'000}).add(U32{4096}).add(1.0f);
  EXPECT_THAT(open_error(bytes), HasSubstr("truncated"));
}

TEST_F(BinFile, RefusesTrailingBytes) {
  EXPECT_THAT(open_error(Bytes().add(U32{1}).add(U32{1}).add_all<float>({1, 2})),
              AllOf(HasSubstr("header is wrong"), HasSubstr("2 whole rows")));
}

TEST_F(BinFile, RefusesNoRows) {
  EXPECT_THAT(open_error(Bytes().add(U32{0}).add(U32{4})), HasSubstr("no rows"));
}

TEST_F(BinFile, RefusesBadDimension) {
  EXPECT_THAT(open_error(Bytes().add(U32{1}).add(U32{0})), HasSubstr("dimension 0"));
  EXPECT_THAT(open_error(Bytes().add(U32{1}).add(U32{20000})), HasSubstr("dimension 20000"));
}

TEST_F(BinFile, RefusesUnknownSuffixMissingFileAndFolder) {
  EXPECT_THAT(open_error(Bytes(), "a.txt"), HasSubstr("unknown suffix '.txt'"));
  EXPECT_THAT(message_of([&] { open_vectors(folder_.file("none.fbin")); }),
              HasSubstr("No such file"));
  std::filesystem::create_directory(folder_.file("d.fbin"));
  EXPECT_THAT(message_of([&] { open_vectors(folder_.file("d.fbin")); }),
              HasSubstr("not a regular file"));
}

TEST_F(BinFile, RefusesRowsThatAreNotThere) {
  const auto path =
      Bytes().add(U32{2}).add(U32{1}).add_all<float>({1, 2}).write(folder_.file("a.fbin"));
  const auto reader = open_vectors(path);
  float out[2];
  EXPECT_THAT(message_of([&] { reader->read_rows(1, 2, reinterpret_cast<std::byte*>(out)); }),
              HasSubstr("has 2 rows"));
}

}  // namespace
}  // namespace farvec::dataset
