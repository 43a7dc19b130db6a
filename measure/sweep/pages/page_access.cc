#include "measure/sweep/pages/page_access.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "base/parallel.h"
#include "base/stored_form.h"
#include "indexing/source.h"

namespace farvec::measure {

using paged::HnswConfig;
using paged::PagedHnsw;

namespace {

paged::HnswReadOptions reads_of(const PageAccess& access) {
  return {paged::parse_read_mode(access.search), access.min_complete};
}

}  // namespace

std::unique_ptr<PagedHnsw> open_hnsw(const std::string& path, const PageAccess& access) {
  const std::uint64_t operations = std::uint64_t{access.threads} * access.slots;
  auto hnsw = paged::open_hnsw(path, {.buffer = access.buffer,
                                      .durability = access.durability,
                                      .buffer_option = "--buffer",
                                      .changes_at_once = access.changes ? operations : 0});
  const paged::StoreRecovery& recovery = hnsw->store().recovery();
  if (access.quiet) return hnsw;
  if (recovery.records > 0 || recovery.torn_bytes > 0) {
    fmt::print(stderr,
               "{}: was not closed; {} records of its log were gone through, {} pages changed, {} "
               "torn pages healed, {} bytes at the end of the log had never been acknowledged, in "
               "{:.2f} s\n",
               path, recovery.records, recovery.pages, recovery.healed_pages, recovery.torn_bytes,
               recovery.seconds);
  }
  return hnsw;
}

std::vector<std::unique_ptr<search::SearchCore>> make_cores(
    PagedHnsw& hnsw, const PageAccess& access, std::shared_ptr<paged::SearchCounts> counts) {
  const paged::PagedCores cores(
      hnsw, {.reads = reads_of(access), .slots = access.slots, .counts = std::move(counts)});
  std::vector<std::unique_ptr<search::SearchCore>> made;
  for (std::uint32_t i = 0; i < access.threads; ++i) made.push_back(cores.make_core());
  return made;
}

paged::HnswCrewOptions crew_options(const PageAccess& access, Interruption interrupted) {
  paged::HnswCrewOptions crew;
  crew.reads = reads_of(access);
  crew.threads = access.threads;
  crew.slots = access.slots;
  crew.acknowledge_each = access.durability == "commit";
  crew.interrupted = std::move(interrupted);
  return crew;
}

dataset::VectorSet stored_for(const HnswConfig& config, dataset::VectorSet rows,
                              const std::string& path) {
  const ElementType type = stored_type(config.metric, rows.type());
  if (rows.dimension() != config.dimension || type != config.type) {
    throw Error("'{}' holds {} {}, the graph {} {}: they must agree", path, rows.dimension(),
                to_string(rows.type()), config.dimension, to_string(config.type));
  }
  return indexing::stored_rows(std::move(rows), config.metric, resolve_threads(0));
}

dataset::VectorSet stored_for(const HnswConfig& config, const std::string& path) {
  return stored_for(config, dataset::load(path, {.metric = config.metric}), path);
}

}  // namespace farvec::measure
