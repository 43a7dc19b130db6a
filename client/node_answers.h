// These functions check what a compute node says, once, when it arrives. A node may be of another
// version, broken, or not the one that it should be: no later code checks its answers again.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/types.h"
#include "changes/listed_rows.h"
#include "layout/attributes/tuple.h"
#include "layout/collection/change_record.h"
#include "rpc/collection.pb.h"
#include "rpc/compute_node.pb.h"

namespace farvec::client {

/// Says what was asked for: answers are no larger.
struct AskedQueries {
  std::size_t queries = 0;
  std::size_t k = 0;
  layout::Schema select = {};  ///< columns that results come with
};

struct AskedRows {
  layout::StoredShape shape;  ///< the shape of stored rows
  std::size_t ids = 0;
  layout::Schema schema = {};
};

/// Returns whether an index of this layout changes: its rows have users' ids of 64 bits.
bool changes_rows(std::string_view layout);

// Each fault_of() returns what is wrong, naming field and value, in words that follow "compute node
// ADDRESS: "; empty when all that is relied on later is sound.

/// Checks what a node that is attached says of its index and of its limits.
std::string fault_of(const compute_node::v1::DescribeResponse& node);
/// Checks how many results came, and the ids, the distances and the coverage of those whose query
/// went well. It is no fault when a query did not.
std::string fault_of(const compute_node::v1::SearchResponse& response, const AskedQueries& asked);
std::string fault_of(const collection::v1::StatsResponse& state);
/// Checks rows that were asked for, and their attributes. Rows with attributes may be the first of
/// those that were asked for.
std::string fault_of(const collection::v1::GetResponse& rows, const AskedRows& asked);
/// Returns the columns that a node says, of which `known` are the first, or `known` where the
/// answer is from a time before the last of them. Throws Error that says what is wrong, for schemas
/// that cannot be parsed too.
layout::Schema grown_schema(const std::string& said, const layout::Schema& known);
/// Checks rows that were listed.
std::string fault_of(const collection::v1::ListResponse& rows, const changes::Listing& asked,
                     const layout::Schema& schema);
/// Returns the attributes of the rows of an answer. They are borrowed, and may not be sound.
template <typename Answer>
layout::TupleView attributes_in(const Answer& rows) {
  const auto& ends = rows.attribute_ends();
  return {.ends = {ends.data(), static_cast<std::size_t>(ends.size())},
          .bytes = std::as_bytes(std::span(rows.attributes()))};
}
/// Check the answer to a call that had this many rows, or ids.
std::string fault_of(const collection::v1::InsertResponse& receipt, std::size_t rows);
std::string fault_of(const collection::v1::DeleteResponse& receipt, std::size_t ids);
std::string fault_of(const collection::v1::UpdateResponse& receipt, std::size_t ids);

/// Convert values in which no fault was found.
ElementType element_type(compute_node::v1::ElementType type);
ElementType element_type(collection::v1::ElementType type);
Metric metric(compute_node::v1::Metric metric);

}  // namespace farvec::client
