// Searches of indexes that stand by themselves, among the rows that meet a condition: each layout,
// on tiers that load and on tiers that read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "attributes/condition.h"
#include "indexing/graph_recipe.h"
#include "search/filter/asked_condition.h"
#include "search/index/row_attributes.h"
#include "search/kinds/index_loader.h"
#include "tests/unit/message_of.h"
#include "tests/unit/tiers/filtered_rows.h"
#include "tiers/index_on_tier.h"

namespace farvec::tiers {
namespace {

using search::FilterPlan;
using ::testing::HasSubstr;

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

class FilteredIndex : public FilteredRows, public ::testing::TestWithParam<Case> {
 protected:
  FilteredIndex() {
    write_attributes(build(GetParam().layout));
    directory_.emplace(layout::IndexDirectory::open(path()));
    index_.emplace(search::load_search_index(*directory_, {.quiet = true}));
    records_.emplace(*directory_);
    spec_ = parse_tier(GetParam().tier);
    const TierContext context{.memory = &*records_, .index = &*index_};
    tier_.emplace(*spec_, context);
  }

  bool is_cluster() const { return directory_->manifest().is_cluster(); }

  Found search(const attributes::Condition* condition, FilterPlan plan, bool exact = false) {
    search::BatchParameters batch;
    batch.exact = exact;
    batch.condition = condition;
    batch.plan = plan;
    return search(queries_.view(), batch, kNeighbours, kRows);
  }

  Found search(const VectorView& queries, const search::BatchParameters& batch, std::uint32_t k,
               std::uint32_t list) {
    const search::SearchChoice choice = choose_all(is_cluster(), list);
    return FilteredRows::search(tier_->make_cores(shape_of(k, choice)), queries, batch, k, choice);
  }

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
