// Seeded rows, a folder for indexes of them, and what searches of one must find.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "base/random.h"
#include "distance/distance.h"
#include "indexing/source.h"
#include "layout/index/index_directory.h"
#include "search/kinds/index_loader.h"
#include "tests/unit/search/task_list_feed.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::indexing {

inline constexpr std::uint32_t kDimension = 24;
inline constexpr std::size_t kCount = 2000;
inline constexpr std::size_t kQueries = 60;
inline const layout::LoadOptions kLoad{.threads = 2, .quiet = true};
inline const layout::WriteOptions kWrite{.threads = 2, .quiet = true};

inline bool same_bytes(const std::byte* a, const std::byte* b, std::size_t bytes) {
  return std::memcmp(a, b, bytes) == 0;
}

class RecipeTest : public ::testing::Test {
 protected:
  RecipeTest() {
    Random random(3);
    for (std::size_t i = 0; i < kCount * kDimension; ++i) {
      values_.push_back(static_cast<std::uint8_t>(random.below(64) + 3 * (i / kDimension % 7)));
    }
  }

  VectorView rows() const {
    return packed_view(values_.data(), kCount, kDimension, ElementType::u8);
  }
  Source source() const {
    return {describe_source({"small.u8bin", "small"}, rows(), Metric::l2), rows()};
  }
  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }
  layout::IndexDirectory open(const std::string& name) const {
    auto directory = layout::IndexDirectory::open(path(name));
    directory.verify(kLoad);
    return directory;
  }

  /// Queries are rows; who feeds them says what to search.
  search::TaskListFeed queries() const {
    search::TaskListFeed feed(kQueries, 60e6);
    for (std::size_t q = 0; q < kQueries; ++q) feed.tasks()[q].request.query = query(q);
    return feed;
  }
  /// Distances of the k nearest rows, ascending.
  std::vector<float> nearest(std::size_t q, std::size_t k) const {
    const auto kernel = distance::pair_kernel(Metric::l2, ElementType::u8, kDimension);
    std::vector<float> all(kCount);
    for (std::size_t i = 0; i < kCount; ++i) all[i] = kernel(query(q), rows().row(i), kDimension);
    std::sort(all.begin(), all.end());
    all.resize(k);
    return all;
  }
  /// A result as near as one of the k nearest is a hit.
  double recall(search::TaskListFeed& feed) const {
    std::size_t hits = 0;
    for (std::size_t q = 0; q < kQueries; ++q) {
      const search::TaskListFeed::Task& task = feed.tasks()[q];
      EXPECT_TRUE(task.answer.status.ok()) << task.answer.status.message();
      const float reach = nearest(q, task.request.parameters.k()).back();
      for (std::uint32_t i = 0; i < task.answer.found; ++i)
        hits += task.distance_room[i] <= reach ? 1 : 0;
    }
    return static_cast<double>(hits) / (kQueries * 10);
  }

 private:
  const std::byte* query(std::size_t q) const { return rows().row(q * 31); }

  std::vector<std::uint8_t> values_;
  tests::TemporaryFolder folder_;
};

}  // namespace farvec::indexing
