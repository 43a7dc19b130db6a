// Binds build_graph() and the other builds of indexes.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>
#include <utility>

#include "graph/usual_degree.h"
#include "indexing/code_bits.h"
#include "python/bindings.h"
#include "python/errors.h"
#include "python/index_builds.h"
#include "python/json_object.h"
#include "python/reduction.h"

namespace farvec::python {
namespace {

namespace nb = nanobind;
using namespace nb::literals;

std::optional<std::uint32_t> given(std::optional<std::int64_t> value, std::string_view name) {
  if (!value) return std::nullopt;
  return to_count(*value, name);
}

constexpr const char* kGraphDoc =
    R"(Build a Vamana graph for tiers of memory, and write it as a folder.

The same data, options and seed give the same bytes, whatever ``threads`` is.

Args:
    data: ``(rows, dimension)`` of float32, float16, uint8, int8 or bool, finite, C-contiguous (else
        copied, with a warning), or a vector file (``.fbin .u8bin .npy .fvecs .hdf5`` and others).
    out: Folder to make.
    metric: ``l2``, ``ip`` or ``cosine``; of bits ``hamming`` or ``jaccard``.
    layout: Of the records: ``csr``, ``packed``, ``inline`` or ``padded``.
    degree: R: most edges of a vertex; None: 32, of metric ``ip`` 48.
    list: L of the searches during the build.
    alpha: How much longer an edge may be than a detour.
    passes: Times that every vertex is inserted.
    sample_queries: Queries like those to come, rows or a file, where they are not like the data:
        what is nearest to one of them gets edges to the rest of it, in place of others.
    code_bits: Bits per dimension of the codes in DRAM, 1 to 8, or 0: no codes, but the vectors
        themselves; None: the layout's own, or more where trial searches show that the data needs
        more.
    record_checksum: 4 bytes more per record, checked on every read.
    threads: 0: one per processor.
    seed: Of everything that is random.
    name: Of the data set in reports; empty: of the file.
    overwrite: Replace an index that is there.
    allow_nonfinite: Of a file: drop rows with NaN or infinite values; ids count what is left.
    progress: Say on stderr how far it is.
    type: ``b1`` says that uint8 are bytes of bits, as numpy.packbits() makes them, in an array as
        in a file; None: elements are what they are. An array of bool is of bits in any case.
    dimension: Of ``b1``: bits of a row; None: 8 for each byte. Bits after the last one are 0.
    bitorder: Of ``b1``: ``big`` or ``little``, as numpy.packbits() has it.
    store: Type of the index's vectors where it is to have fewer bits than the data: ``b1``, ``i8``,
        ``u8`` or ``f16``. A second copy in the folder then ranks candidates again. None: as the
        data.
    by: With ``store="b1"``: a bit is 1 where the element is above 0 (``sign``), or above the
        ``mean`` or the ``median`` of that element over the data.
    bits_metric: With ``store="b1"``: ``hamming`` or ``jaccard``.
    second_copy: With store: ``f16`` for half of the bytes of float32; None: the type of the data.

Returns:
    What was built: count, dimension, average_degree, seconds, amplification and more.

Raises:
    InvalidArgument: A shape, type or value that cannot be.
    Error: The folder is there already, or the disk is full; nothing is left behind.
    KeyboardInterrupt: Ctrl-C has ended it; nothing is left behind.)";

constexpr const char* kSlottedDoc =
    R"(Build a Vamana graph in slotted pages for SSDs (``tier="ssd"``), and write it as a folder.

Args:
    data, out, metric, degree, list, alpha, passes, sample_queries, threads, seed, name,
        overwrite, allow_nonfinite, progress, type, dimension, bitorder, store, by, bits_metric,
        second_copy: As :func:`build_graph`
        has them.
    payload: Of the records: ``code``, ``vector``, or ``auto``: a vector where two fit a page.
    code_bits: Payload vector: bits per dimension of the codes in DRAM, 1 to 8, or 0: no codes, but
        the vectors themselves; None: 4, or more where the data needs more.
    extension_bits: Payload code: bits per dimension in the record, 1 to 7.
    page_bytes: 4096, 8192 or 16384.
    placement: Which records share a page: ``bnf``, ``affinity`` or ``id``.
    affinity_percentile: Records are affine that are at most as far from each other as this
        percentile, 0 to 100, of the vectors of a cluster is from its centroid.
    rerank: Store the vectors too, to rank results again; None: beside codes.
    entry_vertices: Of the graph in DRAM that finds where searches start; 0: as many as pay.

Returns:
    What was built, as :func:`build_graph`, and payload and pages.

Raises:
    As :func:`build_graph`.)";

constexpr const char* kClustersDoc =
    R"(Build balanced clusters with replicas, and write them as a folder.

Args:
    data, out, metric, threads, seed, name, overwrite, allow_nonfinite, progress, type, dimension,
        bitorder, store, by, bits_metric, second_copy, record_checksum: As :func:`build_graph` has
        them.
    clusters: How many, 1 to the number of rows.
    cluster_bytes: Or: bytes of the vectors that have one cluster as their own, on average.
    head_ratio: Or: clusters over vectors, above 0 to 1. Without any of these: 0.16, as in SPANN.
    heads: ``means``: a centroid is the mean of the cluster's vectors; ``vectors``: that of them
        which is nearest to the mean; ``rounded``: the mean, of the data's elements, which takes
        as little DRAM. None: means with clusters or cluster_bytes, else vectors.
    closure: Which near clusters a vector is also put into: ``sptag``, those nearer to it than to
        each of its clusters before; ``spann``, those nearer to it than to the candidate before;
        ``fitted``, all within a ratio that makes (R + 1) / 2 per vector, but for near doubles.
        None: fitted with clusters or cluster_bytes, else sptag.
    replicas: R: most clusters of a vector, 1 to 8.
    closure_ratio: A vector is put into a cluster only when that centroid is at most this many times
        as far away as its nearest one; 0: of the closure.
    rng_factor: 1: further clusters only when their centroid is nearer to the vector than to the
        centroids before it; more keeps more replicas; 0: of the closure.
    balance: Most vectors that have one cluster as their own, over the mean; 1 or more.
    layout: ``grouped``, ``grouped-inline``, ``coupled``, ``decoupled`` or ``coded``.
    code_bits: Layout coded: bits per dimension of the codes, 1 to 4; None: 2, or more where the
        data needs more.
    sample: Rows that k-means sees; 0: 64 for each cluster.
    sample_queries: Queries like those to come, rows or a file: a vector is stored with that of its
        clusters which they probe most; None: with the one that has most members.
    sample_probe: Clusters that each query of the sample probes.

Returns:
    What was built: count, clusters, replicas, largest_cluster, seconds, amplification and more.

Raises:
    As :func:`build_graph`.)";

/// Returns the arguments that every build has, whatever it makes.
CommonBuild common_build(const std::filesystem::path& out, const std::string& metric,
                         std::string name) {
  CommonBuild common;
  common.out = out.string();
  common.metric = parsed("metric", parse_metric, metric);
  common.name = std::move(name);
  return common;
}

graph::VamanaOptions vamana(std::int64_t list, float alpha, std::int64_t passes) {
  graph::VamanaOptions options;
  options.list = to_count(list, "list");
  options.alpha = alpha;
  options.passes = to_count(passes, "passes");
  return options;
}

void bind_graph(nb::module_& module) {
  module.def(
      "build_graph",
      [](const FileOrArray& data, const std::filesystem::path& out, const std::string& metric,
         const std::string& layout, std::optional<std::int64_t> degree, std::int64_t list,
         float alpha, std::int64_t passes, std::optional<FileOrArray> sample_queries,
         std::optional<std::int64_t> code_bits, bool record_checksum, unsigned threads,
         std::uint64_t seed, std::string name, bool overwrite, bool allow_nonfinite, bool progress,
         const std::optional<std::string>& element, std::optional<std::int64_t> dimension,
         const std::string& bitorder, const std::optional<std::string>& store,
         const std::string& by, const std::string& bits_metric,
         const std::optional<std::string>& second_copy) {
        GraphBuild build{.common = common_build(out, metric, std::move(name)),
                         .layout = parsed("layout", layout::parse_layout_kind, layout),
                         .graph = vamana(list, alpha, passes),
                         .sample_queries = {},
                         .code_bits = {},
                         .record_checksum = record_checksum};
        build.graph.degree =
            given(degree, "degree").value_or(graph::usual_degree(build.common.metric));
        build.common.overwrite = overwrite;
        build.common.reduction = reduction_of({store, by, bits_metric, second_copy});
        build.common.allow_nonfinite = allow_nonfinite;
        build.common.quiet = build.graph.quiet = !progress;
        build.graph.threads = threads;
        build.graph.seed = seed;
        build.code_bits = given(code_bits, "code_bits");
        const AskedBits bits{element, dimension, bitorder};
        SourceRows rows(data, "data", bits.wish(true));
        if (sample_queries) {
          build.sample_queries.emplace(std::move(*sample_queries), "sample_queries", bits.wish());
        }
        return to_dict(build_graph(rows, std::move(build)));
      },
      "data"_a, "out"_a, nb::kw_only(), "metric"_a = "l2", "layout"_a = "csr",
      "degree"_a = nb::none(), "list"_a = 100, "alpha"_a = 1.2f, "passes"_a = 1,
      "sample_queries"_a.none() = nb::none(), "code_bits"_a = nb::none(),
      "record_checksum"_a = false, "threads"_a = 0, "seed"_a = 1, "name"_a = "",
      "overwrite"_a = false, "allow_nonfinite"_a = false, "progress"_a = true,
      "type"_a = nb::none(), "dimension"_a = nb::none(), "bitorder"_a = "big",
      "store"_a = nb::none(), "by"_a = "sign", "bits_metric"_a = "hamming",
      "second_copy"_a = nb::none(),
      nb::sig("def build_graph(data: numpy.typing.ArrayLike | str | os.PathLike, out: str | "
              "os.PathLike, *, metric: str = 'l2', layout: str = 'csr', degree: int | None = None, "
              "list: int = 100, alpha: float = 1.2, passes: int = 1, sample_queries: "
              "numpy.typing.ArrayLike | str | os.PathLike | None = None, code_bits: int | None = "
              "None, "
              "record_checksum: bool = False, threads: int = 0, seed: int = 1, name: str = '', "
              "overwrite: bool = False, allow_nonfinite: bool = False, progress: bool = True, "
              "type: str | None = None, dimension: int | None = None, bitorder: str = 'big', "
              "store: str | None = None, by: str = 'sign', bits_metric: str = 'hamming', "
              "second_copy: str | None = None) -> "
              "dict[str, typing.Any]"),
      kGraphDoc);
}

void bind_slotted(nb::module_& module) {
  module.def(
      "build_slotted",
      [](const FileOrArray& data, const std::filesystem::path& out, const std::string& metric,
         std::optional<std::int64_t> degree, std::int64_t list, float alpha, std::int64_t passes,
         std::optional<FileOrArray> sample_queries, const std::string& payload,
         std::optional<std::int64_t> code_bits, std::int64_t extension_bits,
         std::int64_t page_bytes, const std::string& placement, double affinity_percentile,
         std::optional<bool> rerank, std::int64_t entry_vertices, unsigned threads,
         std::uint64_t seed, std::string name, bool overwrite, bool allow_nonfinite, bool progress,
         const std::optional<std::string>& element, std::optional<std::int64_t> dimension,
         const std::string& bitorder, const std::optional<std::string>& store,
         const std::string& by, const std::string& bits_metric,
         const std::optional<std::string>& second_copy) {
        SlottedBuild build{.common = common_build(out, metric, std::move(name)),
                           .graph = vamana(list, alpha, passes),
                           .sample_queries = {},
                           .recipe = {}};
        build.graph.degree =
            given(degree, "degree").value_or(graph::usual_degree(build.common.metric));
        build.common.overwrite = overwrite;
        build.common.reduction = reduction_of({store, by, bits_metric, second_copy});
        build.common.allow_nonfinite = allow_nonfinite;
        build.common.quiet = build.graph.quiet = !progress;
        build.graph.threads = threads;
        build.graph.seed = seed;
        indexing::SlottedRecipe& recipe = build.recipe;
        if (payload != "auto")
          recipe.payload = parsed("payload", layout::parse_payload_kind, payload);
        recipe.code_bits = indexing::code_bits_of(layout::LayoutKind::slotted,
                                                  given(code_bits, "code_bits"), "code_bits");
        recipe.extension_bits = to_count(extension_bits, "extension_bits");
        recipe.page_bytes = to_count(page_bytes, "page_bytes");
        recipe.packing = parsed("placement", slotted::parse_packing_kind, placement);
        recipe.affinity_percentile = affinity_percentile;
        recipe.rerank = rerank;
        recipe.entry_vertices = to_count(entry_vertices, "entry_vertices");
        const AskedBits bits{element, dimension, bitorder};
        SourceRows rows(data, "data", bits.wish(true));
        if (sample_queries) {
          build.sample_queries.emplace(std::move(*sample_queries), "sample_queries", bits.wish());
        }
        return to_dict(build_slotted(rows, std::move(build)));
      },
      "data"_a, "out"_a, nb::kw_only(), "metric"_a = "l2", "degree"_a = nb::none(), "list"_a = 100,
      "alpha"_a = 1.2f, "passes"_a = 1, "sample_queries"_a.none() = nb::none(),
      "payload"_a = "auto", "code_bits"_a = nb::none(), "extension_bits"_a = 4,
      "page_bytes"_a = 4096, "placement"_a = "bnf",
      "affinity_percentile"_a = slotted::kAffinityPercentile, "rerank"_a = nb::none(),
      "entry_vertices"_a = 0, "threads"_a = 0, "seed"_a = 1, "name"_a = "", "overwrite"_a = false,
      "allow_nonfinite"_a = false, "progress"_a = true, "type"_a = nb::none(),
      "dimension"_a = nb::none(), "bitorder"_a = "big", "store"_a = nb::none(), "by"_a = "sign",
      "bits_metric"_a = "hamming", "second_copy"_a = nb::none(),
      nb::sig(
          "def build_slotted(data: numpy.typing.ArrayLike | str | os.PathLike, out: str | "
          "os.PathLike, *, metric: str = 'l2', degree: int | None = None, list: int = 100, alpha: "
          "float "
          "= 1.2, passes: int = 1, sample_queries: numpy.typing.ArrayLike | str | os.PathLike | "
          "None = None, payload: str = 'auto', code_bits: int | None = None, "
          "extension_bits: int = 4, page_bytes: int = 4096, placement: str = 'bnf', "
          "affinity_percentile: float = 5.0, rerank: "
          "bool | None = None, entry_vertices: int = 0, threads: int = 0, seed: int = 1, name: "
          "str = '', overwrite: bool = False, allow_nonfinite: bool = False, progress: bool = "
          "True, type: str | None = None, dimension: int | None = None, bitorder: str = 'big', "
          "store: str | None = None, by: str = 'sign', bits_metric: str = 'hamming', "
          "second_copy: str | None = None) -> "
          "dict[str, typing.Any]"),
      kSlottedDoc);
}

void bind_clusters(nb::module_& module) {
  module.def(
      "build_clusters",
      [](const FileOrArray& data, const std::filesystem::path& out, const std::string& metric,
         std::int64_t clusters, std::uint64_t cluster_bytes, double head_ratio,
         const std::optional<std::string>& heads, const std::optional<std::string>& closure,
         std::int64_t replicas, float closure_ratio, float rng_factor, float balance,
         const std::string& layout, std::optional<std::int64_t> code_bits, std::uint64_t sample,
         std::optional<FileOrArray> sample_queries, std::int64_t sample_probe, bool record_checksum,
         unsigned threads, std::uint64_t seed, std::string name, bool overwrite,
         bool allow_nonfinite, bool progress, const std::optional<std::string>& element,
         std::optional<std::int64_t> dimension, const std::string& bitorder,
         const std::optional<std::string>& store, const std::string& by,
         const std::string& bits_metric, const std::optional<std::string>& second_copy) {
        ClusterBuild build{.common = common_build(out, metric, std::move(name)),
                           .layout = parsed("layout", layout::parse_cluster_layout, layout),
                           .code_bits = {},
                           .clustering = {},
                           .number = {to_count(clusters, "clusters"), cluster_bytes, head_ratio},
                           .sample_queries = {},
                           .sample_probe = to_count(sample_probe, "sample_probe"),
                           .record_checksum = record_checksum};
        build.common.overwrite = overwrite;
        build.common.reduction = reduction_of({store, by, bits_metric, second_copy});
        build.common.allow_nonfinite = allow_nonfinite;
        build.common.quiet = build.clustering.quiet = !progress;
        build.code_bits =
            indexing::code_bits_of(build.layout, given(code_bits, "code_bits"), "code_bits");
        cluster::ClusteringOptions& clustering = build.clustering;
        clustering.heads = heads ? parsed("heads", parse_heads, *heads) : build.number.heads();
        clustering.closure =
            closure ? parsed("closure", parse_closure, *closure) : build.number.closure();
        clustering.replicas = to_count(replicas, "replicas");
        clustering.closure_ratio = closure_ratio;
        clustering.rng_factor = rng_factor;
        clustering.balance = balance;
        clustering.sample = sample;
        clustering.threads = threads;
        clustering.seed = seed;
        const AskedBits bits{element, dimension, bitorder};
        SourceRows rows(data, "data", bits.wish(true));
        if (sample_queries) {
          build.sample_queries.emplace(std::move(*sample_queries), "sample_queries", bits.wish());
        }
        return to_dict(build_clusters(rows, std::move(build)));
      },
      "data"_a, "out"_a, nb::kw_only(), "metric"_a = "l2", "clusters"_a = 0, "cluster_bytes"_a = 0,
      "head_ratio"_a = 0.0, "heads"_a = nb::none(), "closure"_a = nb::none(), "replicas"_a = 8,
      "closure_ratio"_a = 0.0f, "rng_factor"_a = 0.0f, "balance"_a = 2.0f, "layout"_a = "grouped",
      "code_bits"_a = nb::none(), "sample"_a = 0, "sample_queries"_a.none() = nb::none(),
      "sample_probe"_a = 32, "record_checksum"_a = false, "threads"_a = 0, "seed"_a = 1,
      "name"_a = "", "overwrite"_a = false, "allow_nonfinite"_a = false, "progress"_a = true,
      "type"_a = nb::none(), "dimension"_a = nb::none(), "bitorder"_a = "big",
      "store"_a = nb::none(), "by"_a = "sign", "bits_metric"_a = "hamming",
      "second_copy"_a = nb::none(),
      nb::sig("def build_clusters(data: numpy.typing.ArrayLike | str | os.PathLike, out: str | "
              "os.PathLike, *, metric: str = 'l2', clusters: int = 0, cluster_bytes: int = 0, "
              "head_ratio: float = 0.0, heads: str | None = None, closure: str | None = None, "
              "replicas: int = 8, closure_ratio: float = 0.0, rng_factor: float = 0.0, balance: "
              "float = 2.0, "
              "layout: str = 'grouped', code_bits: int | None = None, sample: int = 0, "
              "sample_queries: numpy.typing.ArrayLike | "
              "str | os.PathLike | None = None, sample_probe: int = 32, record_checksum: bool = "
              "False, threads: int = 0, seed: int = 1, name: str = '', overwrite: bool = False, "
              "allow_nonfinite: bool = False, progress: bool = True, type: str | None = None, "
              "dimension: int | None = None, bitorder: str = 'big', "
              "store: str | None = None, by: str = 'sign', bits_metric: str = 'hamming', "
              "second_copy: str | None = None) -> dict[str, typing.Any]"),
      kClustersDoc);
}

}  // namespace

void bind_builds(nb::module_& module) {
  bind_graph(module);
  bind_slotted(module);
  bind_clusters(module);
}

}  // namespace farvec::python
