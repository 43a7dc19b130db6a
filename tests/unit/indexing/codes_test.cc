#include "indexing/codes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "base/progress.h"
#include "base/random.h"
#include "distance/distance.h"
#include "quantization/split_codes.h"

namespace farvec::indexing {
namespace {

constexpr std::size_t kEncodedRows = 400;
constexpr std::uint32_t kEncodedDimension = 67;

const VectorView& normal_rows() {
  static const std::vector<float> values = [] {
    std::vector<float> made(kEncodedRows * kEncodedDimension);
    Random random(8);
    for (float& value : made) value = static_cast<float>(1 + random.normal());
    return made;
  }();
  static const VectorView view =
      packed_view(values.data(), kEncodedRows, kEncodedDimension, ElementType::f32);
  return view;
}

float true_distance(std::size_t a, std::size_t b) {
  const VectorView& rows = normal_rows();
  const auto kernel = distance::pair_kernel(Metric::l2, ElementType::f32, kEncodedDimension);
  return kernel(rows.row(a), rows.row(b), kEncodedDimension);
}

/// What a reader of the codes region starts from.
layout::Codes read_back(const EncodedRows& encoded) {
  layout::Codes codes;
  codes.header = encoded.header;
  codes.centroid = encoded.centroid;
  return codes;
}

/// Nearly all estimates of one query are within the bounds that come with them (of all queries,
/// quantization::Rabitq::kBoundRate).
void expect_bounds_hold(std::size_t held, std::size_t asked) {
  EXPECT_GE(static_cast<double>(held), 0.9 * static_cast<double>(asked));
}

TEST(Codes, AReaderOfTheRegionEstimatesDistances) {
  for (const std::uint32_t bits : {1u, 4u, 8u}) {
    const EncodedRows encoded = encode_whole(normal_rows(), Metric::l2, {bits, 3, 2});
    EXPECT_EQ(encoded.header.count, kEncodedRows);
    EXPECT_EQ(encoded.header.bits, bits);
    EXPECT_EQ(encoded.extensions.size(), 0u);
    const quantization::Rabitq quantizer(quantization::code_parameters(read_back(encoded)));
    ASSERT_EQ(encoded.codes.size(), kEncodedRows * quantizer.record_bytes());
    quantization::RabitqQuery query;
    quantizer.prepare(normal_rows().row(0), query);
    std::size_t held = 0;
    for (NodeId id = 1; id < kEncodedRows; ++id) {
      float estimate = 0;
      float error = 0;
      quantizer.estimate_with_error(query, encoded.codes.data(), &id, 1, &estimate, &error);
      held += std::abs(estimate - true_distance(0, id)) <= error ? 1 : 0;
    }
    expect_bounds_hold(held, kEncodedRows - 1);
  }
}

TEST(Codes, InTwoPartsTheyAreRefinedByTheRecord) {
  const EncodedRows encoded = encode_split(normal_rows(), Metric::l2, {5, 3, 2});
  EXPECT_EQ(encoded.header.bits, 1u);
  EXPECT_EQ(encoded.header.extension_bits, 5);
  const quantization::SplitRabitq split(quantization::split_parameters(read_back(encoded)));
  ASSERT_EQ(encoded.extensions.size(), kEncodedRows * split.extension_bytes());
  quantization::SplitQuery query;
  split.prepare(normal_rows().row(0), query);
  std::size_t held = 0;
  for (NodeId id = 1; id < kEncodedRows; ++id) {
    float error = 0;
    const float estimate =
        split.refine_with_error(query, encoded.codes.data() + id * split.code().record_bytes(),
                                encoded.extensions.data() + id * split.extension_bytes(), error);
    held += std::abs(estimate - true_distance(0, id)) <= error ? 1 : 0;
  }
  expect_bounds_hold(held, kEncodedRows - 1);
}

TEST(Codes, DoNotDependOnTheThreads) {
  const EncodedRows one = encode_split(normal_rows(), Metric::l2, {3, 7, 1});
  const EncodedRows three = encode_split(normal_rows(), Metric::l2, {3, 7, 3});
  EXPECT_EQ(one.centroid, three.centroid);
  EXPECT_TRUE(std::ranges::equal(one.codes.span(), three.codes.span()));
  EXPECT_TRUE(std::ranges::equal(one.extensions.span(), three.extensions.span()));
}

/// Counts how often it is asked.
Interruption asked(int& questions) {
  return [&questions] {
    ++questions;
    return false;
  };
}

TEST(Codes, EveryPassOverTheRowsCanBeEnded) {
  int whole = 0;
  int split = 0;
  (void)encode_whole(normal_rows(), Metric::l2, {2, 3, 1, asked(whole)});
  (void)encode_split(normal_rows(), Metric::l2, {2, 3, 1, asked(split)});
  EXPECT_EQ(whole % 2, 0);  // ranges, codes
  EXPECT_EQ(split, 2 * whole);
  for (int last = 0; last < split; ++last) {
    int questions = 0;
    const CodeTraining training{2, 3, 1, [&] { return questions++ == last; }};
    EXPECT_THROW((void)encode_split(normal_rows(), Metric::l2, training), WorkInterrupted) << last;
    EXPECT_EQ(questions, last + 1);
  }
}

TEST(Codes, ThatTakeLongSayHowFarTheyAre) {
  bool first = true;
  CodeTraining training{2, 3, 1, [&] {
                          // Nothing is said of work that takes less than a second.
                          if (first) std::this_thread::sleep_for(std::chrono::milliseconds(1050));
                          first = false;
                          return false;
                        }};
  for (const bool quiet : {false, true}) {
    first = true;
    training.quiet = quiet;
    testing::internal::CaptureStderr();
    (void)encode_whole(normal_rows(), Metric::l2, training);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(said.find("codes: 800 in ") != std::string::npos, !quiet) << said;
    EXPECT_EQ(said.find("/800 ") != std::string::npos, !quiet) << said;
  }
}

}  // namespace
}  // namespace farvec::indexing
