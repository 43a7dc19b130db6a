#include "dataset/groundtruth.h"

#include <gmock/gmock.h>

#include "tests/unit/dataset/test_files.h"
#include "tests/unit/file_size_limit.h"

namespace farvec::dataset {
namespace {

using ::testing::HasSubstr;
using U32 = std::uint32_t;

TEST(GroundTruthFile, ComesBackAsWritten) {
  const TemporaryFolder folder;
  const GroundTruth truth{2, 3, {1, 2, 3, 4, 5, 6}, {0.5f, 1, 2, 3, 4, 5}};
  write_groundtruth(folder.file("a.ibin"), truth);
  const auto back = read_groundtruth(folder.file("a.ibin"));
  EXPECT_EQ(back.queries, 2u);
  EXPECT_EQ(back.k, 3u);
  EXPECT_EQ(back.ids, truth.ids);
  EXPECT_EQ(back.distances, truth.distances);
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(GroundTruthFile, MayHaveNoDistances) {
  const TemporaryFolder folder;
  write_groundtruth(folder.file("a.ibin"), {1, 2, {7, 8}, {}});
  const auto back = read_groundtruth(folder.file("a.ibin"));
  EXPECT_FALSE(back.has_distances());
  EXPECT_EQ(back.ids_of(0)[1], 8u);
}

TEST(GroundTruthFile, RefusesWrongSizes) {
  const TemporaryFolder folder;
  const auto read_error = [&](const Bytes& bytes) {
    const auto path = bytes.write(folder.file("a.ibin"));
    return message_of([&] { read_groundtruth(path); });
  };
  EXPECT_THAT(read_error(Bytes().add(U32{1})), HasSubstr("truncated"));
  EXPECT_THAT(read_error(Bytes().add(U32{0}).add(U32{5})), HasSubstr("0 queries"));
  EXPECT_THAT(read_error(Bytes().add(U32{1}).add(U32{2}).add(U32{0})), HasSubstr("1 queries of 2"));
  EXPECT_THAT(read_error(Bytes().add(~U32{0}).add(~U32{0}).add(U32{0})), HasSubstr("needs"));
  EXPECT_THAT(read_error(Bytes().add(U32{1}).add(U32{1}).add(U32{0}).add(std::uint8_t{1})),
              HasSubstr("needs"));
}

TEST(GroundTruthFile, SaysHowMuchAFullDiskLacked) {
  const TemporaryFolder folder;
  const tests::FileSizeLimit full(10);
  const auto message = message_of([&] {
    write_groundtruth(folder.file("a.ibin"), {1, 2, {7, 8}, {1, 2}});
  });
  EXPECT_THAT(message, HasSubstr("needs 24 bytes"));
  EXPECT_THAT(message, HasSubstr("File too large"));
  EXPECT_EQ(folder.entries(), 0u);
}

}  // namespace
}  // namespace farvec::dataset
