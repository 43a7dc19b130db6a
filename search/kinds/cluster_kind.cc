// This file says how a cluster index is loaded and searched.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "coroutines/stack_pool.h"
#include "disk/disk_engine.h"
#include "graph/beam_scratch.h"
#include "quantization/split_codes.h"
#include "search/core/endpoint_part.h"
#include "search/core/index_kinds.h"
#include "search/kinds/index_loader.h"
#include "search/searchers/cluster_searcher.h"
#include "search/searchers/coded_searcher.h"
#include "search/sources/endpoint_coded_source.h"
#include "search/sources/endpoint_posting_source.h"
#include "search/sources/mapped_coded_source.h"
#include "search/sources/mapped_posting_source.h"

namespace farvec::search {
namespace {

using ClustersByLoad = ClusterSearcher<MappedPostingSource>;
using ClustersByRead = ClusterSearcher<EndpointPostingSource>;
using CodedByLoad = CodedSearcher<MappedCodedSource>;
using CodedByRead = CodedSearcher<EndpointCodedSource>;

/// Lists of a search that hardly grow: nearest centroids, results, reads of a round.
constexpr std::size_t kProbeBytes = 256 * 1024;
/// Memory for each member of the clusters that are probed: its address while it is sorted and
/// remembered, its read, and whether it was seen.
constexpr std::size_t kBytesPerMember = 64;
/// Strays that share a read may bring this much together.
constexpr std::uint64_t kStrayBytes = 64u << 10;

template <typename Searcher, typename Source>
class ClusterReadPart final : public EndpointPart<Searcher> {
 public:
  ClusterReadPart(const ClusterIndex& index, std::unique_ptr<transport::Endpoint> endpoint,
                  const SearchCoreOptions& options, coroutines::Scheduler& scheduler)
      : EndpointPart<Searcher>(able(std::move(endpoint), index.locator()),
                               EndpointReads::dispatcher_options(index.locator(), options.slots),
                               scheduler) {
    for (std::uint32_t s = 0; s < options.slots; ++s) {
      this->add_slot(
          std::make_unique<Searcher>(index, options, Source(index, this->dispatcher(), s)));
    }
  }
};

template <typename Searcher, typename Source>
class ClusterLoadPart final : public SearcherPart<Searcher> {
 public:
  ClusterLoadPart(const ClusterIndex& index, std::span<const std::byte> region,
                  const SearchCoreOptions& options, coroutines::Scheduler& scheduler) {
    if (options.device != nullptr) reader_.emplace(options.device);
    FARVEC_CHECK(region.size() >= index.locator().region_bytes());
    if (options.device != nullptr) {
      require_readable(index.locator(), {MappedReads::kMostReadBytes,
                                         transport::to_string(options.device->model())});
    }
    for (std::uint32_t s = 0; s < options.slots; ++s) {
      this->add_slot(std::make_unique<Searcher>(
          index, options, Source(index, region.data(), scheduler, reader_ ? &*reader_ : nullptr)));
    }
  }

 private:
  alignas(kCacheLineBytes) std::optional<transport::DeviceReader> reader_;
};

cluster::CentroidIndex make_centroids(const layout::Manifest& manifest,
                                      layout::Centroids centroids) {
  graph::Graph graph = centroid_graph(centroids);
  return cluster::CentroidIndex(
      {manifest.metric, manifest.stored_type, manifest.dimension, centroids.header.space_dimension,
       std::move(centroids.centroids), std::move(graph), true, manifest.has_member_codes()},
      resolve_threads(0));
}

ClusterIndex assemble(const layout::Manifest& manifest, layout::ClusterLocator locator,
                      layout::Centroids centroids) {
  std::optional<quantization::NeighborCodes> codes;
  if (locator.geometry().has_codes()) {
    codes.emplace(
        quantization::code_parameters(centroids.codes, std::move(centroids.code_centroid)));
  }
  return ClusterIndex({manifest.metric, manifest.stored_type, manifest.dimension,
                       std::move(locator), make_centroids(manifest, std::move(centroids)),
                       std::move(codes)});
}

std::size_t search_bytes(const ClusterIndex& index, const SearchShape& shape) {
  const layout::ClusterLocator& locator = index.locator();
  const std::size_t probed = std::min<std::size_t>(shape.probe, locator.geometry().clusters);
  return coroutines::kStackBytes + kProbeBytes +
         index.dimension() * graph::kQueryBytesPerDimension +
         probed * locator.max_members() * kBytesPerMember;
}

}  // namespace

SearchIndex load_kind(const layout::IndexDirectory& directory, const layout::ClusterDescription&,
                      const layout::LoadOptions& options) {
  return assemble(directory.manifest(), directory.load_cluster_locator(options),
                  directory.load_centroids(options));
}

SearchIndex fetch_kind(const layout::Manifest& manifest, const layout::ClusterDescription&,
                       transport::Endpoint& endpoint, const FetchBound& bound) {
  const HugeBuffer centroids = fetch_region(manifest, layout::kCentroidsRegion, endpoint, bound);
  return assemble(manifest,
                  layout::parse_cluster_table(
                      fetch_region(manifest, layout::kClustersRegion, endpoint, bound), manifest),
                  layout::parse_centroids(centroids.span(), manifest.centroids_shape(),
                                          endpoint.description()));
}

std::unique_ptr<CorePart> make_load_part(const ClusterIndex& index,
                                         std::span<const std::byte> region,
                                         const SearchCoreOptions& options,
                                         coroutines::Scheduler& scheduler) {
  if (index.codes() != nullptr) {
    return std::make_unique<ClusterLoadPart<CodedByLoad, MappedCodedSource>>(index, region, options,
                                                                             scheduler);
  }
  return std::make_unique<ClusterLoadPart<ClustersByLoad, MappedPostingSource>>(index, region,
                                                                                options, scheduler);
}

std::unique_ptr<CorePart> make_read_part(const ClusterIndex& index,
                                         std::unique_ptr<transport::Endpoint> endpoint,
                                         const SearchCoreOptions& options,
                                         coroutines::Scheduler& scheduler) {
  if (index.codes() != nullptr) {
    return std::make_unique<ClusterReadPart<CodedByRead, EndpointCodedSource>>(
        index, std::move(endpoint), options, scheduler);
  }
  return std::make_unique<ClusterReadPart<ClustersByRead, EndpointPostingSource>>(
      index, std::move(endpoint), options, scheduler);
}

std::uint64_t longest_read(const ClusterIndex& index) {
  const layout::ClusterLocator& locator = index.locator();
  std::uint64_t longest = locator.geometry().decouples() ? kStrayBytes : 0;
  for (ClusterId c = 0; c < locator.geometry().clusters; ++c) {
    longest =
        std::max({longest, locator.list(c).bytes, locator.group(c).bytes, locator.whole(c).bytes});
  }
  longest = std::max<std::uint64_t>(longest, locator.geometry().record_bytes());
  if (longest > disk::kMaxDiskRequestBytes / 2) {
    throw Error("a cluster of {} bytes is too large to be read from a disk: build more clusters",
                longest);
  }
  return longest;
}

void set_own_largest(SearchShape& shape, const ProbeChoice& choice) {
  shape.probe = choice.clusters;
}

CoreNeeds core_needs(const ClusterIndex& index, const SearchShape& shape) {
  return {.lanes = EndpointReads::dispatcher_options(index.locator(), shape.slots),
          .search_bytes = search_bytes(index, shape),
          .cache_bytes = 0};
}

}  // namespace farvec::search
