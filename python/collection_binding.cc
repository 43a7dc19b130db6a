// Binds Receipt and Collection.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/status_error.h"
#include "base/stored_form.h"
#include "changes/batches.h"
#include "collection/write/facts.h"
#include "graph/beam_scratch.h"
#include "python/bindings.h"
#include "python/budget.h"
#include "python/by_distance.h"
#include "python/errors.h"
#include "python/jobs.h"
#include "python/json_object.h"
#include "python/node_address.h"
#include "python/open_collection.h"
#include "python/others_may_run.h"
#include "python/remote_collection.h"
#include "python/search_call.h"
#include "python/shown.h"
#include "tiers/index_on_tier.h"

namespace farvec::python {
namespace {

namespace nb = nanobind;
using namespace nb::literals;
using changes::Receipt;

using CollectionHandle = Handle<Changing>;

constexpr const char* kClassDoc =
    R"(Vectors that come and go, with ids of the user's; any thread may call it.

One process changes a collection: this one, or a compute node that changes it for many
(``farvec-compute-node --collection``). What a call has done is in the next search, and durable as
``durability`` says, or the node's.

Args:
    path: Folder that :meth:`create` or ``farvec collection create`` has made; or
        ``grpc://HOST:PORT`` or ``grpc://unix:/path`` of a compute node, which has the next ten for
        itself.
    tier: Where the records of segments are read from, as :func:`farvec.open` has it; empty: ``dram``,
        and ``ssd`` for slotted pages, which are searched there alone.
    second_tier: Where the second copies of segments with fewer bits than their rows (``store=``) are
        read from; None: ``tier``.
    memory_budget: Slotted pages: bytes (a number, or ``"512MiB"``) that the pools of all segments
        share, with their maps, buffers and searches; None: each pool holds all of its records.
    durability: ``commit`` (a change is on the disk when the call returns), ``interval:TIME``, or
        ``none``.
    build_threads: That build segments in the background; 0: one per processor.
    slots: Searches in flight on each thread, 1 to 64.
    concurrency: Searches of Python's threads at once; 0: one per processor.
    max_list, max_width, max_probe: The largest search that there is room for.
    retries: Of a compute node: times that a call is tried again when the node is too busy.
    tls_ca, tls_certificate, tls_key: Files for nodes that want TLS.
    bitorder: Of arrays that come and go, where vectors are of bits (``type="b1"``): ``big`` or
        ``little``, as numpy.packbits() has it.

Raises:
    InvalidArgument: A combination that cannot be.
    Unavailable: The node cannot be reached, or takes no changes.
    Error: It is not there, damaged, or another process has it open.)";

struct NodeOpening {
  std::uint32_t retries = 0;
  rpc::TlsFiles tls;
  dataset::BitOrder bit_order = kUsualBitOrder;  ///< also of a collection of this machine
};

std::shared_ptr<Changing> open_changing(const std::string& path, const CollectionOpening& opening,
                                        const NodeOpening& node) {
  const auto address = node_address(path);
  if (!address) return std::make_shared<OpenCollection>(path, opening);
  if (opening != CollectionOpening{}) {
    throw_invalid(
        "tier, second_tier, memory_budget, durability, build_threads, slots, concurrency, "
        "max_list, max_width "
        "and max_probe "
        "are for a collection of this machine; {} has its own",
        path);
  }
  return std::make_shared<RemoteCollection>(
      client::NodeAccess{.address = *address, .tls = node.tls}, node.retries);
}

std::unique_ptr<CollectionHandle> open_collection(const std::string& path,
                                                  const CollectionOpening& opening,
                                                  const NodeOpening& node) {
  std::shared_ptr<Changing> open;
  {
    const OthersMayRun others_may_run;
    open = open_changing(path, opening, node);
  }
  open->set_bit_order(node.bit_order);
  return std::make_unique<CollectionHandle>(std::move(open), "collection");
}

void close_collection(CollectionHandle& handle) {
  std::shared_ptr<Changing> open = handle.take();
  const OthersMayRun others_may_run;
  open.reset();
}

Result search_near(const CollectionHandle& handle, const AnyArray& array,
                   const SearchArguments& arguments) {
  const auto open = handle.get();
  const auto shape = open->changes().row_shape();
  if (shape.stored_type != open->type()) {
    const bool unit = stores_unit_vectors(shape.metric.value());
    throw_invalid("vectors of {} are stored{} as {}: search with the vector itself",
                  type_words(open->type()), unit ? " at length one" : "",
                  type_words(shape.stored_type));
  }
  const Ids ids(array, "ids");
  const double seconds = checked_deadline(arguments.deadline);
  changes::FoundRows rows;
  run_job([&](const Interruption& interrupted) {
    rows = changes::get_all(open->changes(), ids.all(),
                            {.patience = patience_of(seconds, interrupted)});
  });
  const auto missing = std::find(rows.found.begin(), rows.found.end(), false);
  if (missing != rows.found.end()) {
    throw StatusError(StatusCode::not_found, "ids: {} is not there",
                      ids.values[static_cast<std::size_t>(missing - rows.found.begin())]);
  }
  const VectorView vectors =
      packed_view(rows.rows.data(), ids.values.size(), open->dimension(), shape.stored_type);
  return run_search_near(*open, vectors, ids.all(), ids.shape.empty(), arguments);
}

void bind_receipt(nb::module_& module) {
  nb::class_<Receipt>(module, "Receipt", "What a change did.")
      .def_ro("version", &Receipt::version, "The number of the last change, from 1 on.")
      .def_ro("done", &Receipt::done,
              "Rows inserted, or ids that were there and are deleted or updated.")
      .def_ro("replaced", &Receipt::replaced, "Rows inserted whose ids were there.")
      .def_ro("missing", &Receipt::missing, "Ids to delete or to update that were not there.")
      .def("__repr__",
           [](const Receipt& receipt) {
             return fmt::format("Receipt(version={}, done={}, replaced={}, missing={})",
                                receipt.version, receipt.done, receipt.replaced, receipt.missing);
           })
      .def("__getstate__",
           [](const Receipt& receipt) {
             return std::tuple(receipt.version, receipt.done, receipt.replaced, receipt.missing);
           })
      .def("__setstate__",
           [](Receipt& receipt,
              const std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>& state) {
             const auto& [version, done, replaced, missing] = state;
             new (&receipt) Receipt{version, done, replaced, missing};
           });
}

void bind_opening(nb::class_<CollectionHandle>& type) {
  type.def(
      nb::new_([](const std::filesystem::path& path, std::string tier,
                  const std::optional<std::string>& second_tier, const Budget& memory_budget,
                  std::string durability, std::int64_t build_threads, std::int64_t slots,
                  std::int64_t concurrency, std::int64_t max_list, std::int64_t max_width,
                  std::int64_t max_probe, std::int64_t retries, std::string tls_ca,
                  std::string tls_certificate, std::string tls_key, const std::string& bitorder) {
        CollectionOpening opening;
        opening.tier = std::move(tier);
        opening.second_tier = second_tier.value_or("");
        opening.memory_budget = to_budget(memory_budget);
        opening.durability = std::move(durability);
        opening.build_threads = within(build_threads, "build_threads", 0, kMostThreads);
        opening.slots = within(slots, "slots", 1, tiers::IndexOnTier::kMostSlots);
        opening.concurrency = within(concurrency, "concurrency", 0, kMostThreads);
        opening.max_list = within(max_list, "max_list", 1, kMostList);
        opening.max_width = within(max_width, "max_width", 1, graph::kMaxWidth);
        opening.max_probe = within(max_probe, "max_probe", 1, kMostList);
        return open_collection(path.string(), opening,
                               {within(retries, "retries", 0, 1000),
                                {std::move(tls_certificate), std::move(tls_key), std::move(tls_ca)},
                                parse_bitorder(bitorder)});
      }),
      "path"_a, nb::kw_only(), "tier"_a = "", "second_tier"_a = nb::none(),
      "memory_budget"_a = nb::none(), "durability"_a = "commit", "build_threads"_a = 1,
      "slots"_a = 16, "concurrency"_a = 0, "max_list"_a = 1024, "max_width"_a = 8,
      "max_probe"_a = 1024, "retries"_a = 0, "tls_ca"_a = "", "tls_certificate"_a = "",
      "tls_key"_a = "", "bitorder"_a = "big");
}

Result search(const CollectionHandle& handle, const AnyArray& queries,
              const SearchArguments& arguments) {
  return run_search(*handle.get(), queries, arguments);
}

/// Binds a search by what `argument` names, with the options that every search of a collection has.
void bind_search(nb::class_<CollectionHandle>& type, const char* name, const char* argument,
                 Result (*search)(const CollectionHandle&, const AnyArray&, const SearchArguments&),
                 const char* doc) {
  type.def(
      name,
      [search](const CollectionHandle& handle, const AnyArray& asked, std::optional<std::int64_t> k,
               std::optional<std::int64_t> list, std::int64_t width,
               std::optional<std::int64_t> probe, std::optional<float> prune_ratio, bool exact,
               std::optional<float> bound, const std::optional<std::string>& filter,
               const std::optional<std::vector<std::string>>& select, const std::string& plan,
               double deadline, std::optional<std::int64_t> refine) {
        return search(handle, asked,
                      {.k = k,
                       .list = list,
                       .width = width,
                       .probe = probe,
                       .prune_ratio = prune_ratio,
                       .exact = exact,
                       .within = bound,
                       .deadline = deadline,
                       .filter = filter.value_or(""),
                       .plan = plan,
                       .refine = refine,
                       .select = select.value_or(std::vector<std::string>())});
      },
      nb::arg(argument), "k"_a = nb::none(), nb::kw_only(), "list"_a = nb::none(), "width"_a = 1,
      "probe"_a = nb::none(), "prune_ratio"_a = nb::none(), "exact"_a = false,
      "within"_a = nb::none(), "filter"_a = nb::none(), "select"_a = nb::none(),
      "plan"_a = "chosen", "deadline"_a = 10.0, "refine"_a = nb::none(), doc);
}

void bind_searches(nb::class_<CollectionHandle>& type) {
  bind_search(
      type, "search", "queries", &search,
      "Find the nearest live vectors; as Index.search(), with ids of the user's (uint64, the "
      "largest number for none), and k may be more than there are vectors. ``filter`` is a "
      "condition on attributes and ids that all results meet: ``\"price < 20 and tags contains "
      "any ('new')\"``. With ``select``, a list of names of columns, the result has "
      "``attributes``: a dict with a list of k values for each column, None where a neighbour "
      "is missing; of several queries a list of such dicts. With ``within`` results are no "
      "farther than this distance, and ``k`` is the most that there are (None: 1000). ``plan`` is "
      "as Index.search() has it. ``refine`` is for a collection with ``store``: how many times k "
      "candidates each segment ranks again, at most the list (None: all of the list).");
  bind_search(
      type, "search_near", "ids", &search_near,
      "Find the nearest live vectors of rows, by their ids: search() with their vectors, "
      "without each row itself. ``k`` is less than the most that search() takes. One id has a "
      "result of one query. The rows are read first, so that another thread may change one before "
      "the search. An id that is not there is refused.");
}

void bind_reads(nb::class_<CollectionHandle>& type) {
  bind_searches(type);
  type.def(
          "search_async",
          [](const nb::object& self, const nb::args& args, const nb::kwargs& kwargs) {
            return nb::module_::import_("farvec._async")
                .attr("in_executor")(self.attr("search"), args, kwargs);
          },
          nb::sig("def search_async(self, *args: typing.Any, **kwargs: typing.Any) -> "
                  "collections.abc.Awaitable[Result]"),
          "search() for coroutines: runs in the event loop's executor, so the loop goes on.")
      .def(
          "describe",
          [](const CollectionHandle& handle) { return to_dict(handle.get()->describe()); },
          nb::sig("def describe(self) -> dict[str, typing.Any]"),
          "Types, options, and what it holds at the moment.")
      .def("__len__", [](const CollectionHandle& handle) { return handle.get()->live(); })
      .def("close", &close_collection,
           "Stop the background; what is fresh stays in the log. Again: nothing happens.")
      .def_prop_ro("closed", &CollectionHandle::is_closed)
      .def("__repr__", [](const CollectionHandle& handle) { return show(handle, "Collection"); })
      .def(
          "__enter__", [](const nb::object& self) { return self; },
          nb::sig("def __enter__(self) -> Collection"))
      .def(
          "__exit__", [](CollectionHandle& handle, const nb::args&) { close_collection(handle); },
          nb::sig("def __exit__(self, *args: typing.Any) -> None"));
}

}  // namespace

void bind_collection(nb::module_& module) {
  bind_receipt(module);
  nb::class_<CollectionHandle> type(module, "Collection", kClassDoc);
  bind_opening(type);
  bind_collection_create(type);
  bind_collection_changes(type);
  bind_collection_rows(type);
  bind_reads(type);
  bind_by_distance(type);
}

}  // namespace farvec::python
