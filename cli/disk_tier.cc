#include "cli/disk_tier.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/memory.h"
#include "cli/measurement.h"
#include "compute_node/slotted_core.h"
#include "ssd_baseline/io/batch_size.h"
#include "ssd_baseline/io/disk_engine.h"
#include "ssd_baseline/io/uring_queue.h"

namespace farvec::cli {
namespace {

namespace fs = std::filesystem;
using ssd_baseline::DiskFile;
using ssd_baseline::SlottedSearchOptions;
using ssd_baseline::SlottedStore;

constexpr std::size_t kProbeQueries = 400;
/// Times do not spread evenly: with 1 the core would wait half of the time.
constexpr double kAlpha = 2;
constexpr std::uint32_t kMostSlots = 64;
/// Of a budget, the pool has at least so many times what the searches themselves take.
constexpr std::size_t kPoolShare = 3;

fs::path pages_path(const std::string& path, const layout::IndexDirectory& directory) {
  const fs::path own = directory.region_path(layout::kRecordsRegion);
  if (path.empty()) return own;
  return fs::is_directory(path) ? fs::path(path) / own.filename() : fs::path(path);
}

std::uint64_t index_bytes(const layout::Manifest& manifest) {
  std::uint64_t sum = 0;
  for (const layout::RegionEntry& region : manifest.regions) sum += region.file_bytes();
  return sum;
}

/// The first bytes of a file or device, into memory that a direct read can go to.
HugeBuffer read_start(const DiskFile& file, std::size_t bytes) {
  HugeBuffer buffer(round_up(bytes, file.block_bytes()));
  const ssize_t got = pread(file.descriptor(), buffer.data(), buffer.size(), 0);
  if (got < 0) throw SystemError(errno, "reading the start of '{}'", file.path());
  if (static_cast<std::size_t>(got) < bytes)
    throw Error("'{}' ends within its header", file.path());
  return buffer;
}

/// Whether the pages of this index are there, all of them.
void check_pages(const DiskFile& file, const layout::IndexDirectory& directory) {
  const std::uint64_t needed = directory.manifest().region(layout::kRecordsRegion).file_bytes();
  if (file.size() < needed) {
    throw Error("'{}' has {} bytes, but the index's pages are {}: copy '{}' there", file.path(),
                file.size(), needed, directory.region_path(layout::kRecordsRegion).string());
  }
  const HugeBuffer start = read_start(file, layout::kRegionHeaderBytes);
  directory.check_header(layout::kRecordsRegion, start.span().first(layout::kRegionHeaderBytes),
                         file.path());
}

/// Every batch of queries runs on a thread of its own, which rings that belong to one do not bear.
std::unique_ptr<ssd_baseline::DiskEngine> open_engine(std::shared_ptr<const DiskFile> file,
                                                      std::uint32_t capacity) {
  return std::make_unique<ssd_baseline::DiskEngine>(std::make_unique<ssd_baseline::UringQueue>(
      ssd_baseline::DiskFiles{std::move(file)},
      ssd_baseline::UringOptions{.capacity = capacity, .plain = true}));
}

}  // namespace

void add_disk_options(CLI::App& command, DiskArguments& arguments, bool lists) {
  const char* const list = lists ? ", separated by commas" : "";
  command.add_option("--memory-budget", arguments.memory_budget,
                     fmt::format("Of --tier ssd: most bytes for codes, pool, maps, buffers and\n"
                                 "searches together, or a share of the index like 20%{} [all\n"
                                 "records fit]",
                                 list));
  command
      .add_option("--search", arguments.search,
                  fmt::format("Of --tier ssd: best-first, beam (DiskANN's, W records a hop) or\n"
                              "cache-aware (goes on with records in memory){}",
                              list))
      ->capture_default_str();
  command
      .add_option(
          "--pool", arguments.pool,
          fmt::format("Of --tier ssd: what is kept in memory, record, page or none{}", list))
      ->capture_default_str();
  command
      .add_option("--prefetch", arguments.prefetch,
                  fmt::format("Of --tier ssd: on reads the W nearest candidates ahead (a\n"
                              "cache-aware search always does){}",
                              list))
      ->capture_default_str();
}

std::size_t parse_budget(const std::string& text, const layout::Manifest& manifest) {
  if (!text.ends_with('%')) return parse_number(text, "--memory-budget");
  const std::uint64_t percent =
      parse_number(text.substr(0, text.size() - 1), "--memory-budget (before %)");
  if (percent > 1000) throw Error("--memory-budget: {} is out of range: use 0% to 1000%", text);
  return index_bytes(manifest) * percent / 100;
}

std::vector<DiskChoice> disk_choices(const DiskArguments& arguments,
                                     const layout::Manifest& manifest) {
  std::vector<std::optional<std::size_t>> budgets;
  for (const std::string& text : split_words(arguments.memory_budget)) {
    if (text.empty()) {
      budgets.emplace_back();  // split_words("") is one empty word
    } else {
      budgets.emplace_back(parse_budget(text, manifest));
    }
  }
  std::vector<DiskChoice> choices;
  for (const auto& budget : budgets) {
    for (const auto& pool : split_words(arguments.pool)) {
      for (const auto& search : split_words(arguments.search)) {
        for (const bool prefetch : split_switches(arguments.prefetch, "--prefetch")) {
          choices.push_back({ssd_baseline::parse_search_kind(search),
                             ssd_baseline::parse_pool_kind(pool), prefetch, budget});
        }
      }
    }
  }
  return choices;
}

DiskChoice one_disk_choice(const DiskArguments& arguments, const layout::Manifest& manifest) {
  const auto choices = disk_choices(arguments, manifest);
  if (choices.size() > 1) {
    throw Error(
        "give one each of --memory-budget, --search, --pool and --prefetch: "
        "`farvec sweep` compares several");
  }
  return choices.front();
}

DiskTier::DiskTier(const std::string& path, const layout::IndexDirectory& directory,
                   const ssd_baseline::SlottedIndex& index)
    : directory_(directory),
      index_(index),
      file_(std::make_shared<DiskFile>(pages_path(path, directory).string())) {
  check_pages(*file_, directory);
  model_ = open_engine(file_, 1)->description();
}

std::uint32_t DiskTier::affordable_slots(SlottedSearchOptions options) const {
  const auto budget = std::exchange(options.memory_budget, std::nullopt);
  for (options.slots = kMostSlots; budget && options.slots > 1; options.slots /= 2) {
    const ssd_baseline::MemoryPlan needed = plan(options);
    const std::size_t searches = needed.buffers + needed.searches;
    if (needed.fixed() + kPoolShare * searches <= *budget) break;
  }
  return options.slots;
}

std::uint32_t DiskTier::choose_slots(const SlottedSearchOptions& all, VectorView queries,
                                     const BatchParameters& parameters) const {
  SlottedSearchOptions options = all;
  const std::size_t rows = queries.count;
  options.slots = 1;
  options.cores = 1;
  // Half of them fill the pool, the others find in it what others than they have left there.
  queries.count = (std::min(queries.count, kProbeQueries) + 1) / 2;
  const std::uint32_t most = affordable_slots(all);
  const double latency_us = ssd_baseline::mean_read_latency_us(*open_engine(file_, 1));
  const auto cores = make_cores(options);
  dataset::GroundTruth results;
  run_batch(cores, queries, parameters, results);
  if (2 * queries.count <= rows) queries.data = queries.row(queries.count);
  const BatchOutcome outcome = run_batch(cores, queries, parameters, results);
  const auto waits = static_cast<double>(outcome.totals.pool_misses);
  if (waits == 0) return 1;
  const double compute_us = outcome.seconds * 1e6 / waits - latency_us;
  return ssd_baseline::batch_size(
      {.alpha = kAlpha, .latency_us = latency_us, .compute_us = compute_us, .most = most});
}

std::vector<std::unique_ptr<compute_node::SearchCore>> DiskTier::make_cores(
    const SlottedSearchOptions& options) const {
  (void)plan(options);  // before anything is loaded for it
  const auto store =
      std::make_shared<SlottedStore>(index_, directory_.load_page_map({.quiet = true}), options);
  std::vector<std::unique_ptr<compute_node::SearchCore>> cores;
  for (std::uint32_t c = 0; c < options.cores; ++c) {
    cores.push_back(compute_node::make_slotted_core(
        store, open_engine(file_, SlottedStore::buffers_per_core(options))));
  }
  return cores;
}

}  // namespace farvec::cli
