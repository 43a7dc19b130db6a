#include "indexing/rows_to_link.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/parallel.h"
#include "base/stored_form.h"
#include "distance/distance.h"

namespace farvec::indexing {
namespace {

constexpr std::size_t kRun = 1024;
/// Fewer rows are linked in no time.
constexpr std::size_t kFewRows = 1000;

// The trial: how many rows are compared with how many others, and how many nearest are looked for.
constexpr std::size_t kTried = 128;
constexpr std::size_t kOthers = 16384;
constexpr std::size_t kNearest = 10;
/// What rounded rows find of the nearest: all tried rows together, and each but a few.
constexpr double kFoundByAll = 0.85;
constexpr double kFoundByEach = 0.5;
constexpr std::size_t kMayFindLess = kTried / 32;

/// An element x becomes (x - shift) * factor, rounded.
struct Rounding {
  ElementType type;
  float shift;
  float factor;
};

struct Range {
  float least = std::numeric_limits<float>::infinity();
  float most = -std::numeric_limits<float>::infinity();
  bool has_zero_row = false;
};

Range range_of(const VectorView& rows, unsigned threads) {
  std::vector<Range> ranges(threads);
  const auto look = [&](std::size_t begin, std::size_t end, unsigned worker) {
    std::vector<float> row(rows.dimension);
    Range& range = ranges[worker];
    for (std::size_t i = begin; i < end; ++i) {
      distance::widen(rows.row(i), rows.type, rows.dimension, row.data());
      const auto [least, most] = std::ranges::minmax(row);
      range.least = std::min(range.least, least);
      range.most = std::max(range.most, most);
      range.has_zero_row = range.has_zero_row || (least == 0 && most == 0);
    }
  };
  parallel_for(rows.count, kRun, threads, look);
  Range all;
  for (const Range& range : ranges) {
    all.least = std::min(all.least, range.least);
    all.most = std::max(all.most, range.most);
    all.has_zero_row = all.has_zero_row || range.has_zero_row;
  }
  return all;
}

/// Integers of seven bits are compared faster than those of eight (distance/small_kernels.h).
constexpr float kLargest = 127;

/// Returns how rows of this range are rounded. Distances do not change where all rows are shifted,
/// but products do.
std::optional<Rounding> rounding_for(const Range& range, Metric metric) {
  Rounding rounding{ElementType::u8, range.least, kLargest / (range.most - range.least)};
  if (metric == Metric::inner_product) {
    const float largest = std::max(std::abs(range.least), std::abs(range.most));
    rounding = {ElementType::i8, 0, kLargest / largest};
  }
  if (!std::isfinite(rounding.factor) || !(rounding.factor > 0)) return std::nullopt;
  return rounding;
}

dataset::VectorSet rounded_rows(const VectorView& rows, const Rounding& rounding,
                                unsigned threads) {
  dataset::VectorSet rounded(rows.count, rows.dimension, rounding.type);
  parallel_for(rows.count, kRun, threads, [&](std::size_t begin, std::size_t end, unsigned) {
    std::vector<float> row(rows.dimension);
    for (std::size_t i = begin; i < end; ++i) {
      distance::widen(rows.row(i), rows.type, rows.dimension, row.data());
      for (float& value : row) value = (value - rounding.shift) * rounding.factor;
      distance::narrow(row.data(), rounding.type, rows.dimension, rounded.mutable_row(i));
    }
  });
  return rounded;
}

/// Rows that are spread over all, as their numbers.
std::vector<NodeId> spread_rows(std::size_t count, std::size_t most) {
  std::vector<NodeId> spread(std::min(count, most));
  for (std::size_t i = 0; i < spread.size(); ++i) {
    spread[i] = static_cast<NodeId>(i * count / spread.size());
  }
  return spread;
}

/// Compares what rounded rows find with what the rows themselves find.
class Trial {
 public:
  Trial(const VectorView& whole, Metric metric, const VectorView& rounded, Metric rounded_metric)
      : whole_(whole),
        rounded_(rounded),
        by_whole_(distance::many_kernel(metric, whole.type, whole.dimension)),
        by_rounded_(distance::many_kernel(rounded_metric, rounded.type, rounded.dimension)),
        others_(spread_rows(whole.count, kOthers)) {}

  bool passes(unsigned threads) const {
    const std::vector<NodeId> tried = spread_rows(whole_.count, kTried);
    std::vector<double> found(tried.size());
    parallel_for(tried.size(), 1, threads, [&](std::size_t begin, std::size_t end, unsigned) {
      for (std::size_t i = begin; i < end; ++i) found[i] = share_found(tried[i]);
    });
    double sum = 0;
    for (const double share : found) sum += share;
    const auto less = std::ranges::count_if(found, [](double f) { return f < kFoundByEach; });
    return sum >= kFoundByAll * static_cast<double>(found.size()) &&
           static_cast<std::size_t>(less) <= kMayFindLess;
  }

 private:
  /// Returns the share of the nearest of one row that are among the nearest of its rounded row.
  double share_found(NodeId row) const {
    std::vector<NodeId> ids = others_;
    std::erase(ids, row);
    std::vector<float> whole(ids.size());
    std::vector<float> rounded(ids.size());
    by_whole_(whole_.row(row), whole_, ids, whole.data());
    by_rounded_(rounded_.row(row), rounded_, ids, rounded.data());
    std::vector<std::size_t> order(ids.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto nearest = order.begin() + kNearest;
    const auto nearer = [](const std::vector<float>& distances) {
      return [&](std::size_t a, std::size_t b) { return distances[a] < distances[b]; };
    };
    std::nth_element(order.begin(), nearest - 1, order.end(), nearer(whole));
    const float farthest = whole[*(nearest - 1)];
    std::nth_element(order.begin(), nearest - 1, order.end(), nearer(rounded));
    const auto found =
        std::count_if(order.begin(), nearest, [&](std::size_t i) { return whole[i] <= farthest; });
    return static_cast<double>(found) / static_cast<double>(kNearest);
  }

  const VectorView whole_;
  const VectorView rounded_;
  const distance::ManyKernel by_whole_;
  const distance::ManyKernel by_rounded_;
  const std::vector<NodeId> others_;
};

bool are_floats(const VectorView& rows) {
  return rows.type == ElementType::f32 || rows.type == ElementType::f16;
}

/// Rounded unit vectors are not of length 1 any more.
Metric rounded_metric(Metric metric) {
  return stores_unit_vectors(metric) ? Metric::l2 : metric;
}

}  // namespace

RowsToLink::RowsToLink(const Source& source, unsigned threads)
    : whole_(source.rows),
      metric_(source.manifest.metric),
      rounded_(0, source.rows.dimension, ElementType::u8) {
  if (!are_floats(whole_) || whole_.count < kFewRows) return;
  const unsigned workers = resolve_threads(threads);
  const Range range = range_of(whole_, workers);
  // A zero row is as far from all unit vectors, which integers do not say.
  if (stores_unit_vectors(metric_) && range.has_zero_row) return;
  const std::optional<Rounding> rounding = rounding_for(range, metric_);
  if (!rounding) return;
  dataset::VectorSet rounded = rounded_rows(whole_, *rounding, workers);
  const Metric by = rounded_metric(metric_);
  if (!Trial(whole_, by, rounded.view(), by).passes(workers)) return;
  rounded_ = std::move(rounded);
  metric_ = by;
}

}  // namespace farvec::indexing
