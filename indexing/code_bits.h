// Bits per dimension of the codes: what each layout can have.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "layout/cluster/cluster_layout.h"
#include "layout/graph/graph_layout.h"

namespace farvec::indexing {

/// The bits per dimension that were asked for, or the layout's own. Throws StatusError
/// (invalid_argument), naming what asked for them, when it cannot have them.
std::uint32_t code_bits_of(layout::LayoutKind layout, std::optional<std::uint32_t> asked,
                           std::string_view name);
/// The same of clusters, where only `coded` has codes; others say StatusError when asked for some.
std::uint32_t code_bits_of(layout::ClusterLayoutKind layout, std::optional<std::uint32_t> asked,
                           std::string_view name);

}  // namespace farvec::indexing
