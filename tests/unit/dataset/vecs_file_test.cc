#include "dataset/vecs_file.h"

#include <gmock/gmock.h>

#include "tests/unit/dataset/test_files.h"

namespace farvec::dataset {
namespace {

using ::testing::HasSubstr;
using U32 = std::uint32_t;

TEST(VecsFile, RefusesRowOfAnotherDimension) {
  const TemporaryFolder folder;
  const auto path =
      Bytes().add(U32{1}).add(1.0f).add(U32{2}).add(2.0f).write(folder.file("a.fvecs"));
  const auto reader = open_vectors(path);
  float out[2];
  EXPECT_THAT(message_of([&] { reader->read_rows(0, 2, reinterpret_cast<std::byte*>(out)); }),
              HasSubstr("row 1 at offset 8 has dimension 2"));
}

TEST(VecsFile, RefusesBadSizes) {
  const TemporaryFolder folder;
  const auto open_error = [&](const Bytes& bytes) {
    const auto path = bytes.write(folder.file("a.fvecs"));
    return message_of([&] { open_vectors(path); });
  };
  EXPECT_THAT(open_error(Bytes()), HasSubstr("no rows"));
  EXPECT_THAT(open_error(Bytes().add(U32{0})), HasSubstr("dimension 0"));
  EXPECT_THAT(open_error(Bytes().add(U32{20000})), HasSubstr("dimension 20000"));
  EXPECT_THAT(open_error(Bytes().add(~U32{0})), HasSubstr("dimension 4294967295"));
  EXPECT_THAT(open_error(Bytes().add(U32{2}).add(1.0f)), HasSubstr("truncated after row 0"));
}

TEST(IvecsFile, ComesBackAsWritten) {
  const TemporaryFolder folder;
  const GroundTruth truth{2, 3, {1, 2, 3, 4, 5, 6}, {}};
  write_groundtruth(folder.file("a.ivecs"), truth);
  const auto back = read_groundtruth(folder.file("a.ivecs"));
  EXPECT_EQ(back.queries, 2u);
  EXPECT_EQ(back.k, 3u);
  EXPECT_EQ(back.ids, truth.ids);
  EXPECT_FALSE(back.has_distances());
}

TEST(IvecsFile, RefusesBadSizes) {
  const TemporaryFolder folder;
  const auto read_error = [&](const Bytes& bytes) {
    const auto path = bytes.write(folder.file("a.ivecs"));
    return message_of([&] { read_groundtruth(path); });
  };
  EXPECT_THAT(read_error(Bytes().add(U32{0})), HasSubstr("rows of 0 ids"));
  EXPECT_THAT(read_error(Bytes().add(~U32{0}).add(U32{1})), HasSubstr("truncated"));
}

}  // namespace
}  // namespace farvec::dataset
