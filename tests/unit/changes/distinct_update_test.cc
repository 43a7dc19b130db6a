#include "changes/distinct_update.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "base/status_error.h"

namespace farvec::changes {
namespace {

using Ids = std::vector<std::uint64_t>;

const layout::Schema kNote = layout::parse_schema("note: string");

layout::Tuples notes(const std::vector<std::string>& texts) {
  layout::Tuples tuples;
  for (const std::string& text : texts) tuples.append(kNote, std::vector<layout::Value>{text});
  return tuples;
}

std::vector<std::string> texts_of(const layout::TupleView& values) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < values.count(); ++i) {
    texts.emplace_back(layout::Tuple(values.row(i)).text(0));
  }
  return texts;
}

Ids ids_of(const DistinctUpdate& update) {
  return {update.ids().begin(), update.ids().end()};
}

TEST(DistinctUpdate, KeepsWhatComesOnce) {
  const auto tuples = notes({"a", "b", "c"});
  const ColumnValues values{{"note"}, tuples.view()};
  const Ids ids{5, 1, 9};
  const DistinctUpdate update(ids, values);
  EXPECT_EQ(update.ids().data(), ids.data()) << "nothing is copied";
  EXPECT_EQ(update.repeated(), 0u);
  EXPECT_EQ(update.fitting(1, 10), 2u);
  EXPECT_EQ(update.fitting(0, 1), 1u);
  EXPECT_EQ(update.part(1, 2).columns, std::vector<std::string>{"note"});
  EXPECT_EQ(texts_of(update.part(1, 2).values), (std::vector<std::string>{"b", "c"}));
}

TEST(DistinctUpdate, TheFirstOfAnIdHolds) {
  const auto tuples = notes({"a", "b", "c", "d", "e"});
  const ColumnValues values{{"note"}, tuples.view()};
  const Ids ids{5, 1, 5, 5, 2};
  const DistinctUpdate update(ids, values);
  EXPECT_EQ(ids_of(update), (Ids{5, 1, 2}));
  EXPECT_EQ(update.repeated(), 2u);
  EXPECT_EQ(texts_of(update.part(0, 3).values), (std::vector<std::string>{"a", "b", "e"}));
}

TEST(DistinctUpdate, OneTupleIsThatOfAll) {
  const auto tuples = notes({"a"});
  const ColumnValues values{{"note"}, tuples.view()};
  const Ids ids{5, 1, 5};
  const DistinctUpdate update(ids, values);
  EXPECT_EQ(ids_of(update), (Ids{5, 1}));
  EXPECT_EQ(update.fitting(0, 100), 2u);
  EXPECT_EQ(texts_of(update.part(1, 1).values), std::vector<std::string>{"a"});
  const DistinctUpdate none({}, values);
  EXPECT_EQ(none.fitting(0, 100), 0u);
}

TEST(DistinctUpdate, ACallHasAMebibyteOfValues) {
  const auto tuples = notes(std::vector<std::string>(40, std::string(60'000, 'n')));
  Ids ids(40);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = i;
  const ColumnValues values{{"note"}, tuples.view()};
  const DistinctUpdate update(ids, values);
  EXPECT_EQ(update.fitting(0, 40), 17u);
  EXPECT_EQ(update.fitting(17, 40), 17u);
  EXPECT_EQ(update.fitting(34, 40), 6u);
  EXPECT_EQ(update.fitting(0, 3), 3u);
}

TEST(DistinctUpdate, RefusesOtherCounts) {
  const auto tuples = notes({"a", "b"});
  const ColumnValues values{{"note"}, tuples.view()};
  EXPECT_THROW(DistinctUpdate(Ids{1, 2, 3}, values), StatusError);
  EXPECT_THROW(DistinctUpdate(Ids{1}, values), StatusError);
  EXPECT_THROW(DistinctUpdate(Ids{1}, {{"note"}, {}}), StatusError);
}

/// Remembers what its calls were, and has the even ids.
class Remembering final : public changes::Changing {
 public:
  changes::RowShape row_shape() const override { return {.schema = kNote, .batch_ids = 3}; }
  void check(const changes::RowBatch&) const override {}
  void insert(const changes::RowBatch&, const changes::Patience&, Receipt&) override {}
  void erase(std::span<const std::uint64_t>, const changes::Patience&, Receipt&) override {}
  changes::FoundRows get(std::span<const std::uint64_t>, const changes::Patience&) const override {
    return {};
  }
  void update(std::span<const std::uint64_t> ids, const ColumnValues& update,
              const changes::Patience&, Receipt& receipt) override {
    calls.push_back({{ids.begin(), ids.end()}, texts_of(update.values)});
    for (const std::uint64_t id : ids) ++(id % 2 == 0 ? receipt.done : receipt.missing);
  }
  bool flush(const Interruption&) override { return true; }
  bool compact(const Interruption&) override { return true; }
  nlohmann::ordered_json now() const override { return {}; }

  struct Call {
    Ids ids;
    std::vector<std::string> texts;
  };
  std::vector<Call> calls;
};

TEST(UpdateAll, GoesInBatchesOfWhichNoneRepeatsAnId) {
  Remembering index;
  Receipt receipt;
  const auto tuples = notes({"a", "b", "c", "d", "e"});
  update_all(index, Ids{2, 3, 4, 2, 6}, {{"note"}, tuples.view()}, {}, receipt);
  ASSERT_EQ(index.calls.size(), 2u);
  EXPECT_EQ(index.calls[0].ids, (Ids{2, 3, 4}));
  EXPECT_EQ(index.calls[0].texts, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(index.calls[1].ids, Ids{6});
  EXPECT_EQ(index.calls[1].texts, std::vector<std::string>{"e"});
  EXPECT_EQ(receipt.done, 3u);
  EXPECT_EQ(receipt.missing, 2u);
}

TEST(UpdateAll, NoIdsAreNoCalls) {
  Remembering index;
  Receipt receipt;
  update_all(index, {}, {{"note"}, {}}, {}, receipt);
  EXPECT_TRUE(index.calls.empty());
  EXPECT_EQ(receipt.missing, 0u);
}

}  // namespace
}  // namespace farvec::changes
