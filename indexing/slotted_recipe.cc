#include "indexing/slotted_recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "base/status_error.h"
#include "graph/sampled_graph.h"
#include "indexing/chosen_codes.h"
#include "indexing/code_bits.h"
#include "layout/index/slotted_writer.h"
#include "quantization/split_rabitq.h"

namespace farvec::indexing {
namespace {

using layout::PayloadKind;
using quantization::SplitRabitq;

/// Makes the codes. The manifest says what searches lose by them, if they do.
EncodedRows encode_rows(layout::Manifest& manifest, const BuiltGraph& built,
                        const SlottedRecipe& recipe, const layout::WriteOptions& options) {
  const TrialGraph graph{built.source.rows, built.graph.view(), manifest.metric};
  const CodeTraining training{recipe.extension_bits, manifest.graph().build.seed, options.threads,
                              options.interrupted, options.quiet};
  const bool split = recipe.payload == PayloadKind::code;
  Chosen<EncodedRows> chosen =
      split ? split_codes(graph, training)
            : choose_codes(graph, {recipe.code_bits, usual_code_bits(layout::LayoutKind::slotted)},
                           training);
  manifest.graph().build.steering = chosen.why;
  return std::move(chosen.codes);
}

/// Describes the slots in the manifest. `recipe` is resolved.
void describe_slots(layout::Manifest& manifest, const VectorView& rows,
                    const SlottedRecipe& recipe) {
  const bool code = recipe.payload == PayloadKind::code;
  manifest.count = rows.count;
  manifest.graph().block_bytes = recipe.page_bytes;
  layout::SlottedDescription& slotted = manifest.graph().make_slotted();
  slotted.payload = code ? PayloadKind::code : PayloadKind::vector;
  slotted.extension_bits = code ? recipe.extension_bits : 0;
  slotted.payload_bytes = code ? SplitRabitq::extension_bytes(rows.dimension, recipe.extension_bits)
                               : static_cast<std::uint32_t>(rows.row_bytes());
  slotted.placement = to_string(recipe.packing);
  slotted.rerank = recipe.rerank == true;
}

constexpr std::uint32_t kPageSizes[] = {4096, 8192, 16384};

/// An entry vertex takes 72 bytes.
constexpr std::uint32_t kRowsPerEntryVertex = 32;
constexpr std::uint32_t kEntryDegree = 16;

std::uint32_t entry_vertices(const SlottedRecipe& recipe, std::size_t count) {
  const std::size_t wanted = recipe.entry_vertices != 0
                                 ? recipe.entry_vertices
                                 : (count + kRowsPerEntryVertex - 1) / kRowsPerEntryVertex;
  return static_cast<std::uint32_t>(
      std::min<std::size_t>({wanted, count, layout::EntryGraphShape::kMostVertices}));
}

/// Returns what the build is to remember for the packing.
graph::AffinityOptions affinity_options(const SlottedRecipe& recipe, const Source& source,
                                        const graph::VamanaOptions& graph) {
  layout::Manifest manifest;
  describe_slots(manifest, source.rows, recipe);
  manifest.graph().max_degree = graph.degree;
  const layout::SlottedGeometry geometry = manifest.slotted_geometry();
  geometry.validate();
  // A set is bounded by what a page holds; a neighbour takes two bytes and some bits.
  const std::uint32_t record_bytes =
      geometry.least_record_bytes() + layout::SlottedGeometry::kSlotBytes + graph.degree * 9 / 4;
  return {slotted::affinity_threshold(source.rows, source.manifest.metric,
                                      {.percentile = recipe.affinity_percentile,
                                       .seed = graph.seed,
                                       .threads = graph.threads,
                                       .quiet = graph.quiet,
                                       .interrupted = graph.interrupted}),
          std::max(geometry.page_capacity() / record_bytes, 1u)};
}

/// Decides which page each record is in; the manifest then says how well that went.
layout::PagePlan pack(layout::Manifest& manifest, const BuiltGraph& built,
                      const layout::RecordCosts& costs, const layout::WriteOptions& options) {
  const graph::AffineSets& affine = built.stats.affine;
  layout::PagePlan plan =
      slotted::pack_records(slotted::parse_packing_kind(manifest.slotted().placement),
                            {built.graph.view(), costs, affine, manifest.graph().build.seed,
                             options.threads, options.quiet, options.interrupted});
  const auto pairs = slotted::count_affine_pairs(affine, plan);
  manifest.slotted().affine_pairs = pairs.all;
  manifest.slotted().affine_pairs_together = pairs.together;
  return plan;
}

/// Finds where searches start.
graph::SampledGraph sample_entries(const layout::Manifest& manifest, const VectorView& rows,
                                   const SlottedRecipe& recipe,
                                   const layout::WriteOptions& options) {
  const Interruption go_on = [] { return false; };
  return {rows, manifest.metric,
          graph::SampleOptions{.vertices = entry_vertices(recipe, rows.count),
                               .degree = std::min(kEntryDegree, manifest.graph().max_degree),
                               .seed = manifest.graph().build.seed,
                               .threads = options.threads,
                               .interrupted = options.interrupted ? options.interrupted : go_on,
                               .quiet = options.quiet}};
}

}  // namespace

void check_slotted(const SlottedRecipe& recipe) {
  const auto refuse = [](std::string_view what, std::uint64_t value, const std::string& allowed) {
    throw StatusError(StatusCode::invalid_argument, "{}: {} is out of range: use {}", what, value,
                      allowed);
  };
  const std::uint32_t bits = recipe.extension_bits;
  if (bits < 1 || bits > quantization::SplitRabitq::kMostExtensionBits) {
    refuse("bits per dimension in the record", bits,
           fmt::format("1 to {}", quantization::SplitRabitq::kMostExtensionBits));
  }
  const std::uint32_t page = recipe.page_bytes;
  if (std::ranges::find(kPageSizes, page) == std::end(kPageSizes)) {
    refuse("bytes of a page", page, "4096, 8192 or 16384");
  }
  if (!(recipe.affinity_percentile >= 0 && recipe.affinity_percentile <= 100)) {
    throw StatusError(StatusCode::invalid_argument,
                      "percentile of affine distances: {} is out of range: use 0 to 100",
                      recipe.affinity_percentile);
  }
  if (recipe.entry_vertices > layout::EntryGraphShape::kMostVertices) {
    refuse("vertices of the graph of entries", recipe.entry_vertices,
           fmt::format("1 to {}", layout::EntryGraphShape::kMostVertices));
  }
}

namespace {

/// Bits have no codes that could be in the pages in place of the vectors.
void require_vectors_in_pages(const SlottedRecipe& recipe, const VectorView& rows) {
  const bool vectors = recipe.payload.value_or(PayloadKind::vector) == PayloadKind::vector;
  const bool fits = 2 * rows.row_bytes() <= recipe.page_bytes;
  if (vectors && fits) {
    return require_codes_fit(rows.type, layout::LayoutKind::slotted, recipe.code_bits, "codes of");
  }
  throw StatusError(
      StatusCode::invalid_argument,
      "pages of {} bytes have to hold vectors of {} bits, because bits have no codes: "
      "{}",
      recipe.page_bytes, rows.dimension, fits ? "use payload vector" : "use larger pages");
}

}  // namespace

SlottedRecipe resolve_slotted(SlottedRecipe recipe, const VectorView& rows) {
  if (rows.type == ElementType::b1) require_vectors_in_pages(recipe, rows);
  if (!recipe.payload) {
    recipe.payload =
        2 * rows.row_bytes() <= recipe.page_bytes ? PayloadKind::vector : PayloadKind::code;
  }
  if (!recipe.rerank) recipe.rerank = recipe.payload == PayloadKind::code;
  return recipe;
}

std::optional<std::uint32_t> sufficient_page_bytes(const SlottedRecipe& recipe,
                                                   const VectorView& rows, std::uint32_t degree) {
  layout::Manifest manifest;
  manifest.dimension = rows.dimension;
  manifest.stored_type = rows.type;
  describe_slots(manifest, rows, recipe);
  manifest.graph().max_degree = degree;
  layout::SlottedGeometry geometry = manifest.slotted_geometry();
  for (const std::uint32_t bytes : kPageSizes) {
    geometry.page_bytes = bytes;
    if (geometry.max_record_bytes() + layout::SlottedGeometry::kSlotBytes <=
        geometry.page_capacity()) {
      return bytes;
    }
  }
  return std::nullopt;
}

BuiltGraph build_slotted_graph(Source source, const SlottedRecipe& recipe,
                               graph::VamanaOptions options) {
  options.affinity = affinity_options(resolve_slotted(recipe, source.rows), source, options);
  return build_graph(std::move(source), options);
}

layout::Manifest write_slotted(const std::filesystem::path& directory, const BuiltGraph& built,
                               const SlottedRecipe& given, const layout::WriteOptions& options) {
  const VectorView& rows = built.source.rows;
  const SlottedRecipe recipe = resolve_slotted(given, rows);
  layout::Manifest manifest = built.source.manifest;
  describe_slots(manifest, rows, recipe);
  const AdjacencyView graph = built.graph.view();
  const layout::RecordCosts costs =
      layout::record_costs(manifest.slotted_geometry(), graph, options.threads);
  const layout::PagePlan plan = pack(manifest, built, costs, options);
  const graph::SampledGraph entries = sample_entries(manifest, rows, recipe, options);
  const EncodedRows encoded = encode_rows(manifest, built, recipe, options);
  const layout::PayloadView payloads =
      recipe.payload == PayloadKind::code
          ? layout::PayloadView{encoded.extensions.data(), manifest.slotted().payload_bytes}
          : layout::PayloadView{rows.data, rows.stride_bytes};
  return layout::write_slotted_index(
      directory, std::move(manifest),
      {graph, rows, payloads, encoded.view(), costs, plan, entries.view()}, options);
}

}  // namespace farvec::indexing
