// Codes with as many bits as the data needs: those that somebody asked for, or the least with which
// searches find what they find by the vectors.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "indexing/codes.h"
#include "indexing/steering_trial.h"
#include "layout/index/index_parts.h"
#include "quantization/member_encoder.h"
#include "quantization/neighbor_encoder.h"

namespace farvec::indexing {

struct CodeWish {
  std::optional<std::uint32_t> asked;  ///< bits per dimension; none: the data chooses
  std::uint32_t usual = 2;             ///< what there is without an oddity in the data
};

/// What was chosen, and for the manifest why, where that is worth a word.
template <typename Codes>
struct Chosen {
  Codes codes;
  std::optional<layout::SteeringFacts> why;
};

/// Codes of every vertex: of the bits asked for; else of the usual ones where codes_serve(); else
/// of 4 or 8 where codes_equal_vectors() and they are fewer bytes than the vectors; else the
/// vectors themselves. For products all that serve have to lose at most the tolerance with lists
/// of 40 and 100. training.bits are not read. Throws as encode_whole() does.
Chosen<EncodedRows> choose_codes(const TrialGraph& graph, const CodeWish& wish,
                                 const CodeTraining& training);

/// Codes in two parts, of training.bits in the record. The part in DRAM is judged and stays.
Chosen<EncodedRows> split_codes(const TrialGraph& graph, const CodeTraining& training);

/// The same of the edges, of which the most bits are NeighborCodes::kMostBits, whether they are
/// enough or not.
Chosen<std::unique_ptr<const quantization::NeighborEncoder>> choose_edge_codes(
    const TrialGraph& graph, const CodeWish& wish, const CodeTraining& training);

struct TrialClusters {
  quantization::MemberSet members;
  Metric metric = Metric::l2;
};

/// Codes of clusters' members, as of edges: the usual ones where at least 1 less SteeringTrial::
/// kTolerance of the nearest members are among MemberTrial::kList estimates.
Chosen<std::unique_ptr<const quantization::MemberEncoder>> choose_member_codes(
    const TrialClusters& clusters, const CodeWish& wish, const CodeTraining& training);

}  // namespace farvec::indexing
