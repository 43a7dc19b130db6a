#include "dataset/vector_set.h"

#include <algorithm>

#include "base/check.h"
#include "base/error.h"
#include "base/status_error.h"
#include "base/stored_form.h"
#include "dataset/finite.h"
#include "dataset/vector_file.h"

namespace farvec::dataset {

VectorSet::VectorSet(std::size_t count, std::uint32_t dimension, ElementType type)
    : buffer_(count * packed_bytes(type, dimension)),
      count_(count),
      dimension_(dimension),
      type_(type) {}

void VectorSet::truncate(std::size_t count) {
  FARVEC_CHECK(count <= count_);
  count_ = count;
}

namespace {

void require_metric_fits(const std::string& path, Metric metric, ElementType type) {
  try {
    farvec::require_metric_fits(metric, type);
  } catch (const StatusError& error) {
    throw StatusError(error.code, "'{}': {}", path, error.what());
  }
}

}  // namespace

VectorSet load(const std::string& path, const LoadOptions& options) {
  return load(*open_vectors(path), options);
}

VectorSet load(VectorReader& reader, const LoadOptions& options) {
  const VectorFileInfo& info = reader.info();
  const std::string& path = info.path;
  if (options.metric) require_metric_fits(path, *options.metric, info.type);
  if (options.first_row >= info.count || options.max_rows == 0) {
    throw Error("'{}' has {} rows: none is left from row {} on, at most {}", path, info.count,
                options.first_row, options.max_rows);
  }
  const std::uint64_t count = std::min(info.count - options.first_row, options.max_rows);
  VectorSet set(count, info.dimension, info.type);
  std::size_t kept = 0;
  const std::size_t block = block_rows(info);
  for (std::uint64_t done = 0; done < count; done += block) {
    const std::uint64_t begin = options.first_row + done;
    const auto rows = static_cast<std::size_t>(std::min<std::uint64_t>(block, count - done));
    std::byte* out = set.mutable_row(kept);
    reader.read_rows(begin, rows, out);
    kept += keep_finite({info, begin, options.allow_nonfinite, options.metric}, rows, out);
  }
  if (kept == 0) throw Error("'{}': every row holds NaN or infinity, or is too long", path);
  set.truncate(kept);
  set.set_dropped(count - kept);
  set.set_rounded(info.rounded);
  return set;
}

}  // namespace farvec::dataset
