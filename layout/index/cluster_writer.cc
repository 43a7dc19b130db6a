#include "layout/index/cluster_writer.h"

#include <utility>
#include <vector>

#include "base/check.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "layout/index/index_publisher.h"
#include "layout/index/region_file.h"

namespace farvec::layout {
namespace {

namespace fs = std::filesystem;

RegionEntry write_records(const fs::path& directory, const ClusterEncoder& encoder,
                          const WriteOptions& options) {
  RegionFile file(directory, records_kind(encoder.geometry().kind), options.on_chunk);
  Progress progress("writing clusters", encoder.region_bytes() - kRegionHeaderBytes, options.quiet,
                    options.interrupted);
  encoder.stream(
      resolve_threads(options.threads),
      [&](std::span<const std::byte> bytes) { file.append(bytes); },
      [&](std::uint64_t bytes) { progress.advance(bytes); });
  return file.publish();
}

RegionEntry write_bytes(const fs::path& directory, RegionKind kind,
                        std::span<const std::byte> bytes, const OnChunk& on_chunk) {
  RegionFile file(directory, kind, on_chunk);
  file.append(bytes);
  return file.publish();
}

std::array<std::uint64_t, kMaxReplicas> replication_of(const MembershipView& membership) {
  std::array<std::uint64_t, kMaxReplicas> replication{};
  for (std::size_t v = 0; v < membership.count(); ++v) {
    const std::size_t clusters = membership.of(v).size();
    FARVEC_CHECK(clusters >= 1 && clusters <= kMaxReplicas, "vector {} is in {}", v, clusters);
    ++replication[clusters - 1];
  }
  return replication;
}

}  // namespace

Manifest write_cluster_index(const fs::path& directory, Manifest manifest,
                             const ClusterContents& contents, const CentroidsView& centroids,
                             const WriteOptions& options) {
  FARVEC_CHECK(centroids.graph.count == contents.clusters, "{} centroids of {} clusters",
               centroids.graph.count, contents.clusters);
  ClusterDescription& description = manifest.cluster();
  const ClusterEncoder encoder(description.geometry.kind, contents);
  manifest.count = contents.vectors.count;
  manifest.dimension = contents.vectors.dimension;
  manifest.stored_type = contents.vectors.type;
  description.geometry = encoder.geometry();
  description.replication = replication_of(contents.membership);
  const std::vector<std::byte> centroid_bytes = encode_centroids(centroids);
  const std::uint64_t payload =
      encoder.region_bytes() + centroid_bytes.size() + std::as_bytes(encoder.table()).size();
  return publish_index(
      directory, std::move(manifest), options.overwrite, payload + bytes_beside_payload(payload),
      [&](const fs::path& partial) {
        return std::vector<RegionEntry>{
            write_records(partial, encoder, options),
            write_bytes(partial, RegionKind::centroids, centroid_bytes, options.on_chunk),
            write_bytes(partial, RegionKind::clusters, std::as_bytes(encoder.table()),
                        options.on_chunk)};
      });
}

}  // namespace farvec::layout
