// Rows are rounded where that leaves the near ones near, and graphs of rounded rows find as much.
#include "indexing/rows_to_link.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <vector>

#include "base/random.h"
#include "base/stored_form.h"
#include "distance/distance.h"
#include "graph/adjacency_source.h"
#include "graph/beam_search.h"
#include "graph/stored_row_scorer.h"
#include "indexing/graph_recipe.h"
#include "tests/unit/indexing/odd_rows.h"

namespace farvec::indexing {
namespace {

constexpr std::size_t kManyRows = 3000;
constexpr std::uint32_t kWidth = 32;

dataset::VectorSet made(const RowMaker& make, ElementType type = ElementType::f32,
                        std::size_t count = kManyRows, std::uint32_t dimension = kWidth) {
  dataset::VectorSet rows(count, dimension, type);
  Random random(9);
  std::vector<float> row(dimension);
  for (std::size_t i = 0; i < count; ++i) {
    make(random, row);
    distance::narrow(row.data(), type, dimension, rows.mutable_row(i));
  }
  return rows;
}

Source source_of(const dataset::VectorSet& rows, Metric metric) {
  return {describe_source({"made", "made"}, rows.view(), metric), rows.view()};
}

TEST(RowsToLink, PlainRowsAreRounded) {
  for (const ElementType type : {ElementType::f32, ElementType::f16}) {
    const dataset::VectorSet rows = made(fill_normal, type);
    const RowsToLink l2(source_of(rows, Metric::l2), 2);
    ASSERT_TRUE(l2.is_rounded());
    EXPECT_EQ(l2.rows().type, ElementType::u8);
    EXPECT_EQ(l2.rows().count, kManyRows);
    EXPECT_EQ(l2.metric(), Metric::l2);
    const RowsToLink products(source_of(rows, Metric::inner_product), 2);
    ASSERT_TRUE(products.is_rounded());
    EXPECT_EQ(products.rows().type, ElementType::i8);
    EXPECT_EQ(products.metric(), Metric::inner_product);
  }
}

/// The least element of all becomes 0 and the largest 127; products keep their zero.
TEST(RowsToLink, TheWholeRangeIsUsed) {
  const dataset::VectorSet rows = made(fill_normal);
  const std::span<const float> values(reinterpret_cast<const float*>(rows.view().row(0)),
                                      kManyRows * kWidth);
  const auto [least, most] = std::ranges::minmax(values);
  const RowsToLink l2(source_of(rows, Metric::l2), 1);
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(l2.rows().row(0));
  const RowsToLink products(source_of(rows, Metric::inner_product), 1);
  const auto* const integers = reinterpret_cast<const std::int8_t*>(products.rows().row(0));
  const float factor = 127 / std::max(-least, most);
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(bytes[i], 127 * (values[i] - least) / (most - least), 0.501);
    EXPECT_NEAR(integers[i], values[i] * factor, 0.501);
  }
}

TEST(RowsToLink, UnitVectorsAreComparedByTheirDistances) {
  dataset::VectorSet rows = made([](Random& random, std::vector<float>& row) {
    fill_normal(random, row);
    float squares = 0;
    for (const float value : row) squares += value * value;
    for (float& value : row) value /= std::sqrt(squares);
  });
  const RowsToLink link(source_of(rows, Metric::cosine), 2);
  EXPECT_TRUE(link.is_rounded());
  EXPECT_EQ(link.metric(), Metric::l2);
  // A zero row is far from all others, which integers do not say.
  std::memset(rows.mutable_row(17), 0, kWidth * sizeof(float));
  const RowsToLink with_zero(source_of(rows, Metric::cosine), 2);
  EXPECT_FALSE(with_zero.is_rounded());
  EXPECT_EQ(with_zero.metric(), Metric::cosine);
  EXPECT_TRUE(RowsToLink(source_of(rows, Metric::l2), 2).is_rounded());
}

TEST(RowsToLink, RowsThatRoundingMixesUpStayAsTheyAre) {
  const auto stay = [](const RowMaker& make) {
    const dataset::VectorSet rows = made(make, ElementType::f32, kOddCount, kOddDimension);
    const RowsToLink link(source_of(rows, Metric::l2), 2);
    EXPECT_EQ(link.rows().data, rows.view().data);
    return !link.is_rounded();
  };
  for (const OddRows& odd : odd_rows()) {
    if (odd.name != "one wide coordinate") continue;
    EXPECT_TRUE(stay(odd.make)) << odd.name;
  }
  // A tenth of the rows lies so close together that integers do not tell them apart.
  std::size_t made_rows = 0;
  EXPECT_TRUE(stay([&](Random& random, std::vector<float>& row) {
    fill_normal(random, row);
    if (made_rows++ % 10 != 0) return;
    for (float& value : row) value *= 0.001f;
  }));
}

TEST(RowsToLink, SomeRowsAreNotRounded) {
  const dataset::VectorSet few = made(fill_normal, ElementType::f32, 999);
  EXPECT_FALSE(RowsToLink(source_of(few, Metric::l2), 2).is_rounded());
  const dataset::VectorSet equal =
      made([](Random&, std::vector<float>& row) { std::ranges::fill(row, 0.25f); });
  EXPECT_FALSE(RowsToLink(source_of(equal, Metric::l2), 2).is_rounded());
  const dataset::VectorSet zero =
      made([](Random&, std::vector<float>& row) { std::ranges::fill(row, 0.0f); });
  EXPECT_FALSE(RowsToLink(source_of(zero, Metric::inner_product), 2).is_rounded());
  const dataset::VectorSet bytes = made(fill_normal, ElementType::i8);
  EXPECT_FALSE(RowsToLink(source_of(bytes, Metric::l2), 2).is_rounded());
  const dataset::VectorSet none(0, kWidth, ElementType::f32);
  EXPECT_FALSE(RowsToLink(source_of(none, Metric::l2), 2).is_rounded());
}

/// Numbers of the nearest rows of a row that a search of the graph finds, by the rows themselves.
double recall_of(const BuiltGraph& built, Metric metric) {
  const VectorView& rows = built.source.rows;
  const auto pair = distance::pair_kernel(metric, rows.type, rows.dimension);
  const auto many = distance::many_kernel(metric, rows.type, rows.dimension);
  graph::BeamParameters parameters;
  parameters.list = 30;
  parameters.max_degree = built.graph.row_capacity();
  parameters.node_count = static_cast<std::uint32_t>(rows.count);
  graph::BeamScratch scratch;
  graph::AdjacencySource source{built.graph};
  std::size_t found = 0;
  constexpr std::size_t kAsked = 200;
  for (std::size_t q = 0; q < kAsked; ++q) {
    const auto* const query = rows.row(q * rows.count / kAsked);
    std::vector<float> all(rows.count);
    for (std::size_t i = 0; i < rows.count; ++i) all[i] = pair(query, rows.row(i), rows.dimension);
    std::nth_element(all.begin(), all.begin() + 9, all.end());
    const graph::StoredRowScorer scorer{rows, query, pair, many};
    EXPECT_TRUE(
        graph::beam_search(source, scorer, {&built.graph.entry, 1}, parameters, scratch).ok());
    for (std::uint32_t i = 0; i < scratch.results.size(); ++i) {
      found += pair(query, rows.row(scratch.results[i].id), rows.dimension) <= all[9] ? 1 : 0;
    }
  }
  return static_cast<double>(found) / (10 * kAsked);
}

TEST(RowsToLink, GraphsOfRoundedRowsFindAsMuch) {
  graph::VamanaOptions options;
  options.degree = 24;
  options.list = 48;
  options.threads = 2;
  options.quiet = true;
  for (const Metric metric : {Metric::l2, Metric::inner_product}) {
    const dataset::VectorSet rows = made(fill_normal, ElementType::f32, kManyRows, 16);
    const Source source = source_of(rows, metric);
    ASSERT_TRUE(RowsToLink(source, 2).is_rounded());
    const BuiltGraph by_rows = build_graph(source, options);
    const BuiltGraph rounded = build_graph(source, options, LinkBy::rounded);
    EXPECT_EQ(rounded.source.rows.data, rows.view().data);
    EXPECT_EQ(rounded.source.manifest.metric, metric);
    EXPECT_GE(recall_of(rounded, metric), recall_of(by_rows, metric) - 0.01) << to_string(metric);
    options.threads = 1;
    const BuiltGraph again = build_graph(source, options, LinkBy::rounded);
    for (std::size_t v = 0; v < rows.count(); ++v) {
      ASSERT_TRUE(std::ranges::equal(again.graph.neighbors(v), rounded.graph.neighbors(v)));
    }
  }
}

}  // namespace
}  // namespace farvec::indexing
