// These functions know how many bits per dimension the codes of each layout can have.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "layout/cluster/cluster_layout.h"
#include "layout/graph/graph_layout.h"

namespace farvec::indexing {

/// Returns the bits of a graph's codes where neither the data nor the caller asks for more.
std::uint32_t usual_code_bits(layout::LayoutKind layout);

/// Returns the bits per dimension that were asked for; none where the data chooses; 0 for the
/// vectors themselves. Throws StatusError (invalid_argument), naming `name` as what asked for them,
/// when the layout cannot have them.
std::optional<std::uint32_t> code_bits_of(layout::LayoutKind layout,
                                          std::optional<std::uint32_t> asked,
                                          std::string_view name);
/// Returns the bits for clusters in the same way. Only `coded` has codes, with at least 1 bit;
/// StatusError is thrown when codes are asked for of another layout.
std::optional<std::uint32_t> code_bits_of(layout::ClusterLayoutKind layout,
                                          std::optional<std::uint32_t> asked,
                                          std::string_view name);

/// Throws StatusError (invalid_argument) when vectors of the type cannot be in the layout, or
/// cannot have the codes that were asked for: bits have no codes, their searches compare the
/// vectors themselves. `name` is what asked for codes. It is called at the beginning of a long
/// build.
void require_codes_fit(ElementType type, layout::LayoutKind layout,
                       std::optional<std::uint32_t> asked, std::string_view name);
void require_codes_fit(ElementType type, layout::ClusterLayoutKind layout);

}  // namespace farvec::indexing
