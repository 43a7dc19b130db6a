// How clusters are made, in the words that options and manifests have for it.
#pragma once

#include <cstdint>
#include <string_view>

namespace farvec {

/// What the centroid of a cluster is: the mean of its vectors, the one of them that is nearest to
/// the mean (a head, as SPANN has it), or the mean rounded to the elements of the data.
enum class HeadKind : std::uint8_t { means, vectors, rounded };

/// Which of the nearest clusters a vector is also put into, besides its own.
enum class ClosureRule : std::uint8_t {
  fitted,  ///< within a ratio that makes (R + 1) / 2 clusters per vector, by a loose RNG rule
  spann,   ///< as published: within 11 times the nearest, and nearer than the candidate before
           ///< is to this one
  sptag,   ///< as SPANN's code does it: nearer than each cluster of the vector is to this one
};

/// "means", "vectors", "rounded".
std::string_view to_string(HeadKind heads);
/// "fitted", "spann", "sptag".
std::string_view to_string(ClosureRule closure);
/// Throws Error naming the accepted words.
HeadKind parse_heads(std::string_view text);
ClosureRule parse_closure(std::string_view text);

}  // namespace farvec
