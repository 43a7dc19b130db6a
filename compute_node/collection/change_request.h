// These functions check a request for a change once, in full, when it comes in; no later code of
// the service checks it again.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/types.h"
#include "changes/changing.h"
#include "rpc/collection.pb.h"

namespace farvec::compute_node {

/// Returns what is wrong with a request, naming the field or the row, what came and what is
/// allowed; empty: nothing is. Refuses rows that cannot be compared (see fault_of_row()), ids that
/// come twice, attributes that do not fit the schema, and more of them than one call takes whole.
std::string check_insert(const collection::v1::InsertRequest& request,
                         const changes::RowShape& shape, std::size_t most_rows);
/// Does the same for a request that has either ids or a filter, whose text is checked later.
std::string check_delete(const collection::v1::DeleteRequest& request, std::size_t most_ids);
/// Does the same for an update. An index without columns says itself that it takes none.
std::string check_update(const collection::v1::UpdateRequest& request,
                         const changes::RowShape& shape, std::size_t most_ids);
/// Does the same for columns, but for those that the schema cannot have.
std::string check_columns(const collection::v1::AddColumnsRequest& request);
/// Returns what is wrong with the ids of a request; empty: nothing is. A Get needs no other check.
std::string check_ids(std::span<const std::uint64_t> ids, std::size_t most);

/// Returns what a checked request inserts. It borrows all of the request.
changes::RowBatch batch_of(const collection::v1::InsertRequest& request,
                           const changes::RowShape& shape);
/// Returns the values that a request gives rows. They are borrowed, and may not be sound.
changes::ColumnValues values_of(const collection::v1::UpdateRequest& request);
template <typename Request>
std::span<const std::uint64_t> ids_of(const Request& request) {
  return {request.ids().data(), static_cast<std::size_t>(request.ids_size())};
}

collection::v1::ElementType to_wire(ElementType type);

}  // namespace farvec::compute_node
