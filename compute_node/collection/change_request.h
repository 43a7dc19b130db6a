// The door for changes: a request is checked here once, in full, and nowhere behind it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/types.h"
#include "layout/collection/collection_manifest.h"
#include "rpc/collection.pb.h"

namespace farvec::compute_node {

/// What is wrong, naming the field or the row, what came and what is allowed; empty: nothing is.
/// Refuses NaN and infinity, and ids that come twice.
std::string check_insert(const collection::v1::InsertRequest& request,
                         const layout::CollectionManifest& shape, std::size_t most_rows);
/// Of a Delete or a Get.
std::string check_ids(std::span<const std::uint64_t> ids, std::size_t most);

/// Of a checked request, which it borrows.
VectorView rows_of(const collection::v1::InsertRequest& request,
                   const layout::CollectionManifest& shape);
template <typename Request>
std::span<const std::uint64_t> ids_of(const Request& request) {
  return {request.ids().data(), static_cast<std::size_t>(request.ids_size())};
}

collection::v1::ElementType to_wire(ElementType type);

}  // namespace farvec::compute_node
