#include "indexing/stored_graph.h"

#include <cstring>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/parallel.h"
#include "base/version.h"

namespace farvec::indexing {
namespace {

constexpr std::size_t kRecordRun = 1024;

/// Reads record after record into rows and graph; one per thread.
class RecordReader {
 public:
  RecordReader(const layout::GraphLocator& locator, const std::byte* region, StoredGraph& out)
      : locator_(locator), region_(region), out_(out) {}

  void read(NodeId id) {
    const layout::Extent extent = locator_.locate(id);
    const Result<NodeRecord> parsed =
        locator_.parse(id, extent, {region_ + extent.offset, extent.bytes});
    if (!parsed.ok()) throw Error("vertex {}: {}", id, parsed.status().message());
    const NodeRecord& record = parsed.value();
    neighbors_.clear();
    for (std::uint32_t i = 0; i < record.degree; ++i) {
      neighbors_.push_back(record.neighbor(i));
      if (neighbors_.back() < locator_.geometry().count) continue;
      throw Error("vertex {} points to {}, which does not exist", id, neighbors_.back());
    }
    out_.graph.set_neighbors(id, neighbors_);
    std::memcpy(out_.rows.mutable_row(id), record.vector, locator_.geometry().vector_bytes);
  }

 private:
  const layout::GraphLocator& locator_;
  const std::byte* const region_;
  StoredGraph& out_;
  std::vector<NodeId> neighbors_;
};

layout::Manifest without_regions(layout::Manifest manifest) {
  manifest.regions.clear();
  manifest.placement.reset();
  manifest.graph().neighbor_code_bytes = 0;
  manifest.farvec_version = version();
  manifest.farvec_commit = commit();
  return manifest;
}

}  // namespace

BuiltGraph StoredGraph::built() && {
  return {{std::move(manifest), rows.view()}, std::move(graph), {}};
}

StoredGraph read_graph(const layout::IndexDirectory& directory,
                       const layout::LoadOptions& options) {
  const layout::Manifest& manifest = directory.manifest();
  if (!manifest.is_graph() || manifest.is_slotted()) {
    throw Error("{} is no graph in records (csr, inline, padded): its layout is {}",
                directory.path().string(), manifest.layout_name());
  }
  const layout::GraphLocator locator = directory.load_locator(options);
  const HugeBuffer region = directory.load_region(layout::kRecordsRegion, options);
  StoredGraph stored{without_regions(manifest),
                     dataset::VectorSet(manifest.count, manifest.dimension, manifest.stored_type),
                     graph::Graph(manifest.count, manifest.graph().max_degree)};
  stored.graph.entry = manifest.graph().entry;
  parallel_for(manifest.count, kRecordRun, resolve_threads(options.threads),
               [&](std::size_t begin, std::size_t end, unsigned) {
                 RecordReader reader(locator, region.data(), stored);
                 for (std::size_t v = begin; v < end; ++v) reader.read(static_cast<NodeId>(v));
               });
  return stored;
}

}  // namespace farvec::indexing
