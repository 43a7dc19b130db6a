// Searches of indexes that stand by themselves, among the rows that meet a condition: each layout,
// on tiers that load and on tiers that read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "attributes/condition.h"
#include "base/random.h"
#include "dataset/vector_set.h"
#include "distance/distance.h"
#include "indexing/cluster_recipe.h"
#include "indexing/graph_recipe.h"
#include "indexing/slotted_recipe.h"
#include "layout/collection/index_attributes.h"
#include "search/core/batch_search.h"
#include "search/filter/asked_condition.h"
#include "search/index/row_attributes.h"
#include "search/kinds/index_loader.h"
#include "tests/unit/message_of.h"
#include "tests/unit/temporary_folder.h"
#include "tiers/index_on_tier.h"

namespace farvec::tiers {
namespace {

using layout::Value;
using search::FilterPlan;
using ::testing::HasSubstr;

constexpr std::uint32_t kRows = 400;
constexpr std::uint32_t kDimension = 12;
constexpr std::uint32_t kQueries = 6;
constexpr std::uint32_t kNeighbours = 10;

struct Case {
  std::string layout;
  std::string tier;
};

std::string name_of(const Case& one) {
  std::string name = one.layout + "_" + one.tier;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '-' || c == ':'; }, '_');
  return name;
}

dataset::VectorSet random_rows(std::uint64_t seed, std::size_t count) {
  Random random(seed);
  dataset::VectorSet rows(count, kDimension, ElementType::f32);
  for (std::size_t i = 0; i < count; ++i) {
    auto* const row = reinterpret_cast<float*>(rows.mutable_row(i));
    for (std::uint32_t d = 0; d < kDimension; ++d) row[d] = static_cast<float>(random.uniform());
  }
  return rows;
}

class FilteredIndex : public ::testing::TestWithParam<Case> {
 protected:
  FilteredIndex() {
    const layout::Manifest written = build();
    layout::Tuples tuples;
    for (NodeId row = 0; row < kRows; ++row) tuples.append(schema_, values_of(row));
    layout::write_index_attributes(path(), written, schema_, tuples.view());
    directory_.emplace(layout::IndexDirectory::open(path()));
    index_.emplace(search::load_search_index(*directory_, {.quiet = true}));
    records_.emplace(*directory_);
    spec_ = parse_tier(GetParam().tier);
    const TierContext context{.memory = &*records_, .index = &*index_};
    tier_.emplace(*spec_, context);
  }

  std::filesystem::path path() const { return folder_.path() / "index"; }
  bool is_cluster() const { return directory_->manifest().is_cluster(); }

  static std::vector<Value> values_of(NodeId row) {
    const Value price = row % 9 == 0 ? Value() : Value(std::int64_t{row % 100});
    return {price, std::vector<std::string>{"t" + std::to_string(row % 4)}};
  }

  layout::Manifest build() const {
    indexing::Source source{indexing::describe_source({"rows", "rows"}, rows_.view(), Metric::l2),
                            rows_.view()};
    const std::string& layout = GetParam().layout;
    const layout::WriteOptions write{.threads = 1, .quiet = true};
    const graph::VamanaOptions options{.degree = 12, .list = 24, .threads = 1, .quiet = true};
    if (layout == "slotted") {
      const auto recipe = indexing::resolve_slotted({}, rows_.view());
      const auto built = indexing::build_slotted_graph(std::move(source), recipe, options);
      return indexing::write_slotted(path(), built, recipe, write);
    }
    for (const layout::ClusterLayoutKind kind : layout::kClusterLayouts) {
      if (layout != to_string(kind)) continue;
      cluster::ClusteringOptions clustering;
      clustering.clusters = 30;
      clustering.quiet = true;
      return indexing::write_clusters(
          path(), indexing::build_clusters(std::move(source), clustering), {.layout = kind}, write);
    }
    return indexing::write_graph(path(), indexing::build_graph(std::move(source), options),
                                 {.layout = layout::parse_layout_kind(layout)}, write);
  }

  struct Found {
    dataset::GroundTruth neighbours;
    search::QueryCounts counts;
    std::vector<std::shared_ptr<const search::ResultAttributes>> attributes;
  };

  /// With a list, or clusters, that find all.
  Found search(const attributes::Condition* condition, FilterPlan plan, bool exact = false) {
    search::BatchParameters batch;
    batch.exact = exact;
    batch.condition = condition;
    batch.plan = plan;
    return search(queries_.view(), batch, kNeighbours, kRows);
  }

  Found search(const VectorView& queries, search::BatchParameters batch, std::uint32_t k,
               std::uint32_t list) {
    const search::SearchChoice choice =
        is_cluster() ? search::SearchChoice(search::ProbeChoice{.clusters = 30, .list = kRows})
                     : search::SearchChoice(search::GraphChoice{.list = list});
    search::SearchShape shape{.slots = 3, .k = k};
    search::set_largest(shape, choice);
    const auto cores = tier_->make_cores(shape);
    Found found;
    batch.search = search::searchable(search::SearchParameters::make(k, choice));
    batch.attributes = &found.attributes;
    found.counts = search::run_batch(cores, queries, batch, found.neighbours).totals;
    return found;
  }

  /// The rows that meet the condition with their distances, the nearest first.
  std::vector<std::pair<float, NodeId>> nearest(const attributes::Condition& condition,
                                                std::size_t query) const {
    std::vector<std::pair<float, NodeId>> near;
    const auto* const q = reinterpret_cast<const float*>(queries_.view().row(query));
    for (NodeId row = 0; row < kRows; ++row) {
      layout::Tuples tuple;
      tuple.append(schema_, values_of(row));
      if (evaluate(condition, layout::Tuple(tuple.view().row(0)), row) != attributes::Truth::yes) {
        continue;
      }
      const auto* const r = reinterpret_cast<const float*>(rows_.view().row(row));
      float sum = 0;
      for (std::uint32_t d = 0; d < kDimension; ++d) sum += (q[d] - r[d]) * (q[d] - r[d]);
      near.emplace_back(sum, row);
    }
    std::sort(near.begin(), near.end());
    return near;
  }

  void expect_nearest(const attributes::Condition& condition, const Found& found) {
    for (std::size_t q = 0; q < kQueries; ++q) {
      std::vector<NodeId> rows;
      for (const auto& [distance, row] : nearest(condition, q)) rows.push_back(row);
      EXPECT_EQ(found.counts.matches, rows.size() * kQueries);
      rows.resize(kNeighbours, kInvalidNode);
      const NodeId* const ids = found.neighbours.ids.data() + q * kNeighbours;
      EXPECT_EQ(std::vector<NodeId>(ids, ids + kNeighbours), rows) << "query " << q;
      const layout::Tuples tuples = found.attributes[q]->read();
      for (std::size_t i = 0; i < tuples.count(); ++i) {
        EXPECT_EQ(layout::Tuple(tuples.view().row(i)).value(schema_, 1), values_of(ids[i])[1]);
      }
    }
  }

  const layout::Schema schema_ = layout::parse_schema("price: i64, tags: set");
  const dataset::VectorSet rows_ = random_rows(3, kRows);
  const dataset::VectorSet queries_ = random_rows(4, kQueries);
  tests::TemporaryFolder folder_;
  std::optional<layout::IndexDirectory> directory_;
  std::optional<search::SearchIndex> index_;
  std::optional<IndexRecords> records_;
  TierSpecPointer spec_;
  std::optional<IndexOnTier> tier_;
};

TEST_P(FilteredIndex, FindsTheNearestThatMeetACondition) {
  for (const char* text :
       {"true", "false", "price < 50", "price is null", "id in (3, 77, 300, 900)",
        "tags contains any ('t1') and not price between 10 and 90", "price = 5 and id < 10"}) {
    SCOPED_TRACE(text);
    const auto condition = search::asked_condition(*index_, text, "filter");
    for (const FilterPlan plan : {FilterPlan::chosen, FilterPlan::walk, FilterPlan::scan}) {
      expect_nearest(*condition, search(condition.get(), plan));
    }
    expect_nearest(*condition, search(condition.get(), FilterPlan::chosen, true));
  }
}

/// Bounds between the distances of two rows, so that rounding decides nothing.
TEST_P(FilteredIndex, FindsAllThatIsWithinADistance) {
  constexpr std::uint32_t kMost = 300;
  // The first walk of a graph looks for 32 rows, with a list that has its share: all rows then.
  constexpr std::uint32_t kList = 32 * kRows;
  for (const char* text : {"true", "price < 50"}) {
    const auto condition = search::asked_condition(*index_, text, "filter");
    const auto near = nearest(*condition, 1);
    for (const std::size_t rows : {0u, 1u, 31u, 32u, 33u, 100u, 190u, 399u}) {
      if (rows >= near.size()) continue;
      SCOPED_TRACE(testing::Message() << rows << " rows within, " << text);
      const float last = rows == 0 ? 0 : near[rows - 1].first;
      search::BatchParameters batch;
      batch.within = (last + near[rows].first) / 2;
      batch.condition = condition.get();
      for (const bool exact : {false, true}) {
        batch.exact = exact;
        const Found found = search(queries_.view().part(1, 1), batch, kMost, kList);
        for (std::size_t i = 0; i < kMost; ++i) {
          ASSERT_EQ(found.neighbours.ids[i], i < rows ? near[i].second : kInvalidNode);
        }
        EXPECT_EQ(found.counts.matches, near.size());
        const std::size_t expected = std::min<std::size_t>(rows, kMost);
        EXPECT_EQ(found.attributes[0]->read().count(), expected);
        EXPECT_EQ(found.counts.attribute_reads, expected);
      }
    }
  }
}

TEST_P(FilteredIndex, TellsHowItWasSearched) {
  const auto few = search::asked_condition(*index_, "price = 5", "filter");
  const Found walked = search(few.get(), FilterPlan::walk);
  const Found scanned = search(few.get(), FilterPlan::scan);
  const bool graph = !is_cluster();
  EXPECT_EQ(walked.counts.walks, graph ? kQueries : 0u);
  EXPECT_EQ(scanned.counts.scans, graph ? kQueries : 0u);
  EXPECT_EQ(walked.counts.bridges > 0, graph);
  EXPECT_EQ(scanned.counts.bridges, 0u);
  if (graph) {
    EXPECT_EQ(scanned.counts.hops, 0u);
  }
  const Found plain = search(nullptr, FilterPlan::chosen);
  EXPECT_EQ(plain.counts.matches, 0u);
  EXPECT_EQ(plain.counts.attribute_reads, kQueries * kNeighbours);
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, FilteredIndex,
    ::testing::Values(Case{"csr", "dram"}, Case{"csr", "emulated:rdma"}, Case{"packed", "dram"},
                      Case{"packed", "emulated:rdma"}, Case{"inline", "dram"},
                      Case{"padded", "shm"}, Case{"slotted", "ssd"}, Case{"coupled", "dram"},
                      Case{"decoupled", "emulated:rdma"}, Case{"grouped", "dram"},
                      Case{"grouped", "emulated:rdma"}, Case{"grouped-inline", "dram"},
                      Case{"coded", "dram"}, Case{"coded", "emulated:rdma"}),
    [](const auto& of) { return name_of(of.param); });

TEST(IndexWithoutAttributes, RefusesAConditionByName) {
  const tests::TemporaryFolder folder;
  const dataset::VectorSet rows = random_rows(3, 40);
  const graph::VamanaOptions options{.degree = 8, .list = 8, .threads = 1, .quiet = true};
  indexing::Source source{indexing::describe_source({"rows", "rows"}, rows.view(), Metric::l2),
                          rows.view()};
  (void)indexing::write_graph(folder.path() / "index",
                              indexing::build_graph(std::move(source), options), {},
                              {.threads = 1, .quiet = true});
  const auto directory = layout::IndexDirectory::open(folder.path() / "index");
  const auto index = search::load_search_index(directory, {.quiet = true});
  EXPECT_EQ(search::asked_condition(index, "", "--filter"), nullptr);
  EXPECT_THAT(tests::message_of([&] { (void)search::asked_condition(index, "a = 1", "--filter"); }),
              HasSubstr("--filter: the rows of the index have no attributes"));
}

}  // namespace
}  // namespace farvec::tiers
