// tenant_order() says in which order a segment has its rows where these belong to tenants.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "layout/attributes/schema.h"
#include "layout/attributes/tuple.h"
#include "search/filter/filter_plan.h"

namespace farvec::collection {

/// Returns the rows in the order of their tenants: element i is the row that comes i-th. Rows of
/// one tenant stay in the order in which they are, and rows without a tenant come last. The result
/// is empty where every row stays where it is: there is no tenant's column, or the rows are in this
/// order already. `attributes` has a whole tuple for each row where there is such a column.
std::vector<NodeId> tenant_order(const layout::Schema& schema, const layout::TupleView& attributes);

/// Tenants of up to this many rows in a segment are small: searches among their rows compare these
/// one by one, on every tier, and do not walk the graph.
inline constexpr std::uint64_t kSmallTenant = search::kFewRows;

/// Says whether at least half of the rows belong to small tenants. False without a tenant's column.
/// The rows of a tenant lie together.
bool are_small_tenants(const layout::Schema& schema, const layout::TupleView& attributes);

/// Returns the place of each row in an order: element order[i] is i.
std::vector<NodeId> places_in(std::span<const NodeId> order);

}  // namespace farvec::collection
