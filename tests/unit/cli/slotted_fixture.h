// Small indexes in slotted pages, and cores that search them on a disk that may fail.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "disk/faulty_queue.h"
#include "disk/uring_queue.h"
#include "indexing/slotted_recipe.h"
#include "layout/index/index_directory.h"
#include "search/core/batch_search.h"
#include "search/core/core_loop.h"
#include "search/disk/disk_records.h"
#include "search/disk/slotted_core.h"
#include "search/disk/slotted_disk.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::cli {

using layout::PayloadKind;
using slotted::PoolKind;
using slotted::SearchKind;
using slotted::SlottedSearchOptions;
using slotted::SlottedStore;

inline constexpr std::size_t kCount = 3000;
inline constexpr std::size_t kQueries = 40;
inline constexpr std::uint32_t kDimension = 27;  // vectors lie across pages
inline constexpr std::size_t kTwice = 200;  // vectors, the last of which are copies of the first
inline constexpr std::uint32_t kList = 150;

/// Vectors, and indexes of them in slotted pages; built once.
class SlottedIndexes {
 public:
  SlottedIndexes() {
    Random random(11);
    std::vector<float> centers(16 * kDimension);
    for (float& c : centers) c = static_cast<float>(3 * random.normal());
    for (std::size_t i = 0; i < kCount + kQueries; ++i) {
      const std::size_t center = random.below(16);
      for (std::uint32_t d = 0; d < kDimension; ++d) {
        values_.push_back(centers[center * kDimension + d] + static_cast<float>(random.normal()));
      }
    }
    std::copy_n(values_.begin(), kTwice * kDimension,
                values_.begin() + (kCount - kTwice) * kDimension);
    for (const PayloadKind payload : {PayloadKind::code, PayloadKind::vector}) {
      build(std::string(to_string(payload)),
            {.payload = payload, .extension_bits = 6, .rerank = false});
    }
    build("rerank", {.payload = PayloadKind::code, .extension_bits = 1, .rerank = true});
  }

  VectorView rows() const {
    return packed_view(values_.data(), kCount, kDimension, ElementType::f32);
  }
  VectorView queries() const {
    return packed_view(values_.data() + kCount * kDimension, kQueries, kDimension,
                       ElementType::f32);
  }
  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }

 private:
  void build(const std::string& name, indexing::SlottedRecipe recipe) {
    recipe.code_bits = 2;
    graph::VamanaOptions options;
    options.degree = 20;
    options.list = 50;
    options.threads = 2;
    options.quiet = true;
    const indexing::BuiltGraph built = indexing::build_slotted_graph(
        {indexing::describe_source({"clusters.fbin", "clusters"}, rows(), Metric::l2), rows()},
        recipe, options);
    indexing::write_slotted(path(name), built, recipe, {.threads = 2, .quiet = true});
  }

  std::vector<float> values_;
  tests::TemporaryFolder folder_;
};

inline const SlottedIndexes& indexes() {
  static const SlottedIndexes built;
  return built;
}

/// One query at a time or many, each with its own outcome.
class Queries final : public search::TaskFeed {
 public:
  struct Shape {
    std::uint32_t list = kList;
    std::uint32_t width = 4;
    std::uint32_t k = 10;
    double patience_us = 60e6;
    const RowSet* out = nullptr;
  };
  static search::SearchParameters parameters_of(const Shape& shape) {
    const search::GraphChoice choice{.list = shape.list, .width = shape.width};
    return search::SearchParameters::make(shape.k, choice).value();
  }
  Queries(VectorView rows, const Shape& shape)
      : rows_(rows),
        shape_(shape),
        tasks_(rows.count),
        ids_(rows.count * shape.k),
        distances_(rows.count * shape.k) {
    for (std::size_t q = 0; q < rows.count; ++q) {
      search::SearchTask& task = tasks_[q];
      task.request.query = rows.row(q);
      task.request.parameters = parameters_of(shape);
      task.request.out = shape.out;
      task.answer.ids = &ids_[q * shape.k];
      task.answer.distances = &distances_[q * shape.k];
    }
  }
  search::SearchTask* next() override {
    if (next_ == tasks_.size()) return nullptr;
    tasks_[next_].request.deadline = now_ticks() + us_to_ticks(shape_.patience_us);
    return &tasks_[next_++];
  }
  bool finished() override { return next_ == tasks_.size(); }
  void done(search::SearchTask& task) override {
    ++ended;
    totals += task.answer.counts;
  }
  void idle() override {}

  std::size_t count(StatusCode code) const {
    return static_cast<std::size_t>(
        std::count_if(tasks_.begin(), tasks_.end(),
                      [&](const auto& task) { return task.answer.status.code() == code; }));
  }
  const std::vector<std::uint64_t>& ids() const { return ids_; }
  const std::vector<float>& distances() const { return distances_; }
  std::span<const std::uint64_t> found(std::size_t query) const {
    return {&ids_[query * shape_.k], tasks_[query].answer.found};
  }
  /// What the results of a query should be if these were its candidates.
  std::vector<std::pair<float, NodeId>> ranked(std::size_t query) const {
    const std::span<const std::uint64_t> ids = found(query);
    return rank(rows_.row(query), {ids.begin(), ids.end()});
  }
  /// A vector as near as one of the ten nearest is a hit.
  double recall() const {
    std::vector<NodeId> all(kCount);
    std::iota(all.begin(), all.end(), NodeId{0});
    double found = 0;
    for (std::size_t q = 0; q < rows_.count; ++q) {
      const float reach = rank(rows_.row(q), all)[9].first;
      for (const auto& [distance, id] : ranked(q)) found += distance <= reach ? 1 : 0;
    }
    return found / static_cast<double>(rows_.count * 10);
  }

  std::size_t ended = 0;
  search::QueryCounts totals;

 private:
  static std::vector<std::pair<float, NodeId>> rank(const std::byte* query,
                                                    const std::vector<NodeId>& ids) {
    const auto kernel = distance::pair_kernel(Metric::l2, ElementType::f32, kDimension);
    std::vector<std::pair<float, NodeId>> all;
    for (const NodeId id : ids) {
      all.emplace_back(kernel(query, indexes().rows().row(id), kDimension), id);
    }
    std::sort(all.begin(), all.end());
    return all;
  }

  const VectorView rows_;
  const Shape shape_;
  std::size_t next_ = 0;
  std::vector<search::SearchTask> tasks_;
  std::vector<std::uint64_t> ids_;
  std::vector<float> distances_;
};

/// The pages in a file that a test may damage, and one core over it.
class SlottedSearchTest : public ::testing::Test {
 protected:
  explicit SlottedSearchTest(const std::string& payload = "code")
      : directory_(layout::IndexDirectory::open(indexes().path(payload))),
        index_(slotted::load_slotted_index(directory_)) {
    std::filesystem::copy(directory_.region_path(layout::kRecordsRegion), pages());
  }

  std::string pages() const { return folder_.file("pages"); }
  SlottedSearchOptions options(PoolKind pool = PoolKind::record) const {
    return {.pool = pool, .slots = 8, .list = kList};
  }
  std::unique_ptr<search::SearchCore> core(const SlottedSearchOptions& options) {
    return std::move(cores_at(pages(), options).front());
  }
  using Cores = std::vector<std::unique_ptr<search::SearchCore>>;
  /// With a pool that they share; `path` as open_disk_records() takes it.
  Cores cores_at(const std::string& path, const SlottedSearchOptions& options) {
    const search::SlottedDisk disk(directory_, index_,
                                   {.path = path, .searches = options, .load = {.quiet = true}});
    Cores cores;
    for (std::uint32_t c = 0; c < options.cores; ++c) {
      cores.push_back(std::make_unique<search::CoreLoop>(
          search::CoreFibers{disk.slots()}, [&](coroutines::Scheduler& scheduler) {
            return disk.make_part({disk::DiskThread::any}, scheduler);
          }));
    }
    return cores;
  }
  Queries run(search::SearchCore& core, std::uint32_t width = 4) {
    return run(core, {.width = width});
  }
  Queries run(search::SearchCore& core, const Queries::Shape& shape) {
    Queries queries(indexes().queries(), shape);
    core.run(queries);
    EXPECT_EQ(queries.ended, kQueries);
    return queries;
  }
  /// Every query five times.
  static search::BatchOutcome run(const std::vector<std::unique_ptr<search::SearchCore>>& cores) {
    const search::BatchParameters parameters{.search = Queries::parameters_of({}), .repeats = 5};
    dataset::GroundTruth results;
    search::BatchOutcome outcome =
        search::run_batch(cores, indexes().queries(), parameters, results);
    EXPECT_EQ(outcome.latency_us.size(), kQueries * 5);
    return outcome;
  }
  /// With faults in the disk; faulty_ is its queue.
  std::unique_ptr<search::SearchCore> faulty_core(const SlottedSearchOptions& options) {
    disk::DiskFiles files{std::make_shared<disk::DiskFile>(pages())};
    if (options.rerank > 0) files.push_back(search::open_disk_vectors(directory_, ""));
    auto queue = std::make_unique<disk::FaultyQueue>(
        std::make_unique<disk::UringQueue>(
            std::move(files),
            disk::UringOptions{.capacity = SlottedStore::reads_per_core(options)}),
        disk::DiskFaults{});
    faulty_ = queue.get();
    return search::make_slotted_core(
        std::make_shared<SlottedStore>(index_, directory_.load_page_map({.quiet = true}), options),
        std::make_unique<disk::DiskEngine>(std::move(queue)));
  }
  std::string error_of(const SlottedSearchOptions& options) {
    try {
      (void)core(options);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }

  tests::TemporaryFolder folder_;
  const layout::IndexDirectory directory_;
  const slotted::SlottedIndex index_;
  disk::FaultyQueue* faulty_ = nullptr;
};

class VectorPayloadTest : public SlottedSearchTest {
 protected:
  VectorPayloadTest() : SlottedSearchTest("vector") {}
};

}  // namespace farvec::cli
