#include "measure/advise/few_bits.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/parallel.h"
#include "base/stored_form.h"
#include "distance/distance.h"
#include "quantization/reduction.h"

namespace farvec::measure {
namespace {

using indexing::ReductionWish;

std::vector<ReductionWish> wishes() {
  std::vector<ReductionWish> all;
  for (const BitRule rule : kBitRules) {
    for (const Metric metric : {Metric::hamming, Metric::jaccard}) {
      all.push_back({.type = ElementType::b1, .bits_metric = metric, .rule = rule});
    }
  }
  all.push_back({.type = ElementType::i8});
  all.push_back({.type = ElementType::f16});
  return all;
}

/// A sample with its queries and their true neighbours.
struct FewBitsTrial {
  indexing::Source source;
  VectorView queries;
  dataset::GroundTruth truth;
};

/// Says which of the rows that are nearest by the reduced vectors are true neighbours.
class ReducedTrial {
 public:
  ReducedTrial(const FewBitsTrial& trial, const ReductionWish& wish, unsigned threads)
      : trial_(trial),
        reduced_(trial.source, wish, threads),
        rows_(reduced_.source().rows),
        reduction_(reduced_.facts(), wish.type, rows_.dimension),
        many_(distance::many_kernel(reduced_.source().manifest.metric, wish.type, rows_.dimension)),
        all_(rows_.count) {
    std::iota(all_.begin(), all_.end(), NodeId{0});
  }

  std::size_t vector_bytes() const { return rows_.row_bytes(); }

  /// Adds to found[i] how many true neighbours of a query are among the kRefines[i] * k nearest.
  void add_query(std::size_t query, std::array<std::uint64_t, kRefines.size()>& found) const {
    std::vector<std::byte> asked(reduction_.bytes());
    reduction_.reduce(trial_.queries.row(query), asked.data());
    std::vector<float> far(rows_.count);
    many_(asked.data(), rows_, all_, far.data());
    const auto k = static_cast<std::size_t>(trial_.truth.k);
    std::vector<NodeId> nearest = all_;
    const std::size_t most = std::min<std::size_t>(kRefines.back() * k, nearest.size());
    std::partial_sort(
        nearest.begin(), nearest.begin() + static_cast<std::ptrdiff_t>(most), nearest.end(),
        [&](NodeId a, NodeId b) { return far[a] != far[b] ? far[a] < far[b] : a < b; });
    const NodeId* const truth = trial_.truth.ids.data() + query * k;
    for (std::size_t i = 0; i < kRefines.size(); ++i) {
      const auto end =
          nearest.begin() + static_cast<std::ptrdiff_t>(std::min(kRefines[i] * k, most));
      found[i] += static_cast<std::uint64_t>(std::count_if(
          truth, truth + k, [&](NodeId id) { return std::find(nearest.begin(), end, id) != end; }));
    }
  }

 private:
  const FewBitsTrial& trial_;
  const indexing::ReducedSource reduced_;
  const VectorView rows_;
  const quantization::Reduction reduction_;
  const distance::ManyKernel many_;
  std::vector<NodeId> all_;
};

FewBits try_one(const FewBitsTrial& trial, const ReductionWish& wish,
                const FewBitsOptions& options) {
  const unsigned threads = resolve_threads(options.threads);
  const ReducedTrial reduced(trial, wish, threads);
  std::vector<std::array<std::uint64_t, kRefines.size()>> found(threads);
  parallel_for(trial.queries.count, 4, threads,
               [&](std::size_t begin, std::size_t end, unsigned worker) {
                 if (asked_to_end(options.interrupted)) throw WorkInterrupted();
                 for (std::size_t q = begin; q < end; ++q) reduced.add_query(q, found[worker]);
               });
  FewBits result{.wish = wish, .vector_bytes = reduced.vector_bytes()};
  const auto wanted = static_cast<double>(trial.queries.count * trial.truth.k);
  for (std::size_t i = 0; i < kRefines.size(); ++i) {
    std::uint64_t sum = 0;
    for (const auto& of_worker : found) sum += of_worker[i];
    result.recall[i] = static_cast<double>(sum) / wanted;
  }
  return result;
}

/// Some of the rows and queries, with the neighbours among these rows.
Sample smaller_sample(const Sample& sample, const VectorView& queries,
                      const FewBitsOptions& options) {
  // Rows in stored form, which another pass of normalising would leave as they are.
  Sample small = make_sample(sample_set(sample.rows.view(), kMostFewBitsRows, 1), queries,
                             {sample.manifest.metric, options.k, options.threads});
  small.manifest = sample.manifest;
  return small;
}

bool can_be(const ReductionWish& wish, const layout::Manifest& manifest) {
  return wish.type == ElementType::b1 ||
         element_bytes(wish.type) < element_bytes(manifest.stored_type);
}

}  // namespace

std::optional<std::uint32_t> FewBits::enough(double wanted) const {
  for (std::size_t i = 0; i < kRefines.size(); ++i) {
    if (recall[i] >= wanted) return kRefines[i];
  }
  return std::nullopt;
}

std::vector<FewBits> try_few_bits(const Sample& sample, const VectorView& queries,
                                  const FewBitsOptions& options) {
  if (sample.manifest.stored_type == ElementType::b1) return {};
  const VectorView asked = thin_out(queries, kMostFewBitsQueries);
  const Sample small = smaller_sample(sample, asked, options);
  const FewBitsTrial trial{{small.manifest, small.rows.view()}, asked, small.truth};
  std::vector<FewBits> tried;
  for (const ReductionWish& wish : wishes()) {
    if (can_be(wish, sample.manifest)) tried.push_back(try_one(trial, wish, options));
  }
  return tried;
}

std::optional<std::size_t> choose_few_bits(const std::vector<FewBits>& tried, double wanted) {
  std::optional<std::size_t> best;
  const auto cost = [&](const FewBits& one) {
    return std::pair(one.vector_bytes, one.enough(wanted).value());
  };
  for (std::size_t i = 0; i < tried.size(); ++i) {
    if (!tried[i].enough(wanted)) continue;
    if (!best || cost(tried[i]) < cost(tried[*best])) best = i;
  }
  return best;
}

std::string to_string(const ReductionWish& wish) {
  if (wish.type != ElementType::b1) return std::string(farvec::to_string(wish.type));
  return fmt::format("b1 by {}, {}", farvec::to_string(wish.rule),
                     farvec::to_string(wish.bits_metric));
}

std::string store_options(const ReductionWish& wish) {
  std::string text = fmt::format("--store {}", farvec::to_string(wish.type));
  if (wish.type != ElementType::b1) return text;
  return text + fmt::format(" --by {} --bits-metric {}", farvec::to_string(wish.rule),
                            farvec::to_string(wish.bits_metric));
}

}  // namespace farvec::measure
