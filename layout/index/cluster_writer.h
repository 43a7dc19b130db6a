// Writes a cluster index on disk.
#pragma once

#include <filesystem>

#include "layout/cluster/centroids_region.h"
#include "layout/cluster/cluster_encoder.h"
#include "layout/index/index_writer.h"
#include "layout/index/manifest.h"

namespace farvec::layout {

/// Works like write_index(). The caller has filled in metric, source type, the kind of geometry and
/// the build of a ClusterDescription, dataset and farvec_*; the rest is filled in here. Throws
/// Error like write_index().
Manifest write_cluster_index(const std::filesystem::path& directory, Manifest manifest,
                             const ClusterContents& contents, const CentroidsView& centroids,
                             const WriteOptions& options = {});

}  // namespace farvec::layout
