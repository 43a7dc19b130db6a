#include "indexing/source.h"

#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/finite.h"
#include "base/parallel.h"
#include "base/status_error.h"
#include "base/stored_form.h"
#include "base/version.h"
#include "distance/distance.h"
#include "layout/region/json_fields.h"

namespace farvec::indexing {
namespace {

/// Returns "sift1m" for /data/sift1m/base.u8bin, else the file's stem.
std::string dataset_name(const std::string& path) {
  const std::filesystem::path file = std::filesystem::absolute(path);
  return file.stem() == "base" ? file.parent_path().filename().string() : file.stem().string();
}

}  // namespace

layout::Manifest describe_source(const DatasetFile& file, const VectorView& source, Metric metric) {
  layout::Manifest manifest;
  require_metric_fits(metric, source.type);
  manifest.metric = metric;
  manifest.dimension = source.dimension;
  manifest.source_type = source.type;
  manifest.stored_type = stored_type(metric, source.type);
  manifest.dataset.name = file.name.empty() ? dataset_name(file.path) : file.name;
  if (manifest.dataset.name.size() > layout::kMostTextBytes) {
    throw StatusError(StatusCode::invalid_argument,
                      "--name: the name of the data set has {} bytes: use at most {}",
                      manifest.dataset.name.size(), layout::kMostTextBytes);
  }
  manifest.dataset.file = std::filesystem::path(file.path).filename().string();
  manifest.dataset.row_bytes = source.row_bytes();
  manifest.dataset.rows_hashed = source.count;
  manifest.dataset.xxh3 = layout::fingerprint(source);
  manifest.farvec_version = version();
  manifest.farvec_commit = commit();
  return manifest;
}

layout::Manifest unwritten(layout::Manifest manifest) {
  manifest.regions.clear();
  manifest.placement.reset();
  manifest.farvec_version = version();
  manifest.farvec_commit = commit();
  return manifest;
}

void require_comparable(const VectorView& stored, unsigned threads) {
  if (stored.type == ElementType::u8 || stored.type == ElementType::i8) return;
  parallel_for(stored.count, 4096, threads, [&](std::size_t begin, std::size_t end, unsigned) {
    for (std::size_t i = begin; i < end; ++i) {
      const RowFault fault = fault_of_row(stored.row(i), stored.type, stored.dimension);
      if (fault == RowFault::none) continue;
      throw StatusError(StatusCode::invalid_argument, "row {} {}", i, to_string(fault));
    }
  });
}

void check_sample(const VectorView& queries, const VectorView& rows) {
  if (queries.count == 0) throw Error("a sample of no queries says nothing of those to come");
  if (queries.dimension == rows.dimension && queries.type == rows.type) return;
  throw Error("queries of {} x {} do not fit vectors of {} x {}", queries.dimension,
              to_string(queries.type), rows.dimension, to_string(rows.type));
}

dataset::VectorSet stored_rows(dataset::VectorSet source, Metric metric, unsigned threads) {
  if (!stores_unit_vectors(metric)) {
    require_comparable(source.view(), threads);
    return source;
  }
  return stored_copy(source.view(), metric, threads);
}

dataset::VectorSet stored_copy(const VectorView& from, Metric metric, unsigned threads) {
  dataset::VectorSet stored(from.count, from.dimension, stored_type(metric, from.type));
  parallel_for(from.count, 4096, threads, [&](std::size_t begin, std::size_t end, unsigned) {
    for (std::size_t i = begin; i < end; ++i) {
      distance::to_stored(from.row(i), from.type, metric, from.dimension, stored.mutable_row(i));
    }
  });
  require_comparable(stored.view(), threads);
  return stored;
}

}  // namespace farvec::indexing
