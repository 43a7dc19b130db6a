#include "quantization/split_rabitq.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "base/error.h"
#include "tests/unit/quantization/sample_data.h"

namespace farvec::quantization {
namespace {

/// Rows of any stored type from rows of floats.
std::vector<std::byte> stored(const std::vector<float>& rows, ElementType type) {
  std::vector<std::byte> bytes(rows.size() * element_bytes(type));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (type == ElementType::u8) {
      bytes[i] = static_cast<std::byte>(static_cast<int>(128 + 10 * rows[i]) & 255);
    } else {
      std::memcpy(bytes.data() + i * sizeof(float), &rows[i], sizeof(float));
    }
  }
  return bytes;
}

struct Case {
  Metric metric = Metric::l2;
  ElementType type = ElementType::f32;
  std::uint32_t dimension = 0;
  std::uint32_t extension_bits = 4;
};

/// A split code and the whole code of as many bits, over the same rows.
class Both {
 public:
  explicit Both(const Case& c) : case_(c) {
    std::vector<float> rows = sample_rows(kRows, c.dimension, 1);
    std::vector<float> queries = sample_rows(kQueries, c.dimension, 2);
    if (c.metric == Metric::cosine) {
      normalize_rows(rows, c.dimension);
      normalize_rows(queries, c.dimension);
    }
    rows_ = stored(rows, c.type);
    queries_ = stored(queries, c.type);
    split_ = std::make_unique<SplitRabitq>(
        SplitRabitq::train(view(), c.metric, {c.extension_bits, 7, 2}));
    whole_ = std::make_unique<Rabitq>(Rabitq::train(view(), c.metric, 1 + c.extension_bits, 7, 1));
    code_ = std::make_unique<Rabitq>(Rabitq::train(view(), c.metric, 1, 7, 1));
  }

  VectorView view() const { return packed_view(rows_.data(), kRows, case_.dimension, case_.type); }

  void expect_equal() {
    const std::size_t extension_bytes = split_->extension_bytes();
    std::vector<std::byte> codes(kRows * split_->code().record_bytes());
    std::vector<std::byte> whole(kRows * whole_->record_bytes());
    std::vector<std::byte> extensions(kRows * extension_bytes);
    split_->code().encode(view(), codes.data(), 2);
    whole_->encode(view(), whole.data(), 1);
    split_->encode_extensions(view(), extensions.data(), 2);
    std::vector<NodeId> ids(kRows);
    for (std::size_t i = 0; i < kRows; ++i) ids[i] = static_cast<NodeId>(i);
    for (std::size_t q = 0; q < kQueries; ++q) {
      const std::byte* query = queries_.data() + q * case_.dimension * element_bytes(case_.type);
      RabitqQuery whole_query, code_query;
      SplitQuery split_query;
      whole_->prepare(query, whole_query);
      code_->prepare(query, code_query);
      split_->prepare(query, split_query);
      std::vector<float> expected(kRows), errors(kRows), estimates(kRows), one_bit(kRows);
      whole_->estimate_with_error(whole_query, whole.data(), ids.data(), kRows, expected.data(),
                                  errors.data());
      code_->estimate(code_query, codes.data(), ids.data(), kRows, one_bit.data());
      split_->code().estimate(split_query.code, codes.data(), ids.data(), kRows, estimates.data());
      ASSERT_EQ(estimates, one_bit);
      for (std::size_t i = 0; i < kRows; ++i) {
        // Exactly one extension, so that the address sanitizer sees a read behind it.
        const auto extension = std::make_unique<std::byte[]>(extension_bytes);
        std::memcpy(extension.get(), extensions.data() + i * extension_bytes, extension_bytes);
        const std::byte* code = codes.data() + i * split_->code().record_bytes();
        float error = 0;
        ASSERT_EQ(split_->refine(split_query, code, extension.get()), expected[i]) << i;
        ASSERT_EQ(split_->refine_with_error(split_query, code, extension.get(), error),
                  expected[i]);
        ASSERT_EQ(error, errors[i]);
      }
    }
  }

 private:
  static constexpr std::size_t kRows = 40, kQueries = 3;
  Case case_;
  std::vector<std::byte> rows_, queries_;
  std::unique_ptr<SplitRabitq> split_;
  std::unique_ptr<Rabitq> whole_, code_;
};

TEST(SplitRabitq, RefinesToTheEstimateOfTheWholeCode) {
  for (const std::uint32_t dimension : {1u, 2u, 7u, 16u, 33u, 100u, 128u, 200u, 784u}) {
    for (std::uint32_t bits = 1; bits <= SplitRabitq::kMostExtensionBits; ++bits) {
      SCOPED_TRACE(testing::Message() << dimension << " dimensions, " << bits << " bits");
      Both({Metric::l2, ElementType::f32, dimension, bits}).expect_equal();
    }
  }
}

TEST(SplitRabitq, RefinesForEveryMetricAndType) {
  for (const Metric metric : {Metric::l2, Metric::inner_product, Metric::cosine}) {
    Both({metric, ElementType::f32, 100, 4}).expect_equal();
  }
  Both({Metric::l2, ElementType::u8, 100, 4}).expect_equal();
  Both({Metric::inner_product, ElementType::u8, 65, 3}).expect_equal();
}

TEST(SplitRabitq, EqualRowsHaveEqualCodesAndNoResidual) {
  const std::vector<float> rows(12 * 20, 3.0f);
  const VectorView view = packed_view(rows.data(), 12, 20, ElementType::f32);
  const SplitRabitq split(SplitRabitq::train(view, Metric::l2, {}));
  std::vector<std::byte> codes(12 * split.code().record_bytes());
  std::vector<std::byte> extensions(12 * split.extension_bytes());
  split.code().encode(view, codes.data(), 1);
  split.encode_extensions(view, extensions.data(), 1);
  SplitQuery query;
  split.prepare(rows.data(), query);
  EXPECT_EQ(split.refine(query, codes.data(), extensions.data()), 0.0f);
}

TEST(SplitRabitq, ExtensionBytesAreNotPadded) {
  EXPECT_EQ(SplitRabitq::extension_bytes(128, 4), 68u);
  EXPECT_EQ(SplitRabitq::extension_bytes(784, 4), 396u);
  EXPECT_EQ(SplitRabitq::extension_bytes(100, 4), 56u);
  EXPECT_EQ(SplitRabitq::extension_bytes(1, 1), 8u);
}

TEST(SplitRabitq, RefusesWhatMakesNoSense) {
  const std::vector<float> rows = sample_rows(10, 8, 1);
  const VectorView view = packed_view(rows.data(), 10, 8, ElementType::f32);
  EXPECT_THROW(SplitRabitq::train(view, Metric::l2, {0, 1, 1}), Error);
  EXPECT_THROW(SplitRabitq::train(view, Metric::l2, {8, 1, 1}), Error);
  EXPECT_THROW(SplitRabitq::train(packed_view(rows.data(), 0, 8, ElementType::f32), Metric::l2, {}),
               Error);
  const SplitParameters good = SplitRabitq::train(view, Metric::l2, {});
  SplitParameters bad = good;
  bad.code.bits = 2;
  EXPECT_THROW(SplitRabitq{bad}, Error);
  bad = good;
  bad.whole.seed = 99;
  EXPECT_THROW(SplitRabitq{bad}, Error);
  bad = good;
  bad.whole.bits = 1;
  EXPECT_THROW(SplitRabitq{bad}, Error);
}

}  // namespace
}  // namespace farvec::quantization
