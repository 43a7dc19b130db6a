// Binds sweep().
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "measure/report/measurement.h"
#include "measure/sweep/pages/hnsw_sweep.h"
#include "measure/sweep/sweep.h"
#include "python/bindings.h"
#include "python/errors.h"
#include "python/jobs.h"
#include "python/json_object.h"
#include "python/neighbors.h"
#include "python/several.h"
#include "python/source_rows.h"
#include "python/words.h"
#include "ssd_baseline/paged/graph/hnsw_access.h"

namespace farvec::python {
namespace {

namespace nb = nanobind;
using namespace nb::literals;

constexpr const char* kSweepDoc =
    R"(Measure recall, throughput and latency over every combination of parameters.

First every query is searched once: recall and counts, which are exact, are of that. Then come the
passes, on the tiers of a combination in turn. The arguments are the options of ``farvec sweep``;
where it takes a list, one value or several; those of another kind of index are not looked at.

Args:
    index: Folder of an index, also of a graph on pages.
    queries: ``(queries, dimension)`` of the type that the index was built from, or a vector file.
    groundtruth: A file of true neighbours, ids ``(queries, >= k)``, or ids and distances as
        :func:`ground_truth` returns them.
    k: Neighbours wanted.
    list: L, candidates kept; of coded clusters, vectors that are read.
    width: Graphs: records fetched per hop.
    probe: Clusters: most clusters to search.
    dedup: Clusters: whether a query reads no vector twice.
    prune_ratio: Clusters: leave out a cluster whose centroid is more than this many times as far
        away as the nearest one; None: keep all.
    merge_gap: Clusters: vectors that lie apart with at most this many bytes between them share a
        read; None: what a request costs on the tier.
    slots: Searches in flight per core; ``"auto"``: 16, and for slotted pages what the disk's rate
        wants, measured at the start.
    threads: Cores.
    tier: As :func:`open` has it.
    cache_bytes: Of the record cache over all cores of a combination.
    memory_budget: Tier ssd: bytes (a number, or "512MiB") or a share of the index ("20%"); None:
        the tool's default.
    search, pool, prefetch, page_search, rerank: Slotted pages: as ``farvec sweep`` has them.
        Graphs on pages: search is how pages are read; None: all three ways.
    buffer, min_complete: Graphs on pages: pages kept in memory, as shares of all or sizes; pages
        that have to come before a pipelined search goes on.
    queries_range: First row of the queries that are measured, and the one after the last.
    passes: Times every combination is measured, in turn.
    pass_ms: Length of a pass.
    line_ns: Graphs: nanoseconds that a core takes for a random cache line; None: measured.
    json: File for the rows, written as they are measured.
    html: File for a page with figures and a table of all rows, for a browser.
    resume: Add to the file of ``json`` what it lacks.
    overwrite: Replace that file.
    tls_ca, tls_certificate, tls_key: Files for memory nodes that want TLS.
    filter: Condition that results meet, of an index that has attributes; ``groundtruth`` are then the
        nearest of the rows that meet it (``search(..., exact=True, filter=...)`` finds them).
    progress: Say on stderr how far it is.
    type, dimension, bitorder: Of queries of bits in an array, as :func:`build_graph` has them.

Returns:
    A dictionary for each combination: what ``farvec sweep --json`` writes; of one that cannot run
    ``error`` says why. With ``resume`` also those that the file had.

Raises:
    InvalidArgument: A value that cannot be.
    Error: The index is not there, none of the combinations can run, the truth is too small.
    KeyboardInterrupt: Ctrl-C has ended it; ``json`` and ``html`` have what was measured.)";

using Truth = FileOrArray;

/// Returns the ground truth of an argument. A tuple of two is what ground_truth() returns: ids and
/// distances.
dataset::GroundTruth truth_of(const AnyArray& given) {
  std::optional<AnyArray> distances;
  AnyArray ids = given;
  if (nb::isinstance<nb::tuple>(given.object) && nb::len(given.object) == 2) {
    const auto pair = nb::cast<nb::tuple>(given.object);
    ids.object = pair[0];
    if (!pair[1].is_none()) distances = AnyArray{pair[1]};
  }
  const Neighbors neighbors(ids, "groundtruth", distances, "distances of groundtruth");
  return to_truth(neighbors, file_ids(neighbors));
}

/// Returns the queries and their ground truth. `queries` must outlive what is returned.
measure::SweepQuestions questions_of(SourceRows& queries, bool in_file, const Truth& truth) {
  measure::SweepQuestions questions{.queries = queries.path(), .groundtruth = "groundtruth"};
  if (!in_file) questions.rows = queries.load();
  if (const auto* const path = std::get_if<std::filesystem::path>(&truth)) {
    questions.groundtruth = path->string();
  } else {
    questions.truth = truth_of(std::get<AnyArray>(truth));
  }
  return questions;
}

using SlotNumbers = Several<NumberOrWord>;

std::vector<std::uint32_t> slots_of(const SlotNumbers& slots) {
  std::vector<std::uint32_t> numbers;
  for (const NumberOrWord& value : all_of(slots, "slots")) {
    if (const auto* const number = std::get_if<std::int64_t>(&value)) {
      numbers.push_back(within(*number, "slots", 1, std::numeric_limits<std::uint32_t>::max()));
    } else if (std::get<std::string>(value) == "auto") {
      numbers.push_back(0);
    } else {
      throw_invalid("slots: '{}' is no number and not 'auto'", std::get<std::string>(value));
    }
  }
  return numbers;
}

std::vector<std::size_t> sizes_of(const Several<std::int64_t>& values, std::string_view name) {
  std::vector<std::size_t> sizes;
  for (const std::int64_t value : all_of(values, name)) {
    if (value < 0) throw_invalid("{}: {} is out of range: use 0 or more", name, value);
    sizes.push_back(static_cast<std::size_t>(value));
  }
  return sizes;
}

std::vector<tiers::TierSpecPointer> tiers_of(const Several<std::string>& names) {
  std::vector<tiers::TierSpecPointer> tiers;
  for (const std::string& name : all_of(names, "tier")) {
    tiers.push_back(parsed("tier", tiers::parse_tier, name));
  }
  return tiers;
}

using Range = std::optional<std::pair<std::int64_t, std::int64_t>>;

std::string range_of(const Range& range) {
  if (!range) return "";
  if (range->first < 0 || range->second <= range->first) {
    throw_invalid("queries_range: {} to {} is empty", range->first, range->second);
  }
  return fmt::format("{}:{}", range->first, range->second);
}

measure::ExistingFile existing_file(bool resume, bool overwrite) {
  if (resume && overwrite) throw_invalid("resume and overwrite exclude each other");
  if (resume) return measure::ExistingFile::resume;
  return overwrite ? measure::ExistingFile::overwrite : measure::ExistingFile::refuse;
}

/// Returns the rows as dictionaries. A row that could not run says why, in the words of Python.
nb::list to_list(std::vector<nlohmann::ordered_json> rows) {
  nb::list list;
  for (nlohmann::ordered_json& row : rows) {
    const auto error = row.find("error");
    if (error != row.end()) *error = in_python_words(error->get<std::string>());
    list.append(to_dict(row));
  }
  return list;
}

/// Runs a sweep on a thread of its own; a signal ends it.
nb::list run_sweep(measure::SweepOptions options, const measure::SweepFiles& files) {
  std::vector<nlohmann::ordered_json> rows;
  run_job([&](const Interruption& interrupted) {
    options.manner.interrupted = interrupted;
    rows = measure::sweep(options, files);
  });
  return to_list(std::move(rows));
}

nb::list run_sweep(measure::HnswSweep sweep, const measure::SweepFiles& files) {
  std::vector<nlohmann::ordered_json> rows;
  run_job([&](const Interruption& interrupted) {
    sweep.manner.interrupted = interrupted;
    rows = measure::sweep_hnsw(sweep, files);
  });
  return to_list(std::move(rows));
}

/// Returns the sweep of a graph on pages, which looks at some of the options alone.
measure::HnswSweep sweep_of_pages(measure::SweepOptions options,
                                  const Several<NumberOrWord>& buffer, std::uint32_t min_complete) {
  return {.index = options.index,
          .questions = std::move(options.questions),
          .buffers = measure::split_words(listed(buffer, "buffer")),
          .lists = options.lists,
          .slots = options.slots,
          .threads = options.threads,
          .min_complete = min_complete,
          .k = options.k,
          .passes = options.passes,
          .range = options.range,
          .manner = options.manner};
}

constexpr const char* kSweepSignature =
    "def sweep(index: str | os.PathLike, queries: numpy.typing.ArrayLike | str | "
    "os.PathLike, groundtruth: numpy.typing.ArrayLike | str | os.PathLike | "
    "tuple[numpy.typing.ArrayLike, numpy.typing.ArrayLike | None], *, k: int = 10, "
    "list: int | collections.abc.Sequence[int] = (20, 40, 80, 160), "
    "width: int | collections.abc.Sequence[int] = 1, "
    "probe: int | collections.abc.Sequence[int] = (1, 4, 16, 64), "
    "dedup: bool | collections.abc.Sequence[bool] = True, "
    "prune_ratio: float | None = None, merge_gap: int | None = None, "
    "slots: int | str | collections.abc.Sequence[int | str] = 'auto', "
    "threads: int | collections.abc.Sequence[int] = 1, "
    "tier: str | collections.abc.Sequence[str] = 'dram', "
    "cache_bytes: int | collections.abc.Sequence[int] = 0, "
    "memory_budget: int | str | collections.abc.Sequence[int | str] | None = None, "
    "search: str | collections.abc.Sequence[str] | None = None, "
    "pool: str | collections.abc.Sequence[str] = 'record', "
    "prefetch: bool | collections.abc.Sequence[bool] = True, "
    "page_search: bool | collections.abc.Sequence[bool] = True, "
    "rerank: int | str | collections.abc.Sequence[int | str] = 'auto', "
    "buffer: int | str | collections.abc.Sequence[int | str] = ('10%', '50%'), "
    "min_complete: int = 6, queries_range: tuple[int, int] | None = None, "
    "passes: int = 5, pass_ms: float = 300.0, line_ns: float | None = None, "
    "json: str | os.PathLike | None = None, html: str | os.PathLike | None = None, "
    "resume: bool = False, overwrite: bool = False, tls_ca: str = '', "
    "tls_certificate: str = '', tls_key: str = '', filter: str = '', progress: bool = False, "
    "type: str | None = None, dimension: int | None = None, bitorder: str = 'big') -> "
    "list[dict[str, typing.Any]]";

/// The arguments are those of kSweepSignature.
nb::list sweep_index(const std::filesystem::path& index, const FileOrArray& queries,
                     const Truth& groundtruth, std::int64_t k, const Several<std::int64_t>& list,
                     const Several<std::int64_t>& width, const Several<std::int64_t>& probe,
                     const Several<bool>& dedup, std::optional<float> prune_ratio,
                     std::optional<std::int64_t> merge_gap, const SlotNumbers& slots,
                     const Several<std::int64_t>& threads, const Several<std::string>& tier,
                     const Several<std::int64_t>& cache_bytes,
                     const std::optional<Several<NumberOrWord>>& memory_budget,
                     const std::optional<Several<std::string>>& search,
                     const Several<std::string>& pool, const Several<bool>& prefetch,
                     const Several<bool>& page_search, const Several<NumberOrWord>& rerank,
                     const Several<NumberOrWord>& buffer, std::int64_t min_complete,
                     const Range& queries_range, std::int64_t passes, double pass_ms,
                     std::optional<double> line_ns,
                     const std::optional<std::filesystem::path>& json,
                     const std::optional<std::filesystem::path>& html, bool resume, bool overwrite,
                     std::string tls_ca, std::string tls_certificate, std::string tls_key,
                     std::string filter, bool progress, const std::optional<std::string>& element,
                     std::optional<std::int64_t> dimension, const std::string& bitorder) {
  SourceRows rows(queries, "queries", AskedBits{element, dimension, bitorder}.wish());
  const bool in_file = std::holds_alternative<std::filesystem::path>(queries);
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();
  measure::SweepOptions options{.index = index.string(),
                                .questions = questions_of(rows, in_file, groundtruth),
                                .range = range_of(queries_range),
                                .lists = numbers_of(list, "list"),
                                .widths = numbers_of(width, "width"),
                                .probes = numbers_of(probe, "probe"),
                                .dedups = all_of(dedup, "dedup"),
                                .slots = slots_of(slots),
                                .threads = numbers_of(threads, "threads"),
                                .cache_bytes = sizes_of(cache_bytes, "cache_bytes"),
                                .tiers = tiers_of(tier),
                                .k = within(k, "k", 1, kMost),
                                .passes = within(passes, "passes", 1, kMost),
                                .pass_ms = pass_ms,
                                .line_ns = line_ns.value_or(0),
                                .manner = {.quiet = !progress, .table = false}};
  if (prune_ratio) options.prune_ratio = *prune_ratio;
  if (merge_gap) options.merge_gap = to_count(*merge_gap, "merge_gap");
  if (memory_budget) options.disk.memory_budget = listed(*memory_budget, "memory_budget");
  if (search) options.disk.search = listed(all_of(*search, "search"));
  options.disk.pool = listed(all_of(pool, "pool"));
  options.disk.prefetch = listed_switches(prefetch, "prefetch");
  options.disk.page_search = listed_switches(page_search, "page_search");
  options.disk.rerank = listed(rerank, "rerank");
  options.tls = {std::move(tls_certificate), std::move(tls_key), std::move(tls_ca)};
  options.filter = std::move(filter);
  const measure::SweepFiles files{.json = json ? json->string() : "",
                                  .html = html ? html->string() : "",
                                  .existing = existing_file(resume, overwrite)};
  if (!paged::is_hnsw(options.index)) return run_sweep(std::move(options), files);
  if (!options.filter.empty()) throw_invalid("filter: an HNSW graph on pages takes none");
  measure::HnswSweep sweep =
      sweep_of_pages(std::move(options), buffer, within(min_complete, "min_complete", 1, kMost));
  if (search) sweep.searches = all_of(*search, "search");
  return run_sweep(std::move(sweep), files);
}

}  // namespace

void bind_sweep(nb::module_& module) {
  module.def("sweep", &sweep_index, "index"_a, "queries"_a, "groundtruth"_a, nb::kw_only(),
             "k"_a = 10, "list"_a = std::vector<std::int64_t>{20, 40, 80, 160}, "width"_a = 1,
             "probe"_a = std::vector<std::int64_t>{1, 4, 16, 64}, "dedup"_a = true,
             "prune_ratio"_a = nb::none(), "merge_gap"_a = nb::none(), "slots"_a = "auto",
             "threads"_a = 1, "tier"_a = "dram", "cache_bytes"_a = 0,
             "memory_budget"_a = nb::none(), "search"_a = nb::none(), "pool"_a = "record",
             "prefetch"_a = true, "page_search"_a = true, "rerank"_a = "auto",
             "buffer"_a = std::vector<std::string>{"10%", "50%"}, "min_complete"_a = 6,
             "queries_range"_a = nb::none(), "passes"_a = 5, "pass_ms"_a = 300.0,
             "line_ns"_a = nb::none(), "json"_a = nb::none(), "html"_a = nb::none(),
             "resume"_a = false, "overwrite"_a = false, "tls_ca"_a = "", "tls_certificate"_a = "",
             "tls_key"_a = "", "filter"_a = "", "progress"_a = false, "type"_a = nb::none(),
             "dimension"_a = nb::none(), "bitorder"_a = "big", nb::sig(kSweepSignature), kSweepDoc);
}

}  // namespace farvec::python
