// Bits per dimension of the codes: what each layout can have.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "layout/cluster/cluster_layout.h"
#include "layout/graph/graph_layout.h"

namespace farvec::indexing {

/// What codes of a graph have where neither the data nor somebody asks for more.
std::uint32_t usual_code_bits(layout::LayoutKind layout);

/// The bits per dimension that were asked for; none where the data chooses; 0 for the vectors
/// themselves. Throws StatusError (invalid_argument), naming what asked for them, when the layout
/// cannot have them.
std::optional<std::uint32_t> code_bits_of(layout::LayoutKind layout,
                                          std::optional<std::uint32_t> asked,
                                          std::string_view name);
/// The same of clusters, where only `coded` has codes, at least 1 bit; others say StatusError when
/// asked for some.
std::optional<std::uint32_t> code_bits_of(layout::ClusterLayoutKind layout,
                                          std::optional<std::uint32_t> asked,
                                          std::string_view name);

}  // namespace farvec::indexing
