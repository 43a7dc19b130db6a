#include "indexing/source.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "base/random.h"
#include "base/version.h"
#include "tests/unit/message_of.h"

namespace farvec::indexing {
namespace {

constexpr std::uint32_t kSourceDimension = 19;

dataset::VectorSet random_bytes(std::size_t count) {
  dataset::VectorSet rows(count, kSourceDimension, ElementType::u8);
  Random random(5);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::uint32_t d = 0; d < kSourceDimension; ++d) {
      rows.mutable_row(i)[d] = static_cast<std::byte>(1 + random.below(255));
    }
  }
  return rows;
}

dataset::VectorSet random_floats(std::size_t count) {
  dataset::VectorSet rows(count, kSourceDimension, ElementType::f32);
  Random random(6);
  for (std::size_t i = 0; i < count; ++i) {
    auto* row = reinterpret_cast<float*>(rows.mutable_row(i));
    for (std::uint32_t d = 0; d < kSourceDimension; ++d) row[d] = 3 + float(random.normal());
  }
  return rows;
}

TEST(Source, RowsThatAreStoredAlreadyAreGivenUp) {
  for (const Metric metric : {Metric::l2, Metric::inner_product}) {
    dataset::VectorSet rows = random_bytes(10);
    const std::byte* const data = rows.view().data;
    const dataset::VectorSet stored = stored_rows(std::move(rows), metric, 2);
    EXPECT_EQ(stored.view().data, data);
    EXPECT_EQ(stored.type(), ElementType::u8);
  }
}

TEST(Source, RefusesRowsThatHaveNoDistanceByNumber) {
  for (const float bad : {NAN, INFINITY, 1e19f}) {
    const auto with_bad = [bad] {
      dataset::VectorSet rows = random_floats(9000);
      reinterpret_cast<float*>(rows.mutable_row(8765))[7] = bad;
      return rows;
    };
    for (const Metric metric : {Metric::l2, Metric::inner_product}) {
      for (const bool copied : {false, true}) {
        const std::string said = tests::message_of([&] {
          copied ? stored_copy(with_bad().view(), metric, 2) : stored_rows(with_bad(), metric, 2);
        });
        EXPECT_EQ(said.find(bad == 1e19f ? "row 8765 is too long" : "row 8765 holds NaN"), 0u)
            << said;
      }
    }
  }
  // A direction is what counts for cosine.
  dataset::VectorSet rows = random_floats(2);
  reinterpret_cast<float*>(rows.mutable_row(1))[7] = 3e38f;
  EXPECT_NO_THROW(stored_rows(std::move(rows), Metric::cosine, 1));
}

TEST(Source, CosineStoresUnitVectorsOfTheSameDirection) {
  const dataset::VectorSet rows = random_floats(9000);  // more than one thread takes at a time
  const dataset::VectorSet stored = stored_rows(random_floats(9000), Metric::cosine, 3);
  ASSERT_EQ(stored.type(), ElementType::f32);
  ASSERT_EQ(stored.count(), rows.count());
  for (std::size_t i = 0; i < rows.count(); ++i) {
    const auto* from = reinterpret_cast<const float*>(rows.view().row(i));
    const auto* to = reinterpret_cast<const float*>(stored.view().row(i));
    double norm = 0;
    for (std::uint32_t d = 0; d < kSourceDimension; ++d) norm += double(from[d]) * double(from[d]);
    for (std::uint32_t d = 0; d < kSourceDimension; ++d) {
      ASSERT_NEAR(to[d], double(from[d]) / std::sqrt(norm), 1e-6) << i;
    }
  }
}

TEST(Source, AManifestSaysWhatTheVectorsAre) {
  const dataset::VectorSet rows = random_bytes(10);
  const layout::Manifest plain =
      describe_source({"/data/sift1m/base.u8bin", {}}, rows.view(), Metric::l2);
  EXPECT_EQ(plain.metric, Metric::l2);
  EXPECT_EQ(plain.source_type, ElementType::u8);
  EXPECT_EQ(plain.stored_type, ElementType::u8);
  EXPECT_FALSE(plain.normalised());
  EXPECT_EQ(plain.dataset.file, "base.u8bin");
  EXPECT_EQ(plain.dataset.row_bytes, kSourceDimension);
  EXPECT_EQ(plain.dataset.rows_hashed, 10u);
  EXPECT_EQ(plain.dataset.xxh3, layout::fingerprint(rows.view()));
  EXPECT_EQ(plain.farvec_version, version());
  EXPECT_EQ(plain.farvec_commit, commit());

  const layout::Manifest unit =
      describe_source({"/data/sift1m/base.u8bin", {}}, rows.view(), Metric::cosine);
  EXPECT_EQ(unit.source_type, ElementType::u8);
  EXPECT_EQ(unit.stored_type, ElementType::f16);
  EXPECT_TRUE(unit.normalised());
}

TEST(Source, ADataSetHasItsOwnNameOrThatOfItsFolderOrFile) {
  const dataset::VectorSet rows = random_bytes(1);
  const auto name = [&](const DatasetFile& file) {
    return describe_source(file, rows.view(), Metric::l2).dataset.name;
  };
  EXPECT_EQ(name({"/data/sift1m/base.u8bin", {}}), "sift1m");
  EXPECT_EQ(name({"/data/vectors.u8bin", {}}), "vectors");
  EXPECT_EQ(name({"/data/sift1m/base.u8bin", "mine"}), "mine");
}

}  // namespace
}  // namespace farvec::indexing
