// Names how clusters are made, in the words of options and manifests.
#pragma once

#include <cstdint>
#include <string_view>

namespace farvec {

/// Says what the centroid of a cluster is: the mean of its vectors, the vector of the cluster that
/// is nearest to the mean (SPANN calls it a head), or the mean rounded to the element type of the
/// data.
enum class HeadKind : std::uint8_t { means, vectors, rounded };

/// Decides which of the nearest clusters a vector is put into besides its own.
enum class ClosureRule : std::uint8_t {
  fitted,  ///< within a ratio that makes (R + 1) / 2 clusters per vector, by a loose RNG rule
  spann,  ///< the published rule: within 11 times the nearest, and nearer than the candidate before
          ///< is to this one
  sptag,  ///< the rule of SPANN's code: nearer than each cluster of the vector is to this one
};

/// "means", "vectors", "rounded".
std::string_view to_string(HeadKind heads);
/// Returns "fitted", "spann", "sptag".
std::string_view to_string(ClosureRule closure);
/// Throws Error naming the accepted words.
HeadKind parse_heads(std::string_view text);
ClosureRule parse_closure(std::string_view text);

}  // namespace farvec
