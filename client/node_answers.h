// What a compute node says, checked once, when it arrives. A node may be of another version,
// broken, or not the one that it should be: nothing behind these looks again.
#pragma once

#include <cstddef>
#include <string>

#include "base/types.h"
#include "rpc/collection.pb.h"
#include "rpc/compute_node.pb.h"

namespace farvec::client {

/// What was asked for: answers are no larger.
struct AskedQueries {
  std::size_t queries = 0;
  std::size_t k = 0;
};

struct RowShape {
  ElementType type = ElementType::f32;
  std::uint32_t dimension = 0;
};

// What is wrong, naming field and value, in words that follow "compute node ADDRESS: "; empty when
// all that is relied on later is sound.

/// Of a node that is attached: what it says of its index and of its limits.
std::string fault_of(const compute_node::v1::DescribeResponse& node);
/// Counts of results and of what each has; not whether its queries went well.
std::string fault_of(const compute_node::v1::SearchResponse& response, const AskedQueries& asked);
std::string fault_of(const collection::v1::StatsResponse& state);
/// `shape` is that of stored rows, `ids` how many were asked for.
std::string fault_of(const collection::v1::GetResponse& rows, const RowShape& shape,
                     std::size_t ids);
/// Of a call with so many rows, or ids.
std::string fault_of(const collection::v1::InsertResponse& receipt, std::size_t rows);
std::string fault_of(const collection::v1::DeleteResponse& receipt, std::size_t ids);

/// Of values in which no fault was found.
ElementType element_type(compute_node::v1::ElementType type);
ElementType element_type(collection::v1::ElementType type);
Metric metric(compute_node::v1::Metric metric);

}  // namespace farvec::client
