#include "indexing/reduced_source.h"

#include <utility>
#include <vector>

#include "base/finite.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status_error.h"
#include "base/stored_form.h"
#include "dataset/view_reader.h"
#include "distance/distance.h"
#include "indexing/bit_thresholds.h"
#include "layout/index/index_removal.h"

namespace farvec::indexing {
namespace {

constexpr std::size_t kReduceRun = 1024;

/// Returns the metric by which the index compares its own vectors.
Metric reduced_metric(const ReductionWish& wish, Metric metric) {
  if (wish.type == ElementType::b1) return wish.bits_metric;
  // Rounded unit vectors are not of length 1 any more.
  return stores_unit_vectors(metric) ? Metric::l2 : metric;
}

dataset::VectorSet reduced_rows(const VectorView& rows, const layout::SecondCopyFacts& facts,
                                ElementType type, unsigned threads) {
  const quantization::Reduction reduction(facts, type, rows.dimension);
  dataset::VectorSet reduced(rows.count, rows.dimension, type);
  parallel_for(rows.count, kReduceRun, threads, [&](std::size_t begin, std::size_t end, unsigned) {
    for (std::size_t i = begin; i < end; ++i) reduction.reduce(rows.row(i), reduced.mutable_row(i));
  });
  return reduced;
}

dataset::VectorSet halves_of(const VectorView& rows, unsigned threads) {
  dataset::VectorSet halves(rows.count, rows.dimension, ElementType::f16);
  parallel_for(rows.count, kReduceRun, threads, [&](std::size_t begin, std::size_t end, unsigned) {
    for (std::size_t i = begin; i < end; ++i) {
      distance::narrow(reinterpret_cast<const float*>(rows.row(i)), ElementType::f16,
                       rows.dimension, halves.mutable_row(i));
      if (is_finite_row(halves.mutable_row(i), ElementType::f16, rows.dimension)) continue;
      throw StatusError(StatusCode::invalid_argument,
                        "row {} has an element beyond 65504, which a second copy of f16 does not "
                        "have: leave it out",
                        i);
    }
  });
  return halves;
}

layout::SecondCopyFacts facts_without_parameters(const Source& original, const VectorView& second,
                                                 ElementType type) {
  const bool bits = type == ElementType::b1;
  return {.metric = original.manifest.metric,
          .source_type = original.manifest.source_type,
          .type = second.type,
          .reduction = bits ? layout::ReductionKind::bits : layout::ReductionKind::rounded,
          .parameters = {}};
}

std::vector<float> reduction_parameters(const VectorView& second, const ReductionWish& wish,
                                        unsigned threads, quantization::RoundedRows which) {
  if (wish.type != ElementType::b1) {
    return {quantization::rounding_factor(second, wish.type, threads, which)};
  }
  dataset::ViewReader rows(second, "the data");
  return bit_thresholds(rows, wish.rule);
}

layout::Manifest reduced_manifest(layout::Manifest manifest, const ReductionWish& wish) {
  manifest.metric = reduced_metric(wish, manifest.metric);
  manifest.source_type = manifest.stored_type = wish.type;
  return manifest;
}

/// Makes the halves, where the second copy is to have them, and returns its rows.
VectorView second_rows(const VectorView& stored, const ReductionWish& wish,
                       std::optional<dataset::VectorSet>& halved, unsigned threads) {
  if (wish.second.value_or(stored.type) == stored.type) return stored;
  halved.emplace(halves_of(stored, threads));
  return halved->view();
}

}  // namespace

ReducedSource::ReducedSource(const Source& original, const ReductionWish& wish, unsigned threads,
                             quantization::RoundedRows which)
    : manifest_((check_reduction(wish, original.manifest.metric, original.manifest.source_type),
                 reduced_manifest(original.manifest, wish))),
      second_(second_rows(original.rows, wish, halved_, threads)),
      rows_(0, original.rows.dimension, wish.type) {
  facts_ = facts_without_parameters(original, second_, wish.type);
  facts_.parameters = reduction_parameters(second_, wish, threads, which);
  manifest_.count = second_.count;
  manifest_.dimension = second_.dimension;
  manifest_.second_copy = layout::second_copy_entry(facts_, manifest_);
  rows_ = reduced_rows(second_, facts_, wish.type, threads);
}

void ReducedSource::write_second(const std::filesystem::path& folder,
                                 const layout::Manifest& manifest,
                                 const layout::WriteOptions& options) const {
  Progress progress("second copy", second_.count * second_.row_bytes(), options.quiet,
                    options.interrupted);
  try {
    layout::write_second_copy(folder, manifest, facts_, second_, [&](std::uint64_t bytes) {
      if (options.on_chunk) options.on_chunk(bytes);
      progress.advance(bytes);
    });
  } catch (...) {
    layout::remove_index_with_warning(folder);  // it is of no use without its second copy
    throw;
  }
}

}  // namespace farvec::indexing
