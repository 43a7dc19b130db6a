#include "dataset/vector_set.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/unit/data_sets.h"
#include "tests/unit/dataset/test_files.h"

namespace farvec::dataset {
namespace {

using ::testing::HasSubstr;
using U32 = std::uint32_t;

Bytes floats(U32 rows, U32 dimension) {
  Bytes bytes;
  bytes.add(rows).add(dimension);
  for (U32 i = 0; i < rows * dimension; ++i) bytes.add(static_cast<float>(i));
  return bytes;
}

float element(const VectorSet& set, std::size_t row, std::size_t column) {
  return load_unaligned<float>(set.view().row(row) + column * sizeof(float));
}

TEST(Load, ReadsEveryRow) {
  const TemporaryFolder folder;
  const auto set = load(floats(3, 5).write(folder.file("a.fbin")));
  EXPECT_EQ(set.count(), 3u);
  EXPECT_EQ(set.dimension(), 5u);
  EXPECT_EQ(set.type(), ElementType::f32);
  EXPECT_EQ(element(set, 2, 4), 14.0f);
  EXPECT_EQ(set.dropped(), 0u);
}

TEST(Load, ReadsRangeOfRows) {
  const TemporaryFolder folder;
  const auto path = floats(10, 2).write(folder.file("a.fbin"));
  const auto set = load(path, {.first_row = 4, .max_rows = 3});
  EXPECT_EQ(set.count(), 3u);
  EXPECT_EQ(element(set, 0, 0), 8.0f);
  EXPECT_EQ(load(path, {.first_row = 9}).count(), 1u);
  EXPECT_THAT(message_of([&] { load(path, {.first_row = 10}); }), HasSubstr("has 10 rows"));
}

TEST(Load, ReadsSmallTypes) {
  const TemporaryFolder folder;
  const Bytes bytes = Bytes().add(U32{2}).add(U32{3}).add_all<std::uint8_t>({1, 2, 3, 4, 5, 255});
  const auto u8 = load(bytes.write(folder.file("a.u8bin")));
  EXPECT_EQ(u8.type(), ElementType::u8);
  EXPECT_EQ(static_cast<int>(u8.view().row(1)[2]), 255);
  EXPECT_EQ(load(bytes.write(folder.file("a.i8bin"))).type(), ElementType::i8);
}

TEST(Load, RefusesNonfiniteRowByNumber) {
  const TemporaryFolder folder;
  for (const float bad : {NAN, INFINITY, -INFINITY}) {
    const auto path = Bytes()
                          .add(U32{3})
                          .add(U32{2})
                          .add_all<float>({1, 2, 3, bad, 5, 6})
                          .write(folder.file("a.fbin"));
    EXPECT_THAT(message_of([&] { load(path); }), HasSubstr("row 1 holds NaN or infinity"));
    const auto set = load(path, {.allow_nonfinite = true});
    EXPECT_EQ(set.count(), 2u);
    EXPECT_EQ(set.dropped(), 1u);
    EXPECT_EQ(element(set, 1, 0), 5.0f);
  }
}

TEST(Load, RefusesARowThatIsTooLongForTheMetric) {
  const TemporaryFolder folder;
  const auto path = Bytes()
                        .add(U32{3})
                        .add(U32{2})
                        .add_all<float>({1, 2, 1e19f, 1e19f, 5, 6})
                        .write(folder.file("a.fbin"));
  for (const Metric metric : {Metric::l2, Metric::inner_product}) {
    EXPECT_THAT(message_of([&] { load(path, {.metric = metric}); }),
                HasSubstr("row 1 is too long"));
    const auto set = load(path, {.allow_nonfinite = true, .metric = metric});
    EXPECT_EQ(set.count(), 2u);
    EXPECT_EQ(element(set, 1, 0), 5.0f);
  }
  EXPECT_EQ(load(path, {.metric = Metric::cosine}).count(), 3u);
  EXPECT_EQ(load(path).count(), 3u);  // nobody compares them yet
}

TEST(Load, RefusesFileWithoutFiniteRow) {
  const TemporaryFolder folder;
  const auto path = Bytes().add(U32{1}).add(U32{1}).add(NAN).write(folder.file("a.fbin"));
  EXPECT_THAT(message_of([&] { load(path, {.allow_nonfinite = true}); }), HasSubstr("every row"));
}

TEST(Load, RefusesHalfInfinity) {
  const TemporaryFolder folder;
  const auto path = Bytes()
                        .add(U32{2})
                        .add(U32{1})
                        .add(std::uint16_t{0x7bff})
                        .add(std::uint16_t{0xfc00})
                        .write(folder.file("a.f16bin"));
  EXPECT_THAT(message_of([&] { load(path); }), HasSubstr("row 1 holds"));
}

TEST(Load, ReadsRealSetOrSkips) {
  const auto folder = tests::data_set("deep20k");
  if (const auto why = tests::no_data(folder); !why.empty()) GTEST_SKIP() << why;
  const auto set = load((folder / "base.fbin").string());
  EXPECT_EQ(set.count(), 20'000u);
  EXPECT_EQ(set.dimension(), 96u);
}

}  // namespace
}  // namespace farvec::dataset
