#include "search/index/row_vertices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <thread>
#include <vector>

#include "base/random.h"

namespace farvec::search {
namespace {

/// Row of each vertex, at random.
std::vector<NodeId> permutation(std::size_t count) {
  std::vector<NodeId> rows(count);
  std::iota(rows.begin(), rows.end(), NodeId{0});
  Random random(4);
  for (std::size_t i = count; i > 1; --i) std::swap(rows[i - 1], rows[random.below(i)]);
  return rows;
}

void learn_batch(RowVertices& vertices, const std::vector<NodeId>& rows,
                 const RowVertices::Batch& batch) {
  for (NodeId v = batch.first; v < batch.first + batch.count; ++v) vertices.learn(v, rows[v]);
  vertices.finish(batch);
}

TEST(RowVertices, AreTheInverseOfTheRowsOfVertices) {
  for (const std::size_t count : {1u, 63u, 64u, 65u, 1000u}) {
    const std::vector<NodeId> rows = permutation(count);
    RowVertices vertices(count);
    EXPECT_EQ(vertices.dram_bytes(), 0u);
    vertices.open();
    EXPECT_GE(vertices.dram_bytes(), count * sizeof(NodeId));
    std::size_t turns = 0;
    for (; !vertices.known(); ++turns) learn_batch(vertices, rows, vertices.next());
    EXPECT_EQ(turns, (count + graph::kMaxWidth - 1) / graph::kMaxWidth) << "each batch once";
    EXPECT_EQ(vertices.next().count, 0u);
    EXPECT_TRUE(vertices.check().ok());
    for (NodeId v = 0; v < count; ++v) EXPECT_EQ(vertices.vertex_of(rows[v]), v);
  }
}

TEST(RowVertices, ABatchThatWasNotFinishedComesAgain) {
  const std::vector<NodeId> rows = permutation(300);
  RowVertices vertices(300);
  vertices.open();
  const RowVertices::Batch failed = vertices.next();
  for (int i = 0; i < 4; ++i) learn_batch(vertices, rows, vertices.next());
  EXPECT_FALSE(vertices.known());
  const RowVertices::Batch again = vertices.next();
  EXPECT_EQ(again.first, failed.first);
  learn_batch(vertices, rows, again);
  learn_batch(vertices, rows, failed);  // a second time does no harm
  EXPECT_TRUE(vertices.known());
  EXPECT_TRUE(vertices.check().ok());
}

TEST(RowVertices, TwoVerticesOfOneRowAreDataLoss) {
  std::vector<NodeId> rows = permutation(200);
  rows[3] = rows[150];
  RowVertices vertices(200);
  vertices.open();
  while (!vertices.known()) learn_batch(vertices, rows, vertices.next());
  EXPECT_EQ(vertices.check().code(), StatusCode::data_loss);
}

TEST(RowVertices, ManyThreadsLearnThemTogether) {
  const std::vector<NodeId> rows = permutation(20'000);
  RowVertices vertices(rows.size());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      vertices.open();
      while (!vertices.known()) {
        const RowVertices::Batch batch = vertices.next();
        if (batch.count > 0) learn_batch(vertices, rows, batch);
      }
      for (NodeId v = 0; v < rows.size(); ++v) ASSERT_EQ(vertices.vertex_of(rows[v]), v);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(vertices.check().ok());
}

}  // namespace
}  // namespace farvec::search
