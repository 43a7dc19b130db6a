// These functions choose how many bits the codes of an index have: the number that was asked for,
// or the least with which searches find what they find by the vectors.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "indexing/codes.h"
#include "indexing/steering_trial.h"
#include "layout/index/index_description.h"
#include "quantization/member_encoder.h"
#include "quantization/neighbor_encoder.h"

namespace farvec::indexing {

struct CodeWish {
  std::optional<std::uint32_t> asked;  ///< bits per dimension; none: the data chooses
  std::uint32_t usual = 2;             ///< the bits where nothing is odd about the data
};

/// A Chosen holds the codes that were chosen. `why` is for the manifest, and is set where the
/// reason is worth telling.
template <typename Codes>
struct Chosen {
  Codes codes;
  std::optional<layout::SteeringFacts> why;
};

/// Makes codes of every vertex. They have the bits asked for. If none are asked for, they have the
/// usual bits where codes_serve() is true of these; else 4 or 8 where codes_equal_vectors() is true
/// and the codes are fewer bytes than the vectors; else they are the vectors themselves. For
/// products, codes that serve have to lose at most the tolerance with lists of 40 and 100 too.
/// Vectors of bits are their own codes (require_codes_fit()). training.bits is not read. Throws
/// what encode_whole() throws.
Chosen<EncodedRows> choose_codes(const TrialGraph& graph, const CodeWish& wish,
                                 const CodeTraining& training);

/// Makes codes in two parts, with training.bits in the record. The part in DRAM is judged, and is
/// kept whatever comes of it.
Chosen<EncodedRows> split_codes(const TrialGraph& graph, const CodeTraining& training);

/// Chooses codes of the edges in the same way. The most bits are NeighborCodes::kMostBits, which
/// are taken whether they are enough or not.
Chosen<std::unique_ptr<const quantization::NeighborEncoder>> choose_edge_codes(
    const TrialGraph& graph, const CodeWish& wish, const CodeTraining& training);

struct TrialClusters {
  quantization::MemberSet members;
  Metric metric = Metric::l2;
};

/// Chooses codes of the members of clusters, in the way of choose_edge_codes(). The usual codes are
/// chosen where at least 1 less SteeringTrial::kTolerance of the nearest members are among
/// MemberTrial::kList estimates.
Chosen<std::unique_ptr<const quantization::MemberEncoder>> choose_member_codes(
    const TrialClusters& clusters, const CodeWish& wish, const CodeTraining& training);

}  // namespace farvec::indexing
