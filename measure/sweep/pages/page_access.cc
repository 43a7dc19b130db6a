#include "measure/sweep/pages/page_access.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "base/parallel.h"
#include "distance/distance.h"
#include "indexing/source.h"

namespace farvec::measure {

using paged::HnswConfig;
using paged::PagedHnsw;

std::unique_ptr<PagedHnsw> open_hnsw(const std::string& path, const PageAccess& access) {
  auto hnsw = paged::open_hnsw(path, {.buffer = access.buffer,
                                      .durability = access.durability,
                                      .buffer_option = "--buffer",
                                      .changes = access.changes});
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

paged::HnswCrewOptions crew_options(const PageAccess& access, Interruption interrupted) {
  paged::HnswCrewOptions crew;
  crew.reads = {paged::parse_read_mode(access.search), access.min_complete};
  crew.threads = access.threads;
  crew.slots = access.slots;
  crew.acknowledge_each = access.durability == "commit";
  crew.interrupted = std::move(interrupted);
  return crew;
}

dataset::VectorSet stored_for(const HnswConfig& config, dataset::VectorSet rows,
                              const std::string& path) {
  const ElementType type = distance::stored_type(config.metric, rows.type());
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
