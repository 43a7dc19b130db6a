#include "indexing/bit_thresholds.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>

#include "base/random.h"
#include "dataset/view_reader.h"
#include "quantization/reduction.h"
#include "tests/unit/message_of.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::indexing {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using tests::message_of;

constexpr std::uint32_t kColumns = 11;
constexpr std::size_t kRows = 101;

std::vector<float> seeded_rows(std::size_t rows = kRows) {
  Random random(5);
  std::vector<float> values;
  for (std::size_t i = 0; i < rows * kColumns; ++i) {
    values.push_back(static_cast<float>(random.below(1000)) / 7 - 60);
  }
  return values;
}

dataset::ViewReader reader_of(const std::vector<float>& values) {
  return {packed_view(values.data(), values.size() / kColumns, kColumns, ElementType::f32), "rows"};
}

std::vector<float> column(const std::vector<float>& values, std::uint32_t d) {
  std::vector<float> result;
  for (std::size_t i = d; i < values.size(); i += kColumns) result.push_back(values[i]);
  return result;
}

TEST(BitThresholds, SignIsZero) {
  const auto values = seeded_rows();
  auto rows = reader_of(values);
  EXPECT_THAT(bit_thresholds(rows, BitRule::sign), Each(0.0f));
}

TEST(BitThresholds, MeanIsThatOfEachDimension) {
  const auto values = seeded_rows();
  auto rows = reader_of(values);
  const auto thresholds = bit_thresholds(rows, BitRule::mean);
  for (std::uint32_t d = 0; d < kColumns; ++d) {
    double sum = 0;
    for (const float value : column(values, d)) sum += static_cast<double>(value);
    EXPECT_FLOAT_EQ(thresholds[d], static_cast<float>(sum / kRows));
  }
}

TEST(BitThresholds, MedianIsTheLowerMiddle) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{100}, kRows}) {
    const auto values = seeded_rows(count);
    auto rows = reader_of(values);
    const auto thresholds = bit_thresholds(rows, BitRule::median);
    for (std::uint32_t d = 0; d < kColumns; ++d) {
      auto sorted = column(values, d);
      std::sort(sorted.begin(), sorted.end());
      EXPECT_EQ(thresholds[d], sorted[(count - 1) / 2]) << count;
    }
  }
}

/// The median of a sample is one of the values, near the middle.
TEST(BitThresholds, MedianOfMuchDataIsThatOfASample) {
  const auto values = seeded_rows(2000);
  auto rows = reader_of(values);
  const auto thresholds =
      bit_thresholds(rows, BitRule::median, false, 500 * kColumns * sizeof(float));
  for (std::uint32_t d = 0; d < kColumns; ++d) {
    auto sorted = column(values, d);
    std::sort(sorted.begin(), sorted.end());
    const auto place = std::lower_bound(sorted.begin(), sorted.end(), thresholds[d]);
    ASSERT_EQ(*place, thresholds[d]);
    EXPECT_NEAR(static_cast<double>(place - sorted.begin()), 1000.0, 150.0);
  }
}

TEST(BitThresholds, RowsWithNanAreRefusedOrLeftOut) {
  auto values = seeded_rows();
  const auto clean = values;
  values.insert(values.begin() + 3 * kColumns, kColumns, 0.0f);
  values[3 * kColumns + 2] = std::numeric_limits<float>::quiet_NaN();
  for (const BitRule rule : {BitRule::mean, BitRule::median}) {
    auto rows = reader_of(values);
    EXPECT_THAT(message_of([&] { bit_thresholds(rows, rule); }), HasSubstr("row 3 holds NaN"));
    auto good = reader_of(clean);
    EXPECT_EQ(bit_thresholds(rows, rule, true), bit_thresholds(good, rule));
  }
}

TEST(BitThresholds, BitsHaveNone) {
  const std::vector<std::uint8_t> bits(4);
  dataset::ViewReader rows(packed_view(bits.data(), 4, 8, ElementType::b1), "rows");
  EXPECT_THAT(message_of([&] { bit_thresholds(rows, BitRule::mean); }),
              HasSubstr("holds bits already"));
}

TEST(BitThresholds, AFileGivesBackWhatWasWritten) {
  const tests::TemporaryFolder folder;
  const auto values = seeded_rows();
  auto rows = reader_of(values);
  const auto thresholds = bit_thresholds(rows, BitRule::mean);
  const std::string path = folder.file("means.fbin");
  write_bit_thresholds(path, thresholds);
  EXPECT_EQ(read_bit_thresholds(path, kColumns), thresholds);
  EXPECT_THAT(message_of([&] { read_bit_thresholds(path, kColumns + 1); }),
              HasSubstr("one row of 12 numbers"));
}

TEST(ToBits, ABitIsSetAboveTheThreshold) {
  Random random(7);
  for (const std::size_t dimension : {1u, 7u, 8u, 9u, 65u}) {
    std::vector<float> row(dimension), thresholds(dimension);
    for (std::size_t d = 0; d < dimension; ++d) {
      row[d] = static_cast<float>(random.below(3));
      thresholds[d] = static_cast<float>(random.below(3));
    }
    std::vector<std::byte> bits(packed_bytes(ElementType::b1, dimension), std::byte{0xff});
    quantization::to_bits(row, thresholds, bits.data());
    for (std::size_t d = 0; d < 8 * bits.size(); ++d) {
      const bool set = (std::to_integer<unsigned>(bits[d / 8]) >> (d % 8) & 1) != 0;
      EXPECT_EQ(set, d < dimension && row[d] > thresholds[d]);
    }
  }
}

}  // namespace
}  // namespace farvec::indexing
