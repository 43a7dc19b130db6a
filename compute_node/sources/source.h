// A Source says what a compute node serves. Each alternative has its flags and their checks in a
// file of this folder, and a backend that opens it (backends/make_backend.h).
#pragma once

#include <variant>

#include "compute_node/sources/collection_sources.h"
#include "compute_node/sources/directory_source.h"
#include "compute_node/sources/memory_node_source.h"
#include "compute_node/sources/paged_source.h"

namespace farvec::compute_node {

using Source =
    std::variant<MemoryNodeSource, DirectorySource, ChangedSource, FollowedSource, PagedSource>;

/// Returns the bounds of what clients may change; null where they may only search.
inline const ChangeOptions* changes_of(const Source& source) {
  return std::visit(
      [](const auto& served) -> const ChangeOptions* {
        if constexpr (requires { served.changes; }) return &served.changes;
        return nullptr;
      },
      source);
}

}  // namespace farvec::compute_node
