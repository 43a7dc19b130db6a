#include "collection/memtable/memtable_attributes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace farvec::collection {
namespace {

using layout::Value;

const layout::Schema& schema() {
  static const layout::Schema kSchema = layout::parse_schema("s: string");
  return kSchema;
}

layout::Tuples texts(const std::vector<std::size_t>& lengths) {
  layout::Tuples tuples;
  for (const std::size_t length : lengths) {
    tuples.append(schema(), std::vector<Value>{std::string(length, 'x')});
  }
  return tuples;
}

std::size_t length_of(const MemtableAttributes& attributes, NodeId row) {
  return layout::Tuple(attributes.row(row)).text(0).size();
}

TEST(MemtableAttributes, AreThereForEveryRow) {
  MemtableAttributes attributes(100);
  const std::vector<std::size_t> lengths{0, 1, 60'000, 5, 60'000, 60'000, 60'000, 60'000, 7};
  attributes.put(3, lengths.size(), texts(lengths).view());
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    EXPECT_EQ(length_of(attributes, static_cast<NodeId>(3 + i)), lengths[i]);
  }
  EXPECT_EQ(attributes.dram_bytes(0) + 4096, attributes.dram_bytes(3 + lengths.size()));
  EXPECT_GT(attributes.dram_bytes(0), 300'000u);
}

TEST(MemtableAttributes, AreNullWhereNoneWerePut) {
  MemtableAttributes attributes(10);
  attributes.put(0, 2, {});
  EXPECT_TRUE(layout::Tuple(attributes.row(1)).is_null(0));
  EXPECT_TRUE(layout::Tuple(attributes.row(7)).is_null(0));
}

/// A batch that did not go in leaves nothing to the rows that take its place.
TEST(MemtableAttributes, OfABatchThatWasNotInAreForgotten) {
  MemtableAttributes attributes(10);
  attributes.put(0, 3, texts({1, 2, 3}).view());
  attributes.put(0, 2, {});
  EXPECT_TRUE(layout::Tuple(attributes.row(0)).is_null(0));
  attributes.put(0, 2, texts({8, 9}).view());
  EXPECT_EQ(length_of(attributes, 1), 9u);
}

}  // namespace
}  // namespace farvec::collection
