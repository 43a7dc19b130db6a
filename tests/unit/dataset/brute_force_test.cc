#include "dataset/brute_force.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "base/memory.h"
#include "base/random.h"
#include "dataset/recall.h"
#include "tests/unit/data_sets.h"
#include "tests/unit/dataset/test_files.h"

namespace farvec::dataset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using U32 = std::uint32_t;
using U8 = std::uint8_t;

float l2_u8(const void* a, const void* b, U32 dimension) {
  const auto* x = static_cast<const U8*>(a);
  const auto* y = static_cast<const U8*>(b);
  int sum = 0;
  for (U32 i = 0; i < dimension; ++i) sum += (x[i] - y[i]) * (x[i] - y[i]);
  return static_cast<float>(sum);
}

float l2_f32(const void* a, const void* b, U32 dimension) {
  float sum = 0;
  for (U32 i = 0; i < dimension; ++i) {
    const float difference = load_unaligned<float>(static_cast<const float*>(a) + i) -
                             load_unaligned<float>(static_cast<const float*>(b) + i);
    sum += difference * difference;
  }
  return sum;
}

/// Few different values, so that many distances are equal.
std::vector<U8> random_rows(std::size_t count, U32 dimension, std::uint64_t seed) {
  Random random(seed);
  std::vector<U8> rows(count * dimension);
  for (U8& value : rows) value = static_cast<U8>(random.below(4));
  return rows;
}

std::string write_u8(const std::string& path, const std::vector<U8>& rows, U32 dimension) {
  return Bytes()
      .add(static_cast<U32>(rows.size() / dimension))
      .add(dimension)
      .add_all(rows)
      .write(path);
}

/// Sorts all rows for each query.
GroundTruth naive(const std::vector<U8>& base, const std::vector<U8>& queries, U32 dimension,
                  U32 k) {
  GroundTruth truth{queries.size() / dimension, k, {}, {}};
  for (std::size_t q = 0; q < truth.queries; ++q) {
    std::vector<std::pair<float, NodeId>> all;
    for (std::size_t i = 0; i < base.size() / dimension; ++i) {
      all.emplace_back(l2_u8(&queries[q * dimension], &base[i * dimension], dimension),
                       static_cast<NodeId>(i));
    }
    std::sort(all.begin(), all.end());
    for (U32 i = 0; i < k; ++i) {
      truth.distances.push_back(all[i].first);
      truth.ids.push_back(all[i].second);
    }
  }
  return truth;
}

class BruteForce : public ::testing::Test {
 protected:
  GroundTruth run(const std::string& base, const std::string& queries, BruteForceOptions options,
                  const ExactDistance& distance = {l2_u8, nullptr, ElementType::u8}) {
    options.quiet = true;
    return exact_neighbors(*open_vectors(base), *open_vectors(queries), distance, options);
  }

  TemporaryFolder folder_;
};

TEST_F(BruteForce, AgreesWithSortingEverything) {
  for (const U32 dimension : {1u, 3u, 7u}) {
    const auto base = random_rows(503, dimension, 1);
    const auto queries = random_rows(37, dimension, 2);
    const auto base_path = write_u8(folder_.file("b.u8bin"), base, dimension);
    const auto query_path = write_u8(folder_.file("q.u8bin"), queries, dimension);
    const auto expected = naive(base, queries, dimension, 20);
    for (const std::size_t block_bytes : {std::size_t{1}, std::size_t{100}, std::size_t{1} << 20}) {
      for (const unsigned threads : {1u, 3u}) {
        const auto truth =
            run(base_path, query_path, {.k = 20, .threads = threads, .block_bytes = block_bytes});
        EXPECT_EQ(truth.ids, expected.ids);
        EXPECT_EQ(truth.distances, expected.distances);
      }
    }
  }
}

TEST_F(BruteForce, OrdersTiesByTheSmallerId) {
  const auto base = write_u8(folder_.file("b.u8bin"), {5, 5, 1, 5}, 1);
  const auto query = write_u8(folder_.file("q.u8bin"), {5}, 1);
  EXPECT_THAT(run(base, query, {.k = 4}).ids, ElementsAre(0, 1, 3, 2));
}

TEST_F(BruteForce, RefusesBadK) {
  const auto base = write_u8(folder_.file("b.u8bin"), {1, 2, 3}, 1);
  EXPECT_THAT(message_of([&] { run(base, base, {.k = 4}); }), HasSubstr("has 3 rows"));
  EXPECT_THAT(message_of([&] { run(base, base, {.k = 0}); }), HasSubstr("k must be"));
}

TEST_F(BruteForce, RefusesQueriesOfAnotherShape) {
  const auto base = write_u8(folder_.file("b.u8bin"), {1, 2, 3, 4}, 2);
  const auto query = write_u8(folder_.file("q.u8bin"), {1, 2}, 1);
  const auto other_type = write_u8(folder_.file("q.i8bin"), {1, 2}, 2);
  EXPECT_THAT(message_of([&] { run(base, query, {.k = 1}); }), HasSubstr("must agree"));
  EXPECT_THAT(message_of([&] { run(base, other_type, {.k = 1}); }), HasSubstr("must agree"));
}

TEST_F(BruteForce, PreparesRows) {
  const auto base = write_u8(folder_.file("b.u8bin"), {10, 20, 30}, 1);
  const auto query = write_u8(folder_.file("q.u8bin"), {29}, 1);
  const ExactDistance halved{l2_f32,
                             [](const std::byte* in, std::byte* out) {
                               store_unaligned(out, static_cast<float>(*in) / 2);
                             },
                             ElementType::f32};
  const auto truth = run(base, query, {.k = 2}, halved);
  EXPECT_THAT(truth.ids, ElementsAre(2, 1));
  EXPECT_THAT(truth.distances, ElementsAre(0.25f, 20.25f));
}

TEST_F(BruteForce, RefusesNonfiniteRows) {
  const auto path = Bytes().add(U32{1}).add(U32{1}).add(NAN).write(folder_.file("b.fbin"));
  EXPECT_THAT(message_of([&] {
                run(path, path, {.k = 1}, {l2_f32, nullptr, ElementType::f32});
              }),
              HasSubstr("NaN"));
}

TEST_F(BruteForce, RefusesRowsThatAreTooLongByNumber) {
  const auto path =
      Bytes().add(U32{2}).add(U32{1}).add(1.0f).add(3e38f).write(folder_.file("long.fbin"));
  EXPECT_THAT(message_of([&] {
                run(path, path, {.k = 1}, {l2_f32, nullptr, ElementType::f32});
              }),
              HasSubstr("row 1 is too long"));
}

TEST_F(BruteForce, AgreesWithPublishedTruthOrSkips) {
  const auto folder = tests::data_set("deep20k");
  if (const auto why = tests::no_data(folder); !why.empty()) GTEST_SKIP() << why;
  const auto queries = open_vectors((folder / "query.fbin").string());
  std::vector<std::byte> some(100 * queries->info().row_bytes());
  queries->read_rows(0, 100, some.data());
  const auto writer =
      create_vectors(folder_.file("q.fbin"), {100, queries->info().dimension, ElementType::f32});
  writer->append(some.data(), 100);
  writer->finish();
  const auto truth = run((folder / "base.fbin").string(), folder_.file("q.fbin"), {.k = 100},
                         {l2_f32, nullptr, ElementType::f32});
  const auto published = read_groundtruth((folder / "gt100.ibin").string());
  const ResultRows rows{truth.ids.data(), truth.distances.data(), 100, 100};
  EXPECT_GE(recall_at_k(rows, published, 100), 0.9999);
  EXPECT_EQ(recall_at_k(rows, published, 10), 1.0);
}

}  // namespace
}  // namespace farvec::dataset
