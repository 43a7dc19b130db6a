// Conditions at random, over rows at random: the text, the tree, one row and all rows of a segment
// say the same as a plain evaluator.
#include "tests/unit/attributes/random_conditions.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "attributes/columns.h"
#include "attributes/condition.h"

namespace farvec::attributes {
namespace {

IdLookup ids_of(const std::vector<PlainRow>& rows) {
  return {[&rows](std::uint64_t id) -> std::optional<NodeId> {
            if (id % 10 != 0 || id == 0 || id / 10 > rows.size()) return std::nullopt;
            return static_cast<NodeId>(id / 10 - 1);
          },
          [&rows](NodeId row) { return rows[row].id; }};
}

std::vector<NodeId> listed(const RowBitmap& rows) {
  std::vector<NodeId> list(rows.cardinality());
  rows.toUint32Array(list.data());
  return list;
}

struct Segment {
  Segment(RandomConditions& random, std::size_t count, unsigned nulls)
      : rows(random.rows(count, nulls)),
        tuples(random.tuples(rows)),
        columns(random.schema(), tuples.view()) {}

  std::vector<NodeId> matching(const std::string& text, const layout::Schema& schema) const {
    return listed(columns.matching(*parse_condition(text, schema), ids_of(rows)));
  }

  std::vector<PlainRow> rows;
  layout::Tuples tuples;
  Columns columns;
};

void expect_same(const Segment& segment, const PlainCondition& plain,
                 const layout::Schema& schema) {
  const ConditionPointer condition = parse_condition(plain.text, schema);
  const std::string canonical = to_string(*condition);
  const ConditionPointer again = parse_condition(canonical, schema);
  ASSERT_EQ(to_string(*again), canonical) << plain.text;
  ASSERT_EQ(*again, *condition) << plain.text;
  std::vector<NodeId> expected;
  for (NodeId row = 0; row < segment.rows.size(); ++row) {
    const PlainTruth truth = plain.truth(segment.rows[row]);
    if (truth == 2) expected.push_back(row);
    const layout::Tuple tuple(segment.tuples.view().row(row));
    ASSERT_EQ(static_cast<int>(evaluate(*condition, tuple, segment.rows[row].id)), truth)
        << plain.text << " as " << canonical << " of row " << row;
  }
  ASSERT_EQ(listed(segment.columns.matching(*condition, ids_of(segment.rows))), expected)
      << plain.text << " as " << canonical;
}

TEST(RandomConditions, AllSayTheSame) {
  RandomConditions random(20261128);
  for (int turn = 0; turn < 12; ++turn) {
    const std::size_t count = turn == 0 ? 0 : turn == 1 ? 1 : 150;
    const Segment segment(random, count, turn == 2 ? 10 : turn == 3 ? 0 : 2);
    for (int i = 0; i < 150; ++i) {
      expect_same(segment, random.condition(i % 5), random.schema());
      if (HasFatalFailure()) return;
    }
  }
}

/// More than one block, and a bitmap of more than one container.
TEST(RandomConditions, AllSayTheSameInManyBlocks) {
  RandomConditions random(5);
  const Segment segment(random, 70'000, 2);
  for (int i = 0; i < 8; ++i) {
    expect_same(segment, random.condition(3), random.schema());
    if (HasFatalFailure()) return;
  }
}

TEST(RandomConditions, ObeyTheLawsOfThreeValues) {
  RandomConditions random(77);
  const Segment segment(random, 300, 3);
  const auto rows_of = [&](const std::string& text) {
    return segment.matching(text, random.schema());
  };
  const std::vector<NodeId> all = rows_of("true");
  ASSERT_EQ(all.size(), 300u);
  for (int i = 0; i < 300; ++i) {
    const std::string f = "(" + random.condition(2).text + ")";
    const std::string g = "(" + random.condition(2).text + ")";
    SCOPED_TRACE(f + " and " + g);
    EXPECT_EQ(rows_of("not not " + f), rows_of(f));
    EXPECT_EQ(rows_of(f + " or true"), all);
    EXPECT_EQ(rows_of(f + " and false"), std::vector<NodeId>());
    EXPECT_EQ(rows_of("not (" + f + " and " + g + ")"), rows_of("not " + f + " or not " + g));
    EXPECT_EQ(rows_of("not (" + f + " or " + g + ")"), rows_of("not " + f + " and not " + g));
    EXPECT_EQ(rows_of(f + " and " + g), rows_of(g + " and " + f + " and " + g));
    EXPECT_EQ(rows_of(f + " or " + f + " and " + g), rows_of(f));
  }
}

TEST(RandomConditions, ARangeIsItsSet) {
  RandomConditions random(3);
  const Segment segment(random, 500, 2);
  const auto same = [&](const char* one, const char* other) {
    EXPECT_EQ(segment.matching(one, random.schema()), segment.matching(other, random.schema()));
    EXPECT_GT(segment.matching(one, random.schema()).size(), 0u) << one;
  };
  same("i between 1 and 3", "i in (1, 2, 3)");
  same("u >= 1 and u < 4", "u = 1 or u = 2 or u = 3");
  same("i not between 1 and 3", "i not in (1, 2, 3)");
  same("s between 'a' and 'ab'", "s in ('a', 'aa', 'ab')");
  same("s prefix 'a'", "s >= 'a' and s < 'b'");
  same("id between 100 and 130", "id in (100, 110, 120, 130)");
  same("t < '1970-01-01'", "t = -1");
}

}  // namespace
}  // namespace farvec::attributes
