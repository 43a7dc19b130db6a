// Binds Collection.create().
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <filesystem>
#include <optional>
#include <string>

#include "collection/write/collection.h"
#include "collection/write/facts.h"
#include "graph/usual_degree.h"
#include "indexing/code_bits.h"
#include "python/arrays.h"
#include "python/attributes.h"
#include "python/bindings.h"
#include "python/errors.h"
#include "python/reduction.h"

namespace farvec::python {
namespace {

namespace nb = nanobind;
using namespace nb::literals;

/// Holds the arguments for segments of one kind only; one without a value was not given.
struct GraphSegments {
  std::optional<std::int64_t> degree;
  std::optional<std::int64_t> list;
  std::optional<double> alpha;
  std::optional<std::int64_t> code_bits;
};
struct ClusterSegments {
  std::optional<std::uint64_t> cluster_bytes;
  std::optional<std::int64_t> replicas;
  std::optional<double> closure_ratio;
  std::optional<double> balance;
};

/// Puts `value` into `option` where there is one; then throws unless segments are of that kind.
template <typename Value, typename Option, typename Convert>
void take(const std::optional<Value>& value, std::string_view name, bool of_this_kind,
          std::string_view kind, Option& option, const Convert& convert) {
  if (!value) return;
  if (!of_this_kind) throw_invalid("{} is for kind='{}'", name, kind);
  option = convert(*value, name);
}

/// Is the conversion of take() for values that need no check of their own.
constexpr auto kAsItIs = [](auto value, std::string_view) { return value; };

void take_graph(const GraphSegments& said, const std::string& layout,
                layout::CollectionOptions& options) {
  const bool graph = options.kind == layout::IndexKind::graph;
  take(said.degree, "degree", graph, "graph", options.degree, to_count);
  take(said.list, "list", graph, "graph", options.list, to_count);
  take(said.alpha, "alpha", graph, "graph", options.alpha, kAsItIs);
  std::optional<std::uint32_t> bits;
  take(said.code_bits, "code_bits", graph, "graph", bits, to_count);
  if (!graph) return;
  if (!layout.empty()) options.layout = parsed("layout", layout::parse_layout_kind, layout);
  options.code_bits = indexing::code_bits_of(options.layout, bits, "code_bits");
}

void take_clusters(const ClusterSegments& said, const std::string& layout,
                   layout::CollectionOptions& options) {
  const bool cluster = options.kind == layout::IndexKind::cluster;
  layout::ClusterSegmentOptions& clusters = options.clusters;
  take(said.cluster_bytes, "cluster_bytes", cluster, "cluster", clusters.cluster_bytes, kAsItIs);
  take(said.replicas, "replicas", cluster, "cluster", clusters.replicas, to_count);
  take(said.closure_ratio, "closure_ratio", cluster, "cluster", clusters.closure_ratio, kAsItIs);
  take(said.balance, "balance", cluster, "cluster", clusters.balance, kAsItIs);
  if (cluster && !layout.empty()) {
    clusters.layout = parsed("layout", layout::parse_cluster_layout, layout);
  }
}

}  // namespace

void bind_collection_create(nb::class_<Handle<Changing>>& type) {
  type.def_static(
      "create",
      [](const std::filesystem::path& path, std::int64_t dimension, const std::string& element,
         const std::string& metric, std::int64_t memtable_rows, std::int64_t merge_fanout,
         const std::string& kind, const std::string& layout, std::optional<std::int64_t> degree,
         std::optional<std::int64_t> list, std::optional<double> alpha,
         std::optional<std::int64_t> code_bits, std::optional<std::uint64_t> cluster_bytes,
         std::optional<std::int64_t> replicas, std::optional<double> closure_ratio,
         std::optional<double> balance, const nb::object& schema,
         const std::optional<std::string>& store, const std::string& by,
         const std::string& bits_metric, const std::optional<std::string>& second_copy) {
        layout::CollectionOptions options;
        options.memtable_rows = to_count(memtable_rows, "memtable_rows");
        options.merge_fanout = to_count(merge_fanout, "merge_fanout");
        options.kind = parsed("kind", layout::parse_segment_kind, kind);
        const Metric compared = parsed("metric", parse_metric, metric);
        if (options.kind == layout::IndexKind::graph)
          options.degree = graph::usual_degree(compared);
        take_graph({degree, list, alpha, code_bits}, layout, options);
        take_clusters({cluster_bytes, replicas, closure_ratio, balance}, layout, options);
        options.store = reduction_of({store, by, bits_metric, second_copy});
        const ElementType elements = parsed("type", parse_element_type, element);
        const changes::RowShape rows{
            .type = elements,
            .dimension = within(dimension, "dimension", 1, max_dimension(elements)),
            .metric = compared,
            .schema = to_schema(schema)};
        collection::Collection::create(path, collection::empty_manifest(rows, options));
      },
      "path"_a, "dimension"_a, nb::kw_only(), "type"_a = "f32", "metric"_a = "l2",
      "memtable_rows"_a = 1 << 16, "merge_fanout"_a = 2, "kind"_a = "graph", "layout"_a = "",
      "degree"_a = nb::none(), "list"_a = nb::none(), "alpha"_a = nb::none(),
      "code_bits"_a = nb::none(), "cluster_bytes"_a = nb::none(), "replicas"_a = nb::none(),
      "closure_ratio"_a = nb::none(), "balance"_a = nb::none(), "schema"_a = nb::none(),
      "store"_a = nb::none(), "by"_a = "sign", "bits_metric"_a = "hamming",
      "second_copy"_a = nb::none(),
      R"(Make an empty collection, which is then opened.

Args:
    path: Folder to make.
    dimension: Of the vectors; of ``b1`` their bits.
    type: Of their elements: ``f32``, ``f16``, ``u8``, ``i8`` or ``b1`` (bits, which come as bool, or
        as uint8 of numpy.packbits()).
    metric: ``l2``, ``ip`` or ``cosine``; of bits ``hamming`` or ``jaccard``.
    memtable_rows: Rows that are searched in the writer's memory before they become a segment.
    merge_fanout: Segments of one size that are merged into one, 2 to 64.
    kind: Of the segments: ``graph`` or ``cluster``.
    layout: Of graphs ``csr``, ``packed``, ``inline``, or ``slotted``, which is searched on an SSD;
        of clusters ``grouped``, ``grouped-inline``, ``coupled``, ``decoupled`` or ``coded``; empty:
        the first of them.
    degree, list, alpha, code_bits: Of graphs, as :func:`farvec.build_graph`; None: its own.
    cluster_bytes: Of clusters: bytes of the vectors that have one as their own, on average; None:
        8192.
    replicas, closure_ratio, balance: Of clusters, as :func:`farvec.build_clusters`; None: its own.
    schema: Attributes of the rows and their types, ``{"price": "i64", "section": "string not null",
        "tags": "set"}``: ``u64``, ``i64``, ``f64``, ``bool``, ``timestamp``, ``string``, ``set``
        or ``bytes``; None: rows have none.
    store, by, bits_metric, second_copy: As :func:`farvec.build_graph`: segments then have fewer
        bits than the rows, and a second copy of these. Thresholds and factors are those of each
        segment's own rows.

Raises:
    InvalidArgument: A value that cannot be, or one of the other kind.
    Error: The folder is there and not empty; then nothing is changed.)");
}

}  // namespace farvec::python
