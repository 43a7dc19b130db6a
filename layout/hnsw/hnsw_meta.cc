#include "layout/hnsw/hnsw_meta.h"

#include "base/memory.h"
#include "base/stored_form.h"
#include "layout/store/store_page.h"

namespace farvec::layout {
namespace {

Status bad_meta(const char* what) {
  return {StatusCode::data_loss, what};
}

Status check_parameters(const HnswMeta& meta) {
  const HnswParameters& p = meta.parameters;
  const bool known = p.type < kElementTypes.size() && p.metric < kMetrics.size();
  if (!known || p.dimension == 0 || p.dimension > max_dimension(meta.type()) ||
      !can_compare(meta.metric(), meta.type())) {
    return bad_meta("the meta page names vectors that there cannot be");
  }
  if (stored_type(meta.metric(), meta.type()) != meta.type()) {
    return bad_meta("the meta page says that unit vectors are stored as integers");
  }
  if (p.m < 2 || p.m > 1024 || p.ef_construction == 0 || p.max_level > kHnswMaxLevel) {
    return bad_meta("the meta page names parameters that there cannot be");
  }
  if (p.most_insert_pages > (p.version == 1 ? 0 : kMillionPages)) {
    return bad_meta("the meta page allows more insert pages than there are pages");
  }
  const auto highest = highest_hnsw_level(meta.shape());
  if (!highest.has_value() || *highest < p.max_level) {
    return bad_meta("the meta page says that vertices are larger than a page");
  }
  return {};
}

Status check_state(const HnswMeta& meta) {
  const HnswState& state = meta.state;
  if (state.loaded != 1) {
    return {StatusCode::failed_precondition,
            "the graph was never written to its end: delete the folder and build it again"};
  }
  if (state.entry().empty() && state.vertices > 0) {
    return bad_meta("the meta page says that there are vertices and nowhere to begin");
  }
  const std::uint64_t map_pages = state.pages[static_cast<std::size_t>(HnswPageKind::partitions)];
  const std::uint64_t partitions = map_pages * meta.partition_map().capacity();
  if (state.insert_pages > (meta.parameters.version == 1 ? 0 : partitions)) {
    return bad_meta("the meta page counts more insert pages than there are partitions");
  }
  if (state.id_map_height > 3) return bad_meta("the meta page says that the id map is too high");
  return {};
}

}  // namespace

Result<HnswMeta> read_hnsw_meta(std::span<const std::byte> page) {
  const StorePage tuples(page);
  const auto tuple = tuples.tuple(0);
  if (tuples.header().kind != static_cast<std::uint16_t>(HnswPageKind::meta) ||
      tuple.size() < sizeof(std::uint64_t) + sizeof(std::uint32_t) ||
      load_unaligned<std::uint64_t>(tuple.data()) != kHnswMagic) {
    return bad_meta("page 0 is not the meta page of an HNSW graph");
  }
  const auto version = load_unaligned<std::uint32_t>(tuple.data() + sizeof(std::uint64_t));
  if (version < kHnswOldestVersion || version > kHnswVersion) {
    return Status(StatusCode::failed_precondition,
                  "the graph is of another format version: build it again with this farvec");
  }
  if (tuple.size() != sizeof(HnswMeta)) return bad_meta("the meta page has another length");
  const auto meta = load_unaligned<HnswMeta>(tuple.data());
  if (meta.parameters.page_bytes != page.size()) {
    return bad_meta("the meta page names another page size than the store's");
  }
  if (Status status = check_parameters(meta); !status.ok()) return status;
  if (Status status = check_state(meta); !status.ok()) return status;
  return meta;
}

}  // namespace farvec::layout
