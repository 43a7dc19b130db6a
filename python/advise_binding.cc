// Binds advise().
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/quantity.h"
#include "measure/advise/advisor.h"
#include "measure/advise/scratch_folder.h"
#include "python/bindings.h"
#include "python/errors.h"
#include "python/jobs.h"
#include "python/json_object.h"
#include "python/several.h"
#include "python/source_rows.h"

namespace farvec::python {
namespace {

namespace nb = nanobind;
using namespace nb::literals;

constexpr const char* kAdviseDoc =
    R"(Say which index, layout and parameters suit a data set, a device and a recall.

Small indexes over samples of three sizes are built and searched: what a query counts is carried on
to all rows, what it computes is measured on this processor. The arguments are the options of
``farvec advise``; where it takes a list, one value or several.

Args:
    data: Vector file that is to be indexed.
    queries: Vector file of queries like those to come.
    device: A model, ``rdma``, ``cxl``, ``nvm``, ``ssd`` or ``latency=5us,bandwidth=10GB/s,
        rate=50M/s``; a file with these words; or ``ssd:PATH``, a disk that is measured here.
    recall: Wanted recall@k.
    metric: ``l2``, ``ip`` or ``cosine``.
    k: Neighbours wanted.
    threads: Cores that search and share the device.
    max_amplification: Take no index with more bytes on the device than this many times the data.
    max_dram: Nor with more bytes of compute DRAM per vector.
    sample: Rows of the largest small indexes; 0: a quarter of the data, 100,000 at least.
    most_minutes: For building and counting: where they take longer, the largest sample is cut.
    most_queries: Most queries that are used.
    queries_range: First row of the queries that are used, and the one after the last.
    degree: Of the graphs to try; an empty list: no graphs.
    cluster_rows: Vectors per cluster to try; an empty list: no clusters.
    replicas: Clusters that a vector may be in, to try.
    layout: Of clusters, to try; None: all.
    graph_layout: Of graphs, to try; None: all.
    memory_budget: Slotted pages: memory that searches may use, as shares of the index ("20%").
    bytes: With a folder of a disk: size of the file that is written there to measure it.
    disk_seconds: With a disk: of reading it.
    width: Records that a graph search fetches per hop.
    list: Candidates that a graph build keeps.
    passes: Of a graph build over all vectors.
    code_bits: Bits per dimension of a graph's codes; None: 4, inline 1, more where it needs more.
    seed: Of the sample and the builds.
    scratch: Folder for the small indexes, a few times the sample; None: that of temporary files.
    progress: Say on stderr how far it is.

Returns:
    What ``farvec advise --json`` writes: ``choice``, the index to take, or None when none reaches
    the recall within the limits, and ``settings``, all that were tried.

Raises:
    InvalidArgument: A value that cannot be.
    Error: A file is not there, or too small to learn from.
    KeyboardInterrupt: Ctrl-C has ended it; nothing is left behind.)";

/// Returns the numbers of an argument, of which there may be none: an empty list.
std::vector<std::uint32_t> numbers_or_none(const Several<std::int64_t>& values,
                                           std::string_view name) {
  const auto* const several = std::get_if<std::vector<std::int64_t>>(&values);
  if (several != nullptr && several->empty()) return {};
  return numbers_of(values, name);
}

template <typename Kind, typename Parse>
std::vector<Kind> kinds_of(const std::optional<Several<std::string>>& words, std::string_view name,
                           std::span<const Kind> all, const Parse& parse) {
  if (!words) return {all.begin(), all.end()};
  std::vector<Kind> kinds;
  for (const std::string& word : all_of(*words, name)) kinds.push_back(parsed(name, parse, word));
  return kinds;
}

std::vector<double> percents_of(const Several<std::string>& words) {
  std::vector<double> percents;
  for (const std::string& word : all_of(words, "memory_budget")) {
    percents.push_back(parse_percent(word, "--memory-budget"));
  }
  return percents;
}

nb::dict run_advisor(measure::AdviceOptions options,
                     const std::optional<std::filesystem::path>& scratch) {
  nlohmann::ordered_json advice;
  run_job([&](const Interruption& interrupted) {
    const measure::ScratchFolder folder(scratch ? *scratch : std::filesystem::temp_directory_path(),
                                        "scratch");
    options.scratch = folder.path();
    options.interrupted = interrupted;
    advice = measure::advice_json(measure::advise(options).front());
  });
  return to_dict(advice);
}

constexpr const char* kAdviseSignature =
    "def advise(data: str | os.PathLike, queries: str | os.PathLike, device: str, *, "
    "recall: float = 0.95, metric: str = 'l2', k: int = 10, threads: int = 1, "
    "max_amplification: float | None = None, max_dram: float | None = None, "
    "sample: int = 0, most_minutes: float = 10.0, most_queries: int = 1000, "
    "queries_range: tuple[int, int] | None = None, "
    "degree: int | collections.abc.Sequence[int] = (16, 32, 48), "
    "cluster_rows: int | collections.abc.Sequence[int] = (50, 150), "
    "replicas: int | collections.abc.Sequence[int] = (1, 4, 8), "
    "layout: str | collections.abc.Sequence[str] | None = None, "
    "graph_layout: str | collections.abc.Sequence[str] | None = None, "
    "memory_budget: str | collections.abc.Sequence[str] = '20%', "
    "bytes: int = 1073741824, disk_seconds: float = 10.0, width: int = 3, "
    "list: int = 75, passes: int = 1, code_bits: int | None = None, seed: int = 1, "
    "scratch: str | os.PathLike | None = None, progress: bool = False) -> "
    "dict[str, typing.Any]";

}  // namespace

void bind_advise(nb::module_& module) {
  module.def(
      "advise",
      [](const std::filesystem::path& data, const std::filesystem::path& queries,
         const std::string& device, double recall, const std::string& metric, std::int64_t k,
         std::int64_t threads, std::optional<double> max_amplification,
         std::optional<double> max_dram, std::uint64_t sample, double most_minutes,
         std::uint64_t most_queries,
         const std::optional<std::pair<std::uint64_t, std::uint64_t>>& queries_range,
         const Several<std::int64_t>& degree, const Several<std::int64_t>& cluster_rows,
         const Several<std::int64_t>& replicas, const std::optional<Several<std::string>>& layout,
         const std::optional<Several<std::string>>& graph_layout,
         const Several<std::string>& memory_budget, std::uint64_t bytes, double disk_seconds,
         std::int64_t width, std::int64_t list, std::int64_t passes,
         std::optional<std::int64_t> code_bits, std::uint64_t seed,
         const std::optional<std::filesystem::path>& scratch, bool progress) {
        measure::AdviceOptions options;
        options.file = {data.string(), parsed("metric", parse_metric, metric), 0};
        options.queries = queries.string();
        if (queries_range) {
          options.queries_range = fmt::format("{}:{}", queries_range->first, queries_range->second);
        }
        options.devices.push_back(parsed("device", measure::read_device, device));
        options.disk_bytes = bytes;
        options.disk_seconds = disk_seconds;
        options.recall = recall;
        options.k = to_count(k, "k");
        options.threads = to_count(threads, "threads");
        options.sample = sample;
        options.most_minutes = most_minutes;
        options.most_queries = most_queries;
        options.seed = seed;
        options.recipe.width = within(width, "width", 1, kMostList);
        options.recipe.list = to_count(list, "list");
        options.recipe.passes = to_count(passes, "passes");
        if (code_bits) options.recipe.code_bits = to_count(*code_bits, "code_bits");
        options.degrees = numbers_or_none(degree, "degree");
        options.cluster_rows = numbers_or_none(cluster_rows, "cluster_rows");
        options.replicas = numbers_of(replicas, "replicas");
        options.layouts = kinds_of<layout::ClusterLayoutKind>(
            layout, "layout", layout::kClusterLayouts, layout::parse_cluster_layout);
        options.graph_layouts = kinds_of<layout::LayoutKind>(
            graph_layout, "graph_layout", layout::kGraphLayouts, layout::parse_layout_kind);
        options.memory_percents = percents_of(memory_budget);
        options.limits = {max_amplification.value_or(0), max_dram.value_or(0)};
        options.quiet = !progress;
        return run_advisor(std::move(options), scratch);
      },
      "data"_a, "queries"_a, "device"_a, nb::kw_only(), "recall"_a = 0.95, "metric"_a = "l2",
      "k"_a = 10, "threads"_a = 1, "max_amplification"_a = nb::none(), "max_dram"_a = nb::none(),
      "sample"_a = 0, "most_minutes"_a = 10.0, "most_queries"_a = 1000,
      "queries_range"_a = nb::none(), "degree"_a = std::vector<std::int64_t>{16, 32, 48},
      "cluster_rows"_a = std::vector<std::int64_t>{50, 150},
      "replicas"_a = std::vector<std::int64_t>{1, 4, 8}, "layout"_a = nb::none(),
      "graph_layout"_a = nb::none(), "memory_budget"_a = "20%",
      "bytes"_a = measure::kDefaultTestBytes, "disk_seconds"_a = measure::kDefaultDiskSeconds,
      "width"_a = 3, "list"_a = 75, "passes"_a = 1, "code_bits"_a = nb::none(), "seed"_a = 1,
      "scratch"_a = nb::none(), "progress"_a = false, nb::sig(kAdviseSignature), kAdviseDoc);
}

}  // namespace farvec::python
