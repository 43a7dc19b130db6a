#include "indexing/bit_thresholds.h"

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "dataset/finite.h"
#include "dataset/row_selection.h"
#include "distance/distance.h"

namespace farvec::indexing {
namespace {

constexpr std::uint64_t kSampleSeed = 1;

/// Calls `take` with every good row of the range, as f32.
template <typename Take>
void for_each_row(dataset::VectorReader& rows, dataset::RowRange range, bool allow_nonfinite,
                  const Take& take) {
  const dataset::VectorFileInfo& info = rows.info();
  const std::size_t block = dataset::block_rows(info);
  std::vector<std::byte> bytes(std::min<std::uint64_t>(block, range.size()) * info.row_bytes());
  std::vector<float> wide(info.dimension);
  for (std::uint64_t begin = range.begin; begin < range.end; begin += block) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(block, range.end - begin));
    rows.read_rows(begin, count, bytes.data());
    const std::size_t kept =
        dataset::keep_finite({info, begin, allow_nonfinite}, count, bytes.data());
    for (std::size_t i = 0; i < kept; ++i) {
      distance::widen(bytes.data() + i * info.row_bytes(), info.type, info.dimension, wide.data());
      take(wide);
    }
  }
}

[[noreturn]] void refuse_empty(const dataset::VectorFileInfo& info) {
  throw Error("'{}': every row holds NaN or infinity, and none is left to take thresholds from",
              info.path);
}

std::vector<float> means(dataset::VectorReader& rows, bool allow_nonfinite) {
  const dataset::VectorFileInfo& info = rows.info();
  std::vector<double> sums(info.dimension);
  std::uint64_t count = 0;
  for_each_row(rows, {0, info.count}, allow_nonfinite, [&](const std::vector<float>& row) {
    for (std::size_t d = 0; d < sums.size(); ++d) sums[d] += static_cast<double>(row[d]);
    ++count;
  });
  if (count == 0) refuse_empty(info);
  std::vector<float> result(info.dimension);
  for (std::size_t d = 0; d < sums.size(); ++d) {
    result[d] = static_cast<float>(sums[d] / static_cast<double>(count));
  }
  return result;
}

/// Returns up to `most` rows as columns: value d of row i is at d * most + i.
struct Columns {
  std::vector<float> values;
  std::size_t stride = 0;
  std::size_t rows = 0;
};

Columns sampled_columns(dataset::VectorReader& rows, bool allow_nonfinite, std::uint64_t most) {
  const dataset::VectorFileInfo& info = rows.info();
  const std::uint64_t taken = std::min(most, info.count);
  Columns columns{std::vector<float>(taken * info.dimension), taken};
  const auto chosen = dataset::sample_rows(info.count, taken, kSampleSeed);
  for (const dataset::RowRange& range : dataset::join_rows(chosen, dataset::block_rows(info))) {
    for_each_row(rows, range, allow_nonfinite, [&](const std::vector<float>& row) {
      for (std::size_t d = 0; d < row.size(); ++d) {
        columns.values[d * columns.stride + columns.rows] = row[d];
      }
      ++columns.rows;
    });
  }
  if (columns.rows == 0) refuse_empty(info);
  return columns;
}

std::vector<float> medians(dataset::VectorReader& rows, bool allow_nonfinite,
                           std::size_t median_bytes) {
  const std::uint32_t dimension = rows.info().dimension;
  const std::size_t most = std::max<std::size_t>(1, median_bytes / (dimension * sizeof(float)));
  Columns columns = sampled_columns(rows, allow_nonfinite, most);
  std::vector<float> result(dimension);
  for (std::uint32_t d = 0; d < dimension; ++d) {
    const std::span<float> column(&columns.values[d * columns.stride], columns.rows);
    const auto middle = column.begin() + static_cast<std::ptrdiff_t>((column.size() - 1) / 2);
    std::nth_element(column.begin(), middle, column.end());
    result[d] = *middle;
  }
  return result;
}

}  // namespace

std::vector<float> bit_thresholds(dataset::VectorReader& rows, BitRule rule, bool allow_nonfinite,
                                  std::size_t median_bytes) {
  const dataset::VectorFileInfo& info = rows.info();
  if (info.type == ElementType::b1) throw Error("'{}' holds bits already", info.path);
  switch (rule) {
    case BitRule::mean:
      return means(rows, allow_nonfinite);
    case BitRule::median:
      return medians(rows, allow_nonfinite, median_bytes);
    case BitRule::sign:
      break;
  }
  return std::vector<float>(info.dimension);
}

std::vector<float> read_bit_thresholds(const std::string& path, std::uint32_t dimension) {
  const auto file = dataset::open_vectors(path);
  const dataset::VectorFileInfo& info = file->info();
  if (info.count != 1 || info.dimension != dimension || info.type == ElementType::b1) {
    throw Error(
        "'{}' holds {} rows of {} {}: thresholds are one row of {} numbers, as --thresholds "
        "writes them",
        path, info.count, info.dimension, to_string(info.type), dimension);
  }
  std::vector<float> thresholds;
  for_each_row(*file, {0, 1}, false, [&](const std::vector<float>& row) { thresholds = row; });
  return thresholds;
}

void write_bit_thresholds(const std::string& path, std::span<const float> thresholds) {
  const auto dimension = static_cast<std::uint32_t>(thresholds.size());
  const auto file = dataset::create_vectors(path, {1, dimension, ElementType::f32});
  file->append(reinterpret_cast<const std::byte*>(thresholds.data()), 1);
  (void)file->finish();
}

}  // namespace farvec::indexing
