// These functions put into words what an index's codes cost, where the data chose their bits or
// they lose neighbours.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "layout/index/manifest.h"

namespace farvec::indexing {

/// Returns what trial searches of the build found, where there is something to say.
const std::optional<layout::SteeringFacts>& steering_of(const layout::Manifest& manifest);

/// Returns a sentence on an index's codes, without a full stop; empty where the usual codes serve.
/// `option` is how the reader asks for bits ("--code-bits").
std::string steering_words(const layout::Manifest& manifest, const std::string& option);

/// Returns "2", or "0 (the vectors themselves)".
std::string code_bits_words(std::uint32_t bits);

/// Whether searches find less by the index's codes than by the vectors, beyond the tolerance.
bool loses_by_codes(const layout::SteeringFacts& steering);

}  // namespace farvec::indexing
