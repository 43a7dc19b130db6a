#include "indexing/chosen_codes.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "indexing/member_trial.h"
#include "quantization/split_codes.h"

namespace farvec::indexing {
namespace {

using EdgeCodes = std::unique_ptr<const quantization::NeighborEncoder>;
using MemberCodes = std::unique_ptr<const quantization::MemberEncoder>;

/// Makes codes with a number of bits, and searches by them.
class VertexCodeMaker {
 public:
  static constexpr double kShare = SteeringTrial::kVertexShare;

  VertexCodeMaker(const TrialGraph& graph, const CodeTraining& training)
      : graph_(graph), training_(training) {}

  EncodedRows make(std::uint32_t bits) const {
    CodeTraining training = training_;
    training.bits = bits;
    return encode_whole(graph_.rows, graph_.metric, training);
  }
  double search(const SteeringTrial& trial, const EncodedRows& codes, std::uint32_t list) const {
    const quantization::Rabitq quantizer(
        quantization::code_parameters(codes.header, codes.centroid));
    return trial.by_codes(quantizer, codes.codes.data(), list);
  }
  bool is_exact(std::uint32_t bits) const { return bits == quantization::kWholeVectors; }

  /// Returns the numbers of bits in the order in which they are tried.
  std::vector<std::uint32_t> more_bits(std::uint32_t usual) const {
    std::vector<std::uint32_t> more;
    for (const std::uint32_t bits : {4u, 8u}) {
      const std::size_t bytes = quantization::Rabitq::record_bytes(graph_.rows.dimension, bits);
      if (bits > usual && bytes < graph_.rows.row_bytes()) more.push_back(bits);
    }
    more.push_back(quantization::kWholeVectors);
    return more;
  }

 protected:
  const TrialGraph& graph_;
  const CodeTraining& training_;
};

/// Makes codes with one bit in DRAM.
class SplitCodeMaker : public VertexCodeMaker {
 public:
  static constexpr double kShare = SteeringTrial::kOneBitShare;

  using VertexCodeMaker::VertexCodeMaker;

  EncodedRows make(std::uint32_t) const {
    return encode_split(graph_.rows, graph_.metric, training_);
  }
};

class EdgeCodeMaker {
 public:
  static constexpr double kShare = SteeringTrial::kOneBitShare;

  EdgeCodeMaker(const TrialGraph& graph, const CodeTraining& training)
      : graph_(graph), training_(training) {}

  EdgeCodes make(std::uint32_t bits) const {
    const AdjacencyView& edges = graph_.graph;
    const std::uint64_t count =
        std::accumulate(edges.degrees, edges.degrees + edges.count, std::uint64_t{0});
    Progress progress("codes", count, training_.quiet, training_.interrupted);
    return std::make_unique<const quantization::NeighborEncoder>(
        quantization::EdgeSet{graph_.rows, edges},
        quantization::NeighborTraining{graph_.metric, bits, training_.seed, training_.threads,
                                       &progress});
  }
  double search(const SteeringTrial& trial, const EdgeCodes& codes, std::uint32_t list) const {
    return trial.by_codes(*codes, list);
  }
  bool is_exact(std::uint32_t) const { return false; }

  std::vector<std::uint32_t> more_bits(std::uint32_t usual) const {
    std::vector<std::uint32_t> more(quantization::NeighborCodes::kMostBits - usual);
    std::iota(more.begin(), more.end(), usual + 1);
    return more;
  }

 private:
  const TrialGraph& graph_;
  const CodeTraining& training_;
};

/// Tries numbers of bits until one is enough.
template <typename Maker>
class CodeChooser {
 public:
  using Codes = decltype(std::declval<const Maker&>().make(1));

  CodeChooser(const Maker& maker, const TrialGraph& graph, const CodeTraining& training)
      : maker_(maker),
        trial_(graph, training.seed, training.threads),
        products_(graph.metric == Metric::inner_product) {}

  Chosen<Codes> choose(const CodeWish& wish) const {
    const std::uint32_t first = wish.asked.value_or(wish.usual);
    Codes codes = maker_.make(first);
    if (maker_.is_exact(first) || serves(codes)) return {std::move(codes), std::nullopt};
    layout::SteeringFacts why = largest_loss(codes);
    why.usual_bits = first;
    if (!wish.asked) codes = more(std::move(codes), first);
    why.codes = search(codes, why.list);
    return {std::move(codes), why};
  }

 private:
  double search(const Codes& codes, std::uint32_t list) const {
    return maker_.search(trial_, codes, list);
  }
  /// Searches once with each list, because all codes are compared with these shares.
  auto by_vectors() const {
    return [this](std::uint32_t list) {
      const auto known = by_vectors_.find(list);
      if (known != by_vectors_.end()) return known->second;
      return by_vectors_.emplace(list, trial_.by_vectors(list)).first->second;
    };
  }
  auto by_codes(const Codes& codes) const {
    return [&](std::uint32_t list) { return search(codes, list); };
  }
  /// Returns what searches find by the codes and by the vectors, with the list where the two differ
  /// most.
  layout::SteeringFacts largest_loss(const Codes& codes) const {
    layout::SteeringFacts most{};
    for (const std::uint32_t list : {SteeringTrial::kList, 40u, SteeringTrial::kResults}) {
      const double usual = search(codes, list), vectors = by_vectors()(list);
      if (most.list != 0 && vectors - usual <= most.vectors - most.usual) continue;
      most.list = list;
      most.usual = usual;
      most.vectors = vectors;
    }
    return most;
  }
  bool serves(const Codes& codes) const { return are_ordinary(codes) && serve_products(codes); }
  bool are_ordinary(const Codes& codes) const {
    return codes_serve(by_codes(codes), by_vectors(), Maker::kShare);
  }
  /// False where a longer list does not make up for what the codes lose by products.
  bool serve_products(const Codes& codes) const {
    if (!products_) return true;
    return codes_serve(by_codes(codes), by_vectors(), 1);
  }
  bool are_enough(const Codes& codes, std::uint32_t bits, bool odd) const {
    if (maker_.is_exact(bits)) return true;
    if (!odd) return serve_products(codes);
    return codes_equal_vectors(by_codes(codes), by_vectors());
  }
  /// Returns the first codes that are enough, or else those that find most: more bits may mislead a
  /// search further.
  Codes more(Codes codes, std::uint32_t usual) const {
    const bool odd = !are_ordinary(codes);
    double most = search(codes, SteeringTrial::kList);
    std::uint32_t best = usual, bits = usual;
    for (const std::uint32_t next : maker_.more_bits(usual)) {
      bits = next;
      codes = Codes{};
      codes = maker_.make(bits);
      if (are_enough(codes, bits, odd)) return codes;
      const double share = search(codes, SteeringTrial::kList);
      if (share > most) {
        most = share;
        best = bits;
      }
    }
    if (bits != best) codes = maker_.make(best);
    return codes;
  }

  const Maker& maker_;
  const SteeringTrial trial_;
  mutable std::map<std::uint32_t, double> by_vectors_;  ///< the shares found, keyed by the list
  const bool products_;
};

}  // namespace

Chosen<EncodedRows> choose_codes(const TrialGraph& graph, const CodeWish& wish,
                                 const CodeTraining& training) {
  const VertexCodeMaker maker(graph, training);
  if (graph.rows.type != ElementType::b1) return CodeChooser(maker, graph, training).choose(wish);
  return {maker.make(quantization::kWholeVectors), std::nullopt};
}

Chosen<EncodedRows> split_codes(const TrialGraph& graph, const CodeTraining& training) {
  const SplitCodeMaker maker(graph, training);
  return CodeChooser(maker, graph, training).choose({.asked = 1u});
}

Chosen<MemberCodes> choose_member_codes(const TrialClusters& clusters, const CodeWish& wish,
                                        const CodeTraining& training) {
  const auto make = [&](std::uint32_t bits) {
    Progress progress("codes", clusters.members.rows.count, training.quiet, training.interrupted);
    return std::make_unique<const quantization::MemberEncoder>(
        clusters.members, quantization::NeighborTraining{clusters.metric, bits, training.seed,
                                                         training.threads, &progress});
  };
  constexpr double kServing = 1 - SteeringTrial::kTolerance;
  const std::uint32_t first = wish.asked.value_or(wish.usual);
  const MemberTrial trial(clusters.members, clusters.metric, training.seed);
  Chosen<MemberCodes> chosen{make(first), std::nullopt};
  const double usual = trial.found(*chosen.codes);
  if (usual >= kServing) return chosen;
  chosen.why = layout::SteeringFacts{.usual_bits = first,
                                     .list = MemberTrial::kList,
                                     .usual = usual,
                                     .codes = usual,
                                     .vectors = 1};
  const std::uint32_t most = wish.asked ? first : quantization::NeighborCodes::kMostBits;
  for (std::uint32_t bits = first + 1; bits <= most && chosen.why->codes < kServing; ++bits) {
    chosen.codes = make(bits);
    chosen.why->codes = trial.found(*chosen.codes);
  }
  return chosen;
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): the caller has the codes

Chosen<EdgeCodes> choose_edge_codes(const TrialGraph& graph, const CodeWish& wish,
                                    const CodeTraining& training) {
  const EdgeCodeMaker maker(graph, training);
  return CodeChooser(maker, graph, training).choose(wish);
}

}  // namespace farvec::indexing
