// Searches of vectors of bits, in each layout and from each kind of tier, beside a plain loop.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "distance/reference.h"
#include "indexing/cluster_recipe.h"
#include "indexing/graph_recipe.h"
#include "search/core/search_core.h"
#include "search/kinds/index_loader.h"
#include "tests/unit/search/task_list_feed.h"
#include "tests/unit/temporary_folder.h"
#include "transport/mapped/mapped_endpoint.h"

namespace farvec::search {
namespace {

constexpr std::size_t kBitRows = 300;
constexpr std::size_t kBitQueries = 12;
constexpr std::uint32_t kNearestBits = 10;
constexpr std::uint32_t kOddDimensions[] = {1, 7, 9, 16, 65, 1000};
const layout::LoadOptions kLoad{.threads = 1, .quiet = true};
const layout::WriteOptions kWrite{.threads = 1, .quiet = true};

/// Every fourth row is equal to another one, and every twentieth has no bit that is set.
std::vector<std::byte> seeded_rows(std::uint32_t dimension) {
  Random random(dimension);
  const std::size_t bytes = packed_bytes(ElementType::b1, dimension);
  std::vector<std::byte> rows(kBitRows * bytes);
  for (std::size_t i = 0; i < kBitRows; ++i) {
    std::byte* const row = &rows[i * bytes];
    if (i % 20 == 0) continue;
    if (i % 4 == 0) {
      std::memcpy(row, row - 3 * bytes, bytes);
      continue;
    }
    for (std::uint32_t d = 0; d < dimension; ++d) {
      const bool set = random.below(d % 4 + 2) == 0;
      row[d / 8] |= static_cast<std::byte>(unsigned{set} << (d % 8));
    }
  }
  return rows;
}

/// Of which only every 25th has bits that are set.
std::vector<std::byte> mostly_empty_rows(std::uint32_t dimension) {
  std::vector<std::byte> rows = seeded_rows(dimension);
  const std::size_t bytes = packed_bytes(ElementType::b1, dimension);
  for (std::size_t i = 0; i < kBitRows; ++i) {
    std::byte* const row = &rows[i * bytes];
    if (i % 25 != 1) std::fill(row, row + bytes, std::byte{0});
  }
  return rows;
}

using Neighbors = std::vector<std::pair<float, std::uint64_t>>;

class BitIndex {
 public:
  BitIndex(Metric metric, std::uint32_t dimension)
      : BitIndex(metric, dimension, seeded_rows(dimension)) {}
  BitIndex(Metric metric, std::uint32_t dimension, std::vector<std::byte> rows)
      : metric_(metric), dimension_(dimension), rows_(std::move(rows)) {}

  void write_graph(layout::LayoutKind layout) {
    graph::VamanaOptions options;
    options.degree = 16;
    options.list = 40;
    options.quiet = true;
    const auto built = indexing::build_graph(source(), options);
    indexing::write_graph(path(), built, {.layout = layout}, kWrite);
    load();
  }
  void write_clusters(layout::ClusterLayoutKind layout) {
    cluster::ClusteringOptions options;
    options.clusters = 12;
    options.replicas = 3;
    options.quiet = true;
    const auto built = indexing::build_clusters(source(), options);
    indexing::write_clusters(path(), built, {.layout = layout}, kWrite);
    load();
  }

  /// By loads and by reads.
  std::vector<std::unique_ptr<SearchCore>> cores() const {
    SearchCoreOptions options;
    options.slots = 3;
    std::vector<std::unique_ptr<SearchCore>> all;
    all.push_back(make_core(*index_, region_.span(), options));
    transport::RegionSet set;
    set.push_back(transport::MappedRegion::borrow(region_.span()));
    all.push_back(make_core(*index_,
                            std::make_unique<transport::MappedEndpoint>(
                                std::make_shared<const transport::RegionSet>(std::move(set)),
                                transport::MappedOptions{}),
                            options));
    return all;
  }

  const std::byte* query(std::size_t q) const { return row(q * 20); }
  const std::byte* row(std::size_t i) const { return view().row(i); }
  Neighbors nearest(std::size_t q) const {
    Neighbors all;
    for (std::size_t i = 0; i < kBitRows; ++i) {
      const double distance = distance::reference::distance(metric_, ElementType::b1, query(q),
                                                            view().row(i), dimension_);
      all.emplace_back(static_cast<float>(distance), i);
    }
    std::sort(all.begin(), all.end());
    all.resize(kNearestBits);
    return all;
  }

 private:
  VectorView view() const {
    return packed_view(rows_.data(), kBitRows, dimension_, ElementType::b1);
  }
  indexing::Source source() const {
    return {indexing::describe_source({"bits.b1bin", "bits"}, view(), metric_), view()};
  }
  std::filesystem::path path() const { return folder_.path() / "index"; }
  void load() {
    const auto directory = layout::IndexDirectory::open(path());
    region_ = directory.load_region(layout::kRecordsRegion, kLoad);
    index_ = std::make_unique<SearchIndex>(load_search_index(directory, kLoad));
  }

  const Metric metric_;
  const std::uint32_t dimension_;
  const std::vector<std::byte> rows_;
  const tests::TemporaryFolder folder_;
  HugeBuffer region_;
  std::unique_ptr<SearchIndex> index_;
};

/// A distance of jaccard is a quotient, which the kernel takes in floats.
void expect_nearest(const TaskListFeed::Task& task, const Neighbors& wanted) {
  ASSERT_TRUE(task.answer.status.ok()) << task.answer.status.message();
  ASSERT_EQ(task.answer.found, wanted.size());
  for (std::uint32_t i = 0; i < task.answer.found; ++i) {
    EXPECT_EQ(task.id_room[i], wanted[i].second) << i;
    EXPECT_FLOAT_EQ(task.distance_room[i], wanted[i].first) << i;
  }
}

template <typename Choice>
void expect_all_nearest(const BitIndex& small, const Choice& choice, bool exact) {
  for (const auto& core : small.cores()) {
    TaskListFeed feed(kBitQueries, 60e6);
    for (std::size_t q = 0; q < kBitQueries; ++q) {
      feed.tasks()[q].request.query = small.query(q);
      feed.tasks()[q].request.parameters = SearchParameters::make(kNearestBits, choice).value();
      feed.tasks()[q].request.exact = exact;
    }
    core->run(feed);
    for (std::size_t q = 0; q < kBitQueries; ++q) expect_nearest(feed.tasks()[q], small.nearest(q));
  }
}

class BitsSearch : public testing::TestWithParam<std::tuple<Metric, std::uint32_t>> {
 protected:
  Metric metric() const { return std::get<0>(GetParam()); }
  std::uint32_t dimension() const { return std::get<1>(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(Odd, BitsSearch,
                         testing::Combine(testing::Values(Metric::hamming, Metric::jaccard),
                                          testing::ValuesIn(kOddDimensions)),
                         [](const auto& kind) {
                           return std::string(to_string(std::get<0>(kind.param))) +
                                  std::to_string(std::get<1>(kind.param));
                         });

/// A list with room for every row finds them by distance, and equal ones by id, whatever the order
/// in which vertices are met. An equal row that no edge leads to would be missed.
TEST_P(BitsSearch, GraphsFindTheNearestByDistanceThenId) {
  for (const layout::LayoutKind layout :
       {layout::LayoutKind::csr, layout::LayoutKind::packed, layout::LayoutKind::padded}) {
    SCOPED_TRACE(to_string(layout));
    BitIndex small(metric(), dimension());
    small.write_graph(layout);
    expect_all_nearest(small, GraphChoice{.list = kBitRows}, false);
    expect_all_nearest(small, GraphChoice{.list = kNearestBits}, true);
  }
}

TEST_P(BitsSearch, ClustersFindTheNearestByDistanceThenId) {
  using enum layout::ClusterLayoutKind;
  for (const layout::ClusterLayoutKind layout : {coupled, decoupled, grouped, grouped_inline}) {
    SCOPED_TRACE(to_string(layout));
    BitIndex small(metric(), dimension());
    small.write_clusters(layout);
    expect_all_nearest(small, ProbeChoice{.clusters = 12}, false);
    expect_all_nearest(small, ProbeChoice{.clusters = 1}, true);
  }
}

/// By jaccard, rows without bits are as far from each other as from all rows. Edges between them
/// must not take the places of edges to the few others.
TEST(EmptyBits, RowsAreFoundAmongManyThatAreEmpty) {
  for (const Metric metric : {Metric::hamming, Metric::jaccard}) {
    BitIndex small(metric, 65, mostly_empty_rows(65));
    small.write_graph(layout::LayoutKind::csr);
    for (const auto& core : small.cores()) {
      TaskListFeed feed(kBitRows / 25, 60e6);
      for (std::size_t q = 0; q < feed.tasks().size(); ++q) {
        feed.tasks()[q].request.query = small.row(25 * q + 1);
        feed.tasks()[q].request.parameters =
            SearchParameters::make(kNearestBits, GraphChoice{.list = 20}).value();
      }
      core->run(feed);
      for (std::size_t q = 0; q < feed.tasks().size(); ++q) {
        ASSERT_TRUE(feed.tasks()[q].answer.status.ok());
        EXPECT_EQ(feed.tasks()[q].distance_room[0], 0) << to_string(metric) << " " << q;
      }
    }
  }
}

TEST(BitsRefused, LayoutsWithCodesAre) {
  BitIndex small(Metric::hamming, 64);
  EXPECT_THROW(small.write_graph(layout::LayoutKind::inlined), Error);
  EXPECT_THROW(small.write_clusters(layout::ClusterLayoutKind::coded), Error);
}

}  // namespace
}  // namespace farvec::search
