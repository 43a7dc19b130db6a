// Binds Result, Counts and Index.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/variant.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "layout/collection/index_attributes.h"
#include "layout/index/index_directory.h"
#include "python/attributes.h"
#include "python/bindings.h"
#include "python/budget.h"
#include "python/by_distance.h"
#include "python/errors.h"
#include "python/index_docs.h"
#include "python/json_object.h"
#include "python/node_address.h"
#include "python/open_index.h"
#include "python/others_may_run.h"
#include "python/remote_index.h"
#include "python/search_call.h"
#include "python/shown.h"

namespace farvec::python {
namespace {

namespace nb = nanobind;
using namespace nb::literals;
using search::QueryCounts;

using IndexHandle = Handle<Searcher>;

/// Closes an index. What is open is destroyed without the interpreter, since threads end and memory
/// is unmapped.
void close_index(IndexHandle& index) {
  std::shared_ptr<Searcher> open = index.take();
  const OthersMayRun others_may_run;
  open.reset();
}

using Slots = std::variant<std::int64_t, std::string>;

std::uint32_t to_slots(const Slots& slots) {
  constexpr std::uint32_t kUsual = 16;
  if (const auto* const number = std::get_if<std::int64_t>(&slots)) {
    return within(*number, "slots", 1, tiers::IndexOnTier::kMostSlots);
  }
  if (std::get<std::string>(slots) == "auto") return kUsual;
  throw_invalid("slots: '{}' is no number and not 'auto'", std::get<std::string>(slots));
}

std::shared_ptr<Searcher> open_searcher(const std::string& path, const OpenOptions& options,
                                        std::uint32_t retries) {
  const auto address = node_address(path);
  if (!address) return std::make_shared<OpenIndex>(path, options);
  if (options.tier != OpenOptions{}.tier) {
    throw_invalid("tier: '{}' is for an index of this machine; {} has its own", options.tier, path);
  }
  const client::NodeAccess node{.address = *address, .tls = options.tls};
  return std::make_shared<RemoteIndex>(node, retries);
}

std::unique_ptr<IndexHandle> open_index(const std::string& path, const OpenOptions& options,
                                        std::uint32_t retries, dataset::BitOrder order) {
  std::shared_ptr<Searcher> open;
  {
    const OthersMayRun others_may_run;
    open = open_searcher(path, options, retries);
  }
  open->set_bit_order(order);
  return std::make_unique<IndexHandle>(std::move(open), "index");
}

const char* on_or_off(bool on) {
  return on ? "on" : "off";
}

/// Is a count that Python sees, and that a pickle keeps.
struct CountField {
  const char* name;
  std::uint64_t QueryCounts::*number;
  const char* doc;
};
constexpr CountField kCountFields[] = {
    {"hops", &QueryCounts::hops, "Rounds of fetching."},
    {"reads", &QueryCounts::reads, "Records (of slotted pages: pages) that were fetched."},
    {"bytes", &QueryCounts::bytes, "That were fetched."},
    {"cache_hits", &QueryCounts::cache_hits, "Records that a cache or pool had."},
    {"estimates", &QueryCounts::estimates, "Distances estimated from codes."},
    {"distances", &QueryCounts::distances, "Exact distances."},
    {"lost", &QueryCounts::lost, "Records that no memory node could deliver."},
    {"clusters", &QueryCounts::clusters, "Clusters that were searched."},
    {"matches", &QueryCounts::matches, "Rows that meet the filter; 0 without one."},
    {"walks", &QueryCounts::walks, "Graphs that were walked, one in each segment."},
    {"scans", &QueryCounts::scans,
     "Segments that were not walked: their rows were compared one by one."},
    {"bridges", &QueryCounts::bridges,
     "Vertices that were read for their neighbours alone: their rows may not be results."},
    {"attribute_reads", &QueryCounts::attribute_reads,
     "Results whose attributes were read from a file."},
    {"pool_misses", &QueryCounts::pool_misses, "Slotted pages: records that were not in the pool."},
    {"rerank_reads", &QueryCounts::rerank_reads,
     "Slotted pages: of the reads, those that ranked results again."},
};

std::string show_counts(const QueryCounts& counts) {
  return fmt::format("Counts(hops={}, reads={}, bytes={}, estimates={}, distances={})", counts.hops,
                     counts.reads, counts.bytes, counts.estimates, counts.distances);
}

nb::dict state_of(const QueryCounts& counts) {
  nb::dict state;
  for (const CountField& field : kCountFields) state[field.name] = counts.*field.number;
  return state;
}

/// Reads the counts of a pickle, which another version of farvec may have made with fewer counts.
QueryCounts counts_of(const nb::dict& state) {
  QueryCounts counts;
  for (const CountField& field : kCountFields) {
    if (state.contains(field.name)) {
      counts.*field.number = nb::cast<std::uint64_t>(state[field.name]);
    }
  }
  return counts;
}

void bind_counts(nb::module_& module) {
  nb::class_<QueryCounts> type(module, "Counts",
                               "What the searches of a call cost, in sum. Exact: the same on every "
                               "machine.");
  for (const CountField& field : kCountFields) type.def_ro(field.name, field.number, field.doc);
  type.def("__repr__", &show_counts)
      .def("__getstate__", &state_of)
      .def("__setstate__", [](QueryCounts& counts, const nb::dict& state) {
        new (&counts) QueryCounts(counts_of(state));
      });
}

/// Returns the tuple that a result is unpacked and indexed like.
nb::tuple parts_of(const Result& result) {
  return nb::make_tuple(result.ids, result.distances, result.counts);
}
constexpr std::size_t kResultParts = 3;

std::string show_result(const Result& result) {
  const std::string coverage =
      result.coverage < 1 ? fmt::format(", coverage={}", result.coverage) : "";
  return fmt::format("Result(ids={}, distances={}, counts={}{})", nb::repr(result.ids).c_str(),
                     nb::repr(result.distances).c_str(), show_counts(result.counts), coverage);
}

void bind_result(nb::module_& module) {
  nb::class_<Result>(module, "Result",
                     "Neighbours; unpacks as ``ids, distances, counts``, indexes as these three, "
                     "and pickles.")
      .def_prop_ro(
          "ids", [](const Result& result) { return result.ids; },
          nb::sig("def ids(self) -> numpy.ndarray"),
          "``(queries, k)``, nearest first: uint32 rows of the data set; of a collection uint64 "
          "ids of the user's. A neighbour that is missing is the largest number of the type.")
      .def_prop_ro(
          "distances", [](const Result& result) { return result.distances; },
          nb::sig("def distances(self) -> numpy.ndarray"),
          "``(queries, k)`` float32, smaller is closer: squared Euclidean (l2), negated inner "
          "product (ip), one minus the cosine, bits that differ (hamming) or one minus the share "
          "of "
          "set bits that both have (jaccard); infinity where a neighbour is missing.")
      .def_ro("counts", &Result::counts, "What all queries together cost.")
      .def_ro("coverage", &Result::coverage,
              "1, or with ``partial`` the least share of the records that a query could read.")
      .def_prop_ro(
          "attributes", [](const Result& result) { return result.attributes; },
          nb::sig("def attributes(self) -> dict[str, typing.Any] | list[dict[str, typing.Any]] | "
                  "None"),
          "The selected columns of the neighbours, as Collection.attributes() returns them; of "
          "several queries a list with one dict for each. None where nothing was selected.")
      .def(
          "__iter__", [](const Result& result) { return nb::iter(parts_of(result)); },
          nb::sig("def __iter__(self) -> collections.abc.Iterator[typing.Any]"))
      .def("__len__", [](const Result&) { return kResultParts; })
      .def(
          "__getitem__",
          [](const Result& result, nb::handle key) -> nb::object {
            PyObject* const part = PyObject_GetItem(parts_of(result).ptr(), key.ptr());
            if (part == nullptr) throw nb::python_error();
            return nb::steal(part);
          },
          nb::sig("def __getitem__(self, key: typing.Any, /) -> typing.Any"))
      .def("__repr__", &show_result)
      .def("__getstate__",
           [](const Result& result) {
             return nb::make_tuple(result.ids, result.distances, result.counts, result.coverage,
                                   result.attributes);
           })
      .def("__setstate__", [](Result& result, const nb::tuple& state) {
        // Pickles of older versions have no attributes.
        new (&result)
            Result{state[0], state[1], nb::cast<QueryCounts>(state[2]), nb::cast<double>(state[3]),
                   state.size() > 4 ? nb::object(state[4]) : nb::none()};
      });
}

void bind_class(nb::module_& module) {
  nb::class_<IndexHandle> type(module, "Index",
                               "An index that is open; any thread may call it. See :func:`open`.");
  bind_by_distance(type);
  type.def(
          "search",
          [](const IndexHandle& index, const AnyArray& queries, std::optional<std::int64_t> k,
             std::optional<std::int64_t> list, std::int64_t width,
             std::optional<std::int64_t> probe, std::optional<float> prune_ratio, bool partial,
             bool exact, std::optional<float> bound, const std::optional<std::string>& filter,
             const std::optional<std::vector<std::string>>& select, const std::string& plan,
             double deadline, std::optional<std::int64_t> refine, bool candidates) {
            return run_search(*index.get(), queries,
                              {.k = k,
                               .list = list,
                               .width = width,
                               .probe = probe,
                               .prune_ratio = prune_ratio,
                               .partial = partial,
                               .exact = exact,
                               .within = bound,
                               .deadline = deadline,
                               .filter = filter.value_or(""),
                               .plan = plan,
                               .refine = refine,
                               .candidates = candidates,
                               .select = select.value_or(std::vector<std::string>())});
          },
          "queries"_a, "k"_a = nb::none(), nb::kw_only(), "list"_a = nb::none(), "width"_a = 1,
          "probe"_a = nb::none(), "prune_ratio"_a = nb::none(), "partial"_a = false,
          "exact"_a = false, "within"_a = nb::none(), "filter"_a = nb::none(),
          "select"_a = nb::none(), "plan"_a = "chosen", "deadline"_a = 10.0,
          "refine"_a = nb::none(), "candidates"_a = false, kSearchDoc)
      .def(
          "choose",
          [](const IndexHandle& index, const AnyArray& queries, std::optional<std::int64_t> k,
             double recall, std::int64_t width, std::optional<float> prune_ratio,
             const std::optional<std::string>& filter, double deadline) {
            return choose_search(*index.get(), queries,
                                 {.k = k,
                                  .list = std::nullopt,
                                  .width = width,
                                  .probe = std::nullopt,
                                  .prune_ratio = prune_ratio,
                                  .deadline = deadline,
                                  .filter = filter.value_or("")},
                                 recall);
          },
          "queries"_a, "k"_a = nb::none(), nb::kw_only(), "recall"_a = 0.95, "width"_a = 1,
          "prune_ratio"_a = nb::none(), "filter"_a = nb::none(), "deadline"_a = 10.0,
          nb::sig("def choose(self, queries: numpy.ndarray, k: int | None = None, *, "
                  "recall: float = 0.95, width: int = 1, prune_ratio: float | None = None, "
                  "filter: str | None = None, deadline: float = 10.0) -> dict[str, int]"),
          kChooseDoc)
      .def(
          "search_async",
          [](const nb::object& self, const nb::args& args, const nb::kwargs& kwargs) {
            return nb::module_::import_("farvec._async")
                .attr("in_executor")(self.attr("search"), args, kwargs);
          },
          nb::sig("def search_async(self, *args: typing.Any, **kwargs: typing.Any) -> "
                  "collections.abc.Awaitable[Result]"),
          "search() for coroutines: runs in the event loop's executor, so the loop goes on.")
      .def(
          "describe", [](const IndexHandle& index) { return to_dict(index.get()->describe()); },
          nb::sig("def describe(self) -> dict[str, typing.Any]"),
          "What the index is (kind, layout, metric, type, dimension, count, bytes), and where and "
          "how it is searched (tier, model, slots, threads).")
      .def("close", &close_index, "Give up memory, files and connections. Again: nothing happens.")
      .def_prop_ro("closed", &IndexHandle::is_closed)
      .def("__repr__", [](const IndexHandle& handle) { return show(handle, "Index"); })
      .def(
          "__enter__", [](const nb::object& self) { return self; },
          nb::sig("def __enter__(self) -> Index"))
      .def(
          "__exit__", [](IndexHandle& index, const nb::args&) { close_index(index); },
          nb::sig("def __exit__(self, *args: typing.Any) -> None"));
}

void write_attributes(const std::filesystem::path& path, const nb::object& attributes,
                      const nb::object& columns) {
  const layout::Schema schema = to_schema(columns);
  if (schema.empty()) throw_invalid("schema: no columns came");
  const auto index = layout::IndexDirectory::open(path);
  const layout::Tuples tuples = to_tuples(schema, attributes, index.manifest().count);
  const OthersMayRun others_may_run;
  layout::write_index_attributes(index.path(), index.manifest(), schema, tuples.view());
}

void bind_attributes(nb::module_& module) {
  module.def("write_attributes", &write_attributes, "index"_a, "attributes"_a, "schema"_a,
             nb::sig("def write_attributes(index: str | os.PathLike, attributes: typing.Any, "
                     "schema: dict[str, str] | str) -> None"),
             R"(Give the vectors of an index attributes, which searches may ask for.

Args:
    index: The index's directory, as ``build_graph`` and its like have made it.
    attributes: A dict of columns (arrays or lists of a value for each vector, None for null), a list
        with a dict for each vector, or what has ``__arrow_c_stream__``, in the order of the vectors.
    schema: ``{"price": "i64", "section": "string not null", "tags": "set"}``.

Attributes that the index has are replaced. Open it again to search by them.

Raises:
    InvalidArgument: Another number of rows, or a value that is not exactly of the column's type.
    Error: The folder is no index, or cannot be written.)");
}

void bind_open(nb::module_& module) {
  module.def(
      "open",
      [](const std::variant<std::string, std::filesystem::path>& path, std::string tier,
         const Slots& slots, std::int64_t threads, std::int64_t concurrency,
         std::size_t cache_bytes, const Budget& memory_budget, std::int64_t max_list,
         std::int64_t max_width, std::int64_t max_probe, std::string search, std::string pool,
         bool prefetch, bool page_search, std::optional<std::uint32_t> rerank, std::int64_t retries,
         std::string tls_ca, std::string tls_certificate, std::string tls_key,
         const std::string& bitorder, const std::optional<std::string>& second_tier) {
        OpenOptions options;
        options.tier = std::move(tier);
        options.second_tier = second_tier.value_or("");
        options.slots = to_slots(slots);
        options.threads = within(threads, "threads", 0, kMostThreads);
        options.concurrency = within(concurrency, "concurrency", 0, kMostThreads);
        options.cache_bytes = cache_bytes;
        options.max_list = within(max_list, "max_list", 1, kMostList);
        options.max_width = within(max_width, "max_width", 1, graph::kMaxWidth);
        options.max_probe = within(max_probe, "max_probe", 1, kMostList);
        options.disk = {.memory_budget = to_budget(memory_budget),
                        .search = std::move(search),
                        .pool = std::move(pool),
                        .prefetch = on_or_off(prefetch),
                        .page_search = on_or_off(page_search),
                        .rerank = rerank ? std::to_string(*rerank) : "auto"};
        options.tls = {std::move(tls_certificate), std::move(tls_key), std::move(tls_ca)};
        const auto* const text = std::get_if<std::string>(&path);
        return open_index(text != nullptr ? *text : std::get<1>(path).string(), options,
                          within(retries, "retries", 0, 1000), parse_bitorder(bitorder));
      },
      "path"_a, "tier"_a = "dram", nb::kw_only(), "slots"_a = "auto", "threads"_a = 1,
      "concurrency"_a = 0, "cache_bytes"_a = 0, "memory_budget"_a = nb::none(), "max_list"_a = 1024,
      "max_width"_a = 8, "max_probe"_a = 1024, "search"_a = "cache-aware", "pool"_a = "record",
      "prefetch"_a = true, "page_search"_a = true, "rerank"_a = nb::none(), "retries"_a = 0,
      "tls_ca"_a = "", "tls_certificate"_a = "", "tls_key"_a = "", "bitorder"_a = "big",
      "second_tier"_a = nb::none(), kOpenDoc);
}

}  // namespace

void bind_index(nb::module_& module) {
  bind_counts(module);
  bind_result(module);
  bind_class(module);
  bind_attributes(module);
  bind_open(module);
}

}  // namespace farvec::python
