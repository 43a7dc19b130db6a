#include "ssd_baseline/paged/change/hnsw_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tests/unit/ssd_baseline/paged/hnsw_fixture.h"

namespace farvec::paged {
namespace {

using namespace testing;

const auto kEvery = [](NodeId) { return true; };

class HnswWriterTest : public ::testing::Test {
 protected:
  std::unique_ptr<PagedHnsw> make(std::size_t count) {
    return make_paged(store_options(folder_), config_, rows_, count);
  }
  tests::TemporaryFolder folder_;
  const HnswConfig config_ = small_config();
  const Rows rows_{1000, config_};
  const Rows queries_{40, config_, 9};
};

TEST_F(HnswWriterTest, InsertsFromNothingInEveryMode) {
  for (const ReadMode mode : {ReadMode::sync, ReadMode::parallel, ReadMode::pipelined}) {
    const tests::TemporaryFolder folder;
    const auto hnsw = PagedHnsw::create(store_options(folder), config_, {});
    run_on_pages(hnsw->store(), [&](PageFetcher& fetcher) {
      HnswWriter writer(*hnsw, fetcher, {.reads = {.mode = mode}});
      for (NodeId id = 0; id < 1000; ++id) insert_row(writer, rows_, id);
      EXPECT_EQ(writer.written().inserted, 1000u);
      EXPECT_EQ(writer.written().retries, 0u);
      EXPECT_EQ(writer.written().left_out, 0u);
    });
    expect_sound(*hnsw, 1000);
    EXPECT_GT(recall_of(*hnsw, rows_, queries_, 40, kEvery), 0.97);
  }
}

TEST_F(HnswWriterTest, IsTheSameInEveryMode) {
  std::vector<std::vector<graph::Candidate>> found;
  std::vector<std::uint64_t> visited;
  for (const ReadMode mode : {ReadMode::sync, ReadMode::parallel, ReadMode::pipelined}) {
    const tests::TemporaryFolder folder;
    const auto hnsw = make_paged(store_options(folder), config_, rows_, 300);
    run_on_pages(hnsw->store(), [&](PageFetcher& fetcher) {
      HnswWriter writer(*hnsw, fetcher, {.reads = {.mode = mode}});
      for (NodeId id = 300; id < 500; ++id) insert_row(writer, rows_, id);
      visited.push_back(writer.counts().layers[0].visited);
      HnswSearcher searcher(*hnsw, fetcher);
      found.push_back(answer(searcher, queries_.row(0), 100));
    });
  }
  EXPECT_EQ(ids_of(found[0]), ids_of(found[1]));
  EXPECT_EQ(ids_of(found[0]), ids_of(found[2]));
  EXPECT_EQ(visited[0], visited[1]);
  EXPECT_EQ(visited[0], visited[2]);
}

TEST_F(HnswWriterTest, InsertedHalfIsFoundAsWellAsABuiltOne) {
  const tests::TemporaryFolder other;
  const auto built = make_paged(store_options(other), config_, rows_, 1000);
  const auto hnsw = make(500);
  run_on_pages(hnsw->store(), [&](PageFetcher& fetcher) {
    HnswWriter writer(*hnsw, fetcher);
    for (NodeId id = 500; id < 1000; ++id) insert_row(writer, rows_, id);
  });
  expect_sound(*hnsw, 1000);
  for (const std::uint32_t list : {10u, 20u, 40u}) {
    EXPECT_GE(recall_of(*hnsw, rows_, queries_, list, kEvery),
              recall_of(*built, rows_, queries_, list, kEvery) - 0.02);
  }
}

TEST_F(HnswWriterTest, RefusesWhatCannotBe) {
  const auto hnsw = make(100);
  run_on_pages(hnsw->store(), [&](PageFetcher& fetcher) {
    HnswWriter writer(*hnsw, fetcher);
    const auto code = [&](NodeId id, std::span<const std::byte> vector) {
      return writer.insert(id, vector, kPatient).status().code();
    };
    EXPECT_EQ(code(50, rows_.row(50)), StatusCode::failed_precondition);
    EXPECT_EQ(code(kInvalidNode, rows_.row(50)), StatusCode::invalid_argument);
    EXPECT_EQ(code(200, rows_.row(50).first(44)), StatusCode::invalid_argument);
    for (const float bad : {std::nanf(""), INFINITY, 1.5e19f}) {
      std::vector<float> vector(12, 1.0f);
      vector[11] = bad;
      EXPECT_EQ(code(200, std::as_bytes(std::span(vector))), StatusCode::invalid_argument);
    }
    EXPECT_EQ(writer.mark_deleted(100, kPatient).status().code(), StatusCode::not_found);
    EXPECT_EQ(writer.mark_deleted(3'000'000'000, kPatient).status().code(), StatusCode::not_found);
  });
  expect_sound(*hnsw, 100);
}

TEST_F(HnswWriterTest, IdsFromTheWholeRange) {
  const auto hnsw = make(100);
  const std::vector<NodeId> ids{1023,     1024,          1u << 20,    (1u << 20) - 1,
                                1u << 30, 0x7fffffff,    0x80000000u, kInvalidNode - 1,
                                100,      4'000'000'000, 3u << 30,    1'048'577};
  run_on_pages(hnsw->store(), [&](PageFetcher& fetcher) {
    HnswWriter writer(*hnsw, fetcher);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto done = writer.insert(ids[i], rows_.row(500 + i), kPatient);
      ASSERT_TRUE(done.ok()) << ids[i] << ": " << done.status().message();
    }
    HnswSearcher searcher(*hnsw, fetcher);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      EXPECT_EQ(answer(searcher, rows_.row(500 + i), 20).front().id, ids[i]);
      const auto again = writer.insert(ids[i], rows_.row(0), kPatient);
      EXPECT_EQ(again.status().code(), StatusCode::failed_precondition);
    }
  });
  expect_sound(*hnsw, 100 + ids.size());
}

TEST_F(HnswWriterTest, DeletedOnesAreNeverFound) {
  const auto hnsw = make(1000);
  const auto left = [](NodeId id) { return id % 3 == 0; };
  run_on_pages(hnsw->store(), [&](PageFetcher& fetcher) {
    HnswWriter writer(*hnsw, fetcher);
    for (NodeId id = 0; id < 1000; ++id) {
      if (!left(id)) delete_id(writer, id);
    }
    EXPECT_EQ(writer.mark_deleted(1, kPatient).status().code(), StatusCode::not_found);
  });
  expect_sound(*hnsw, 334);
  EXPECT_GT(recall_of(*hnsw, rows_, queries_, 40, left), 0.97);
}

TEST_F(HnswWriterTest, ADeletedIdMayComeBackWithAnotherVector) {
  const auto hnsw = make(200);
  run_on_pages(hnsw->store(), [&](PageFetcher& fetcher) {
    HnswWriter writer(*hnsw, fetcher);
    for (NodeId id = 0; id < 200; ++id) {
      delete_id(writer, id);
      ASSERT_TRUE(writer.insert(id, rows_.row(500 + id), kPatient).ok());
    }
    HnswSearcher searcher(*hnsw, fetcher);
    for (NodeId id = 0; id < 200; id += 9) {
      EXPECT_EQ(answer(searcher, rows_.row(500 + id), 20).front().id, id);
      const auto found = ids_of(answer(searcher, rows_.row(id), 200));
      EXPECT_EQ(std::set<NodeId>(found.begin(), found.end()).size(), found.size());
    }
  });
  expect_sound(*hnsw, 200);
}

TEST_F(HnswWriterTest, AllDeletedThenInsertedAgain) {
  const auto hnsw = make(50);
  run_on_pages(hnsw->store(), [&](PageFetcher& fetcher) {
    HnswWriter writer(*hnsw, fetcher);
    for (NodeId id = 0; id < 50; ++id) delete_id(writer, id);
    HnswSearcher searcher(*hnsw, fetcher);
    EXPECT_TRUE(answer(searcher, rows_.row(0), 10).empty());
    for (NodeId id = 100; id < 150; ++id) insert_row(writer, rows_, id);
    for (NodeId id = 100; id < 150; ++id) {
      EXPECT_EQ(answer(searcher, rows_.row(id), 20).front().id, id);
    }
  });
  expect_sound(*hnsw, 50);
}

TEST_F(HnswWriterTest, DuplicatesByTheHundred) {
  const auto hnsw = make(200);
  run_on_pages(hnsw->store(), [&](PageFetcher& fetcher) {
    HnswWriter writer(*hnsw, fetcher);
    for (NodeId id = 1000; id < 1600; ++id) {
      ASSERT_TRUE(writer.insert(id, rows_.row(999), kPatient).ok());
    }
    HnswSearcher searcher(*hnsw, fetcher);
    const auto found = answer(searcher, rows_.row(999), 30);
    ASSERT_EQ(found.size(), 30u);
    for (const auto& c : found) EXPECT_EQ(c.distance, 0.0f);
    for (NodeId id = 0; id < 200; id += 11) {
      EXPECT_EQ(answer(searcher, rows_.row(id), 30).front().id, id);
    }
  });
  expect_sound(*hnsw, 800);
}

TEST_F(HnswWriterTest, IsThereAfterAReopening) {
  {
    const auto hnsw = make(400);
    run_on_pages(hnsw->store(), [&](PageFetcher& fetcher) {
      HnswWriter writer(*hnsw, fetcher);
      for (NodeId id = 400; id < 600; ++id) insert_row(writer, rows_, id);
      for (NodeId id = 0; id < 100; ++id) delete_id(writer, id);
    });
  }
  const auto hnsw = PagedHnsw::open(store_options(folder_));
  expect_sound(*hnsw, 500);
  const auto there = [](NodeId id) { return id >= 100 && id < 600; };
  EXPECT_GT(recall_of(*hnsw, rows_, queries_, 40, there), 0.97);
}

}  // namespace
}  // namespace farvec::paged
