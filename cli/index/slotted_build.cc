#include "cli/index/slotted_build.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "base/command_line.h"
#include "base/error.h"
#include "base/quantity.h"
#include "graph/sampled_graph.h"
#include "indexing/codes.h"
#include "layout/pages/slotted_writer.h"
#include "quantization/split_rabitq.h"
#include "rpc/option_rules.h"
#include "ssd_baseline/packing/affinity_threshold.h"
#include "ssd_baseline/packing/packing.h"

namespace farvec::cli {
namespace {

using layout::PayloadKind;
using quantization::SplitRabitq;

indexing::EncodedRows encode_rows(const layout::Manifest& manifest, const BuiltGraph& built,
                                  const SlottedOptions& options, unsigned threads) {
  const std::uint64_t seed = manifest.graph().build.seed;
  if (layout::parse_payload_kind(options.payload) == PayloadKind::code) {
    return indexing::encode_split(built.rows, manifest.metric,
                                  {options.extension_bits, seed, threads});
  }
  return indexing::encode_whole(built.rows, manifest.metric, {built.code_bits, seed, threads});
}

/// Below, one bit of each orders candidates so badly that searches go astray: recall@10 at L = 64
/// is 0.93, 0.90 and 0.88 with 96, 128 and 100 dimensions, where two bits give 0.997, 0.987 and
/// 0.983, what exact distances give (docs/ssd-search.md). A bit more is worth four times the
/// dimensions.
constexpr std::uint32_t kOneBitDimensions = 384;

void describe_slots(layout::Manifest& manifest, const VectorView& rows,
                    const SlottedOptions& options) {
  const bool code = layout::parse_payload_kind(options.payload) == PayloadKind::code;
  manifest.count = rows.count;
  manifest.graph().block_bytes = options.page_bytes;
  layout::SlottedDescription& slotted = manifest.graph().make_slotted();
  slotted.payload = code ? PayloadKind::code : PayloadKind::vector;
  slotted.extension_bits = code ? options.extension_bits : 0;
  slotted.payload_bytes = code
                              ? SplitRabitq::extension_bytes(rows.dimension, options.extension_bits)
                              : static_cast<std::uint32_t>(rows.row_bytes());
  slotted.placement = options.placement;
  slotted.rerank = options.rerank == "on";
}

/// They take 72 bytes each.
constexpr std::uint32_t kRowsPerEntryVertex = 32;
constexpr std::uint32_t kEntryDegree = 16;

std::uint32_t entry_vertices(const SlottedOptions& options, std::size_t count) {
  const std::size_t wanted = options.entry_vertices != 0
                                 ? options.entry_vertices
                                 : (count + kRowsPerEntryVertex - 1) / kRowsPerEntryVertex;
  return static_cast<std::uint32_t>(
      std::min<std::size_t>({wanted, count, layout::EntryGraphShape::kMostVertices}));
}

}  // namespace

void add_slotted_options(Command& command, SlottedOptions& options) {
  command
      .add_option("--payload", options.payload,
                  "slotted: what a record holds beside its neighbours, code or vector; auto:\n"
                  "vector where two fit a page, else code")
      .show_default();
  command
      .add_option("--bits", options.extension_bits,
                  "slotted, --payload code: bits per dimension in the record, 1 to 7; together "
                  "with\n1 bit in DRAM they rank what a search has read")
      .show_default();
  command.add_option("--page-bytes", options.page_bytes, "slotted: 4096, 8192 or 16384 (4KiB, ...)")
      .size()
      .show_default();
  command
      .add_option(
          "--placement", options.placement,
          "slotted: which records share a page: affinity (near each other), bnf (neighbours "
          "in the graph), id")
      .show_default();
  command
      .add_option("--rerank", options.rerank,
                  "slotted, --payload code: on stores the vectors too, so that searches can rank\n"
                  "their results by exact distance; auto: on")
      .show_default();
  command.add_option("--entry-vertices", options.entry_vertices,
                     "slotted: vertices of the graph in DRAM that finds where searches start\n"
                     "[one of 32]");
}

void refuse_unused_slotted(const Command& command, const SlottedOptions* options) {
  std::vector<rpc::OptionRule> rules;
  for (const char* option :
       {"--payload", "--bits", "--page-bytes", "--placement", "--rerank", "--entry-vertices"}) {
    rules.push_back({option, options != nullptr, "--layout slotted"});
  }
  if (options != nullptr) {
    const bool code = options->payload == "code";
    const std::string is = "; --payload is " + options->payload +
                           (options->payload == "auto" ? ", which may choose vectors" : "");
    rules.push_back({"--bits", code, "--payload code, whose records have them" + is});
    rules.push_back(
        {"--rerank", code, "--payload code; a vector in the record ranks exactly" + is});
    rules.push_back({"--code-bits", options->payload == "vector",
                     "csr, padded and --payload vector; codes in records have 1 bit in DRAM, and "
                     "--bits in the record" +
                         is});
  }
  rpc::refuse_unused(command, rules);
}

SlottedOptions resolve_slotted(SlottedOptions options, const VectorView& rows) {
  if (options.payload == "auto") {
    options.payload = 2 * rows.row_bytes() <= options.page_bytes ? "vector" : "code";
  }
  const bool code = layout::parse_payload_kind(options.payload) == PayloadKind::code;
  if (options.rerank == "auto") options.rerank = code ? "on" : "off";
  return options;
}

void warn_of_slotted(const SlottedOptions& options, std::uint32_t dimension,
                     std::uint32_t code_bits) {
  if (code_bits == 1 && dimension < kOneBitDimensions) {
    fmt::print(stderr,
               "warning: 1-bit codes of {} dimensions lead searches astray: recall@10 stays below "
               "0.95 at lists that reach 0.99 with --payload vector --code-bits 4\n",
               dimension);
  }
  if (layout::parse_payload_kind(options.payload) == PayloadKind::code && options.rerank == "off") {
    fmt::print(stderr,
               "warning: without --rerank on, results are in the order of their codes: recall@10 "
               "stays below about 0.97\n");
  }
}

void check_slotted_options(const SlottedOptions& options) {
  if (options.payload != "auto") layout::parse_payload_kind(options.payload);
  ssd_baseline::parse_packing_kind(options.placement);
  if (options.extension_bits < 1 || options.extension_bits > SplitRabitq::kMostExtensionBits) {
    throw Error("--bits {} is out of range: use 1 to {}", options.extension_bits,
                SplitRabitq::kMostExtensionBits);
  }
  if (options.page_bytes != 4096 && options.page_bytes != 8192 && options.page_bytes != 16384) {
    throw Error("--page-bytes {} is not supported: use 4096, 8192 or 16384", options.page_bytes);
  }
  if (options.entry_vertices > layout::EntryGraphShape::kMostVertices) {
    throw Error("--entry-vertices {} is out of range: use 1 to {}", options.entry_vertices,
                layout::EntryGraphShape::kMostVertices);
  }
  if (options.rerank != "on" && options.rerank != "off" && options.rerank != "auto") {
    throw Error("--rerank {} is not understood: use on, off or auto", options.rerank);
  }
}

graph::AffinityOptions affinity_options(const SlottedOptions& options, const VectorView& rows,
                                        Metric metric, const graph::VamanaOptions& graph) {
  layout::Manifest manifest;
  describe_slots(manifest, rows, options);
  manifest.graph().max_degree = graph.degree;
  const layout::SlottedGeometry geometry = manifest.slotted_geometry();
  geometry.validate();
  // A set is bound by what a page holds; a neighbour takes two bytes and some bits.
  const std::uint32_t record_bytes =
      geometry.least_record_bytes() + layout::SlottedGeometry::kSlotBytes + graph.degree * 9 / 4;
  return {ssd_baseline::affinity_threshold(rows, metric, graph.seed, graph.threads),
          std::max(geometry.page_capacity() / record_bytes, 1u)};
}

layout::Manifest write_slotted(const std::filesystem::path& directory, layout::Manifest manifest,
                               const BuiltGraph& built, const SlottedOptions& options,
                               const layout::WriteOptions& write) {
  describe_slots(manifest, built.rows, options);
  const AdjacencyView graph = built.graph.view();
  const layout::RecordCosts costs =
      layout::record_costs(manifest.slotted_geometry(), graph, write.threads);
  const layout::PagePlan plan = ssd_baseline::pack_records(
      ssd_baseline::parse_packing_kind(options.placement),
      {graph, costs, built.stats.affine, manifest.graph().build.seed, write.threads});
  const auto pairs = ssd_baseline::count_affine_pairs(built.stats.affine, plan);
  manifest.slotted().affine_pairs = pairs.all;
  manifest.slotted().affine_pairs_together = pairs.together;
  const graph::SampledGraph entries(built.rows, manifest.metric,
                                    {.vertices = entry_vertices(options, built.rows.count),
                                     .degree = std::min(kEntryDegree, manifest.graph().max_degree),
                                     .seed = manifest.graph().build.seed,
                                     .threads = write.threads});
  const indexing::EncodedRows encoded = encode_rows(manifest, built, options, write.threads);
  const bool code = manifest.slotted().payload == PayloadKind::code;
  const layout::PayloadView payloads =
      code ? layout::PayloadView{encoded.extensions.data(), manifest.slotted().payload_bytes}
           : layout::PayloadView{built.rows.data, built.rows.stride_bytes};
  return layout::write_slotted_index(
      directory, std::move(manifest),
      {graph, built.rows, payloads, encoded.view(), costs, plan, entries.view()}, write);
}

}  // namespace farvec::cli
