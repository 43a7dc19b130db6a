// Binds PagedHnsw and build_hnsw().
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/variant.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "python/bindings.h"
#include "python/by_distance.h"
#include "python/errors.h"
#include "python/index_builds.h"
#include "python/jobs.h"
#include "python/json_object.h"
#include "python/open_hnsw.h"
#include "python/others_may_run.h"
#include "python/search_call.h"
#include "python/shown.h"
#include "ssd_baseline/paged/build/hnsw_recipe.h"

namespace farvec::python {
namespace {

namespace nb = nanobind;
using namespace nb::literals;

using HnswHandle = Handle<OpenHnsw>;

/// The number of candidates of a search that names none.
constexpr std::int64_t kUsualEf = 40;

constexpr const char* kBuildHnswDoc =
    R"(Build an HNSW graph on the pages of a disk, which takes inserts and deletes.

Row i has the id i. What is built in memory is the same for any number of threads.

Args:
    data, out, metric, seed, overwrite, allow_nonfinite, progress, type, dimension, bitorder: As
        :func:`build_graph` has them.
    m: Most neighbours on each layer, twice as many at layer 0.
    ef_construction: Candidates of the searches of an insert.
    page_bytes: 4096, 8192, 16384 or 32768.
    order: In which rows go in: ``none``, ``first``, ``centroid``, ``random``, ``pca``, ``kmeans``,
        ``pca+kmeans``, or ``file:PATH``.
    memory_rows: Rows of which the graph is built in memory; the others are inserted on pages; 0: all.
    partition_nodes: Vertices that share pages because they are neighbours, 1 to 256; 1: pages are
        filled in the order of rows.
    insert_share: Share of the partitions, 0 to 1, that have a page of their own for what is inserted,
        from the beginning; it follows the inserts.
    insert_pages: Most of these pages that inserts bring about, as a share of the pages of vectors,
        0 to 1; with 0 ``insert_share`` does not change.
    buffer: Of pages in memory while rows are inserted: ``10%`` of the graph, or ``512MiB``;
        otherwise ``25%``, and room for the inserts in flight.
    threads: Of the build in memory; 0: one per processor.

Returns:
    What was built: count, pages, bytes, seconds and more.

Raises:
    InvalidArgument: A shape, type or value that cannot be.
    Error: The folder is there already, or the disk is full; nothing is left behind.
    KeyboardInterrupt: Ctrl-C has ended it; nothing is left behind.)";

constexpr const char* kHnswDoc =
    R"(An HNSW graph on the pages of a disk, changed and searched; any thread may call it.

One process has it open. What a call has inserted or deleted is in the next search.

Args:
    path: Folder that :func:`build_hnsw` or ``farvec build hnsw`` has made.
    buffer: Of pages in memory: ``10%`` of the graph's pages, or ``512MiB``; otherwise ``25%``, and
        room for the changes in flight. A size must have room for one change.
    search: How the pages of a vertex's neighbours are read: ``sync`` (one after the other),
        ``parallel`` (all at once), ``pipelined`` (scored as they come).
    min_complete: ``pipelined``: pages that have to come before a waiting search goes on.
    slots: Operations in flight on each thread.
    threads: That share the work of a call.
    durability: ``commit`` (a change is on the disk when its call returns), ``interval:MS``, or
        ``none`` (when it is closed).
    concurrency: Calls that work at once, each with ``threads`` and ``slots`` of its own, whose pages
        the buffer has to hold; others wait until their deadline.
    bitorder: Of arrays that come and go, where vectors are of bits; see :func:`build_graph`.

Raises:
    Error: It is not there, damaged, or another process has it open.)";

std::unique_ptr<HnswHandle> open_hnsw(const std::filesystem::path& path, dataset::BitOrder order,
                                      const HnswChoices& choices) {
  std::shared_ptr<OpenHnsw> open;
  {
    const OthersMayRun others_may_run;
    open = std::make_shared<OpenHnsw>(path.string(), choices);
  }
  open->set_bit_order(order);
  return std::make_unique<HnswHandle>(std::move(open), "graph");
}

void close_hnsw(HnswHandle& handle) {
  std::shared_ptr<OpenHnsw> open = handle.take();
  const OthersMayRun others_may_run;
  open.reset();
}

/// The graph refuses them too; here the message names the argument.
std::span<const std::uint64_t> node_ids(const Ids& given) {
  for (const std::uint64_t id : given.values) {
    if (id < kInvalidNode) continue;
    throw_invalid("ids: {} is out of range: of a graph on pages they are below {}", id,
                  kInvalidNode);
  }
  return given.all();
}

std::uint64_t insert_rows(const HnswHandle& handle, const AnyArray& ids, const AnyArray& vectors,
                          const std::string& order, double deadline) {
  const auto open = handle.get();
  const double seconds = checked_deadline(deadline);
  const Ids given(ids, "ids");
  const auto nodes = node_ids(given);
  const Rows rows(vectors, "vectors", wish_of(*open));
  changes::Receipt receipt;
  run_job([&](const Interruption& interrupted) {
    open->insert(rows.view(), nodes, order, {seconds, interrupted}, receipt);
  });
  return receipt.done;
}

std::uint64_t mark_deleted(const HnswHandle& handle, const AnyArray& ids, double deadline) {
  const auto open = handle.get();
  const double seconds = checked_deadline(deadline);
  const Ids given(ids, "ids");
  const auto nodes = node_ids(given);
  changes::Receipt receipt;
  run_job([&](const Interruption& interrupted) {
    open->erase(nodes, {seconds, interrupted}, receipt);
  });
  return receipt.done;
}

nb::tuple get_rows(const HnswHandle& handle, const AnyArray& ids, double deadline) {
  const auto open = handle.get();
  const double seconds = checked_deadline(deadline);
  const Ids given(ids, "ids");
  const auto nodes = node_ids(given);
  changes::FoundRows rows;
  run_job([&](const Interruption& interrupted) {
    rows = open->get(nodes, {seconds, interrupted});
  });
  return to_tuple(std::move(rows), open->dimension(), open->type(), open->bit_order());
}

std::uint64_t vacuum(const HnswHandle& handle, double deadline) {
  const auto open = handle.get();
  const double seconds = checked_deadline(deadline);
  std::uint64_t freed = 0;
  run_job([&](const Interruption& interrupted) { freed = open->vacuum({seconds, interrupted}); });
  return freed;
}

void bind_opening(nb::class_<HnswHandle>& type) {
  type.def(nb::new_([](const std::filesystem::path& path, std::optional<std::string> buffer,
                       std::string search, std::int64_t min_complete, std::int64_t slots,
                       std::int64_t threads, std::string durability, std::int64_t concurrency,
                       const std::string& bitorder) {
             constexpr std::int64_t kMost = 1024;
             const dataset::BitOrder order = parse_bitorder(bitorder);
             return open_hnsw(path, order,
                              {.buffer = std::move(buffer).value_or(""),
                               .durability = std::move(durability),
                               .search = std::move(search),
                               .min_complete = within(min_complete, "min_complete", 1, kMost),
                               .slots = within(slots, "slots", 1, kMost),
                               .threads = within(threads, "threads", 1, kMost),
                               .concurrency = within(concurrency, "concurrency", 1, kMost)});
           }),
           "path"_a, nb::kw_only(), "buffer"_a = nb::none(), "search"_a = "pipelined",
           "min_complete"_a = 6, "slots"_a = 8, "threads"_a = 1, "durability"_a = "commit",
           "concurrency"_a = 1, "bitorder"_a = "big");
}

void bind_changes(nb::class_<HnswHandle>& type) {
  type.def("insert", &insert_rows, "ids"_a, "vectors"_a, nb::kw_only(), "order"_a = "none",
           "deadline"_a = 60.0,
           R"(Insert vectors; returns how many.

Args:
    ids: ``(rows,)`` integers below 2**32 - 1, an array or a list, none of which is there.
    vectors: ``(rows, dimension)`` of the graph's element type, finite; by the cosine uint8 and
        int8 go into a graph of float16, as they do when it is built.
    order: In which they go in, as :func:`build_hnsw` has it: near ones after each other find their
        pages in the buffer.
    deadline: Seconds of each insert, and of the wait for other calls.

Raises:
    InvalidArgument: A shape, type or value that cannot be.
    Error: An id is there already, or the disk is full; what went in before stays.)")
      .def("delete", &mark_deleted, "ids"_a, nb::kw_only(), "deadline"_a = 60.0,
           "Mark ids as deleted, ``(rows,)`` integers: no search answers with them. Returns how "
           "many "
           "were there.")
      .def("get", &get_rows, "ids"_a, nb::kw_only(), "deadline"_a = 60.0,
           nb::sig("def get(self, ids: numpy.typing.ArrayLike, *, deadline: float = 60.0) -> "
                   "tuple[numpy.ndarray, numpy.ndarray]"),
           "Whether each id is there, ``(ids,)`` bool, and the vectors of those that are, as they "
           "are stored (cosine: normalised). The deadline is of each id.")
      .def("vacuum", &vacuum, nb::kw_only(), "deadline"_a = 60.0,
           "Take what is marked out of the graph, mend its edges, and free its slots. Returns how "
           "many. The deadline is of each step.");
}

std::int64_t usual_list(std::optional<std::int64_t> k, std::optional<std::int64_t> list,
                        bool has_bound) {
  if (list) return *list;
  const std::int64_t usual = has_bound ? std::int64_t{search::kUsualWithin} : 0;
  return std::max(kUsualEf, k.value_or(usual));
}

void bind_reads(nb::class_<HnswHandle>& type) {
  type.def(
          "search",
          [](const HnswHandle& handle, const AnyArray& queries, std::optional<std::int64_t> k,
             std::optional<std::int64_t> list, std::optional<float> bound, double deadline) {
            return run_search(*handle.get(), queries,
                              {.k = k,
                               .list = usual_list(k, list, bound.has_value()),
                               .probe = {},
                               .prune_ratio = {},
                               .within = bound,
                               .deadline = deadline});
          },
          "queries"_a, "k"_a = nb::none(), nb::kw_only(), "list"_a = nb::none(),
          "within"_a = nb::none(), "deadline"_a = 10.0,
          "Find the nearest vectors of one query or of many; as Index.search(). ``list`` is ef: "
          "candidates kept, at least k; None: 40, or k when that is more. In ``Result.counts`` "
          "reads are of pages, cache_hits pages "
          "that were in the buffer.")
      .def(
          "describe", [](const HnswHandle& handle) { return to_dict(handle.get()->describe()); },
          nb::sig("def describe(self) -> dict[str, typing.Any]"),
          "Types, parameters, vertices, pages.")
      .def("__len__", [](const HnswHandle& handle) { return handle.get()->live(); })
      .def("close", &close_hnsw, "Write what changed, and close it. Again: nothing happens.")
      .def_prop_ro("closed", &HnswHandle::is_closed)
      .def("__repr__", [](const HnswHandle& handle) { return show(handle, "PagedHnsw"); })
      .def(
          "__enter__", [](const nb::object& self) { return self; },
          nb::sig("def __enter__(self) -> PagedHnsw"))
      .def(
          "__exit__", [](HnswHandle& handle, const nb::args&) { close_hnsw(handle); },
          nb::sig("def __exit__(self, *args: typing.Any) -> None"));
}

void bind_build(nb::module_& module) {
  module.def(
      "build_hnsw",
      [](const FileOrArray& data, const std::filesystem::path& out, const std::string& metric,
         std::int64_t m, std::int64_t ef_construction, std::int64_t page_bytes,
         const std::string& order, std::uint64_t memory_rows, std::int64_t partition_nodes,
         double insert_share, double insert_pages, std::optional<std::string> buffer,
         unsigned threads, std::uint64_t seed, bool overwrite, bool allow_nonfinite, bool progress,
         const std::optional<std::string>& element, std::optional<std::int64_t> dimension,
         const std::string& bitorder) {
        if (!(insert_share >= 0 && insert_share <= 1))
          throw_invalid("insert_share: {} is not 0 to 1", insert_share);
        if (!(insert_pages >= 0 && insert_pages <= 1))
          throw_invalid("insert_pages: {} is not 0 to 1", insert_pages);
        HnswBuild build;
        build.out = out.string();
        build.buffer = std::move(buffer).value_or("");
        build.allow_nonfinite = allow_nonfinite;
        paged::HnswRecipe& recipe = build.recipe;
        recipe.config.metric = parsed("metric", parse_metric, metric);
        recipe.config.m = to_count(m, "m");
        recipe.config.ef_construction = to_count(ef_construction, "ef_construction");
        recipe.config.seed = recipe.order.seed = seed;
        recipe.store.page_bytes = to_count(page_bytes, "page_bytes");
        recipe.replace = overwrite;
        recipe.replace_option = "overwrite=True";
        recipe.order = parsed("order", indexing::parse_order, order);
        recipe.order.seed = seed;
        if (memory_rows > 0) recipe.memory_rows = memory_rows;
        recipe.partition_nodes = to_count(partition_nodes, "partition_nodes");
        recipe.insert_share = insert_share;
        recipe.config.most_insert_pages =
            static_cast<std::uint32_t>(std::lround(insert_pages * layout::kMillionPages));
        recipe.threads = threads;
        recipe.quiet = !progress;
        SourceRows rows(data, "data", AskedBits{element, dimension, bitorder}.wish(true));
        return to_dict(build_hnsw(rows, std::move(build)));
      },
      "data"_a, "out"_a, nb::kw_only(), "metric"_a = "l2", "m"_a = 24, "ef_construction"_a = 200,
      "page_bytes"_a = 8192, "order"_a = "none", "memory_rows"_a = 0, "partition_nodes"_a = 1,
      "insert_share"_a = 0.0, "insert_pages"_a = 0.1, "buffer"_a = nb::none(), "threads"_a = 0,
      "seed"_a = 1, "overwrite"_a = false, "allow_nonfinite"_a = false, "progress"_a = true,
      "type"_a = nb::none(), "dimension"_a = nb::none(), "bitorder"_a = "big",
      nb::sig("def build_hnsw(data: numpy.typing.ArrayLike | str | os.PathLike, out: str | "
              "os.PathLike, *, metric: str = 'l2', m: int = 24, ef_construction: int = 200, "
              "page_bytes: int = 8192, order: str = 'none', memory_rows: int = 0, partition_nodes: "
              "int = 1, insert_share: float = 0.0, insert_pages: float = 0.1, buffer: str | None = "
              "None, threads: int = 0, "
              "seed: int "
              "= 1, overwrite: bool = False, allow_nonfinite: bool = False, progress: bool = True, "
              "type: str | None = None, dimension: int | None = None, bitorder: str = 'big') "
              "-> dict[str, typing.Any]"),
      kBuildHnswDoc);
}

}  // namespace

void bind_hnsw(nb::module_& module) {
  bind_build(module);
  nb::class_<HnswHandle> type(module, "PagedHnsw", kHnswDoc);
  bind_opening(type);
  bind_changes(type);
  bind_reads(type);
  bind_by_distance(type);
}

}  // namespace farvec::python
