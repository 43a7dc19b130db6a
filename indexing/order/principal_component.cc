#include "indexing/order/principal_component.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "base/random.h"
#include "distance/distance.h"

namespace farvec::indexing {
namespace {

/// Rows that are widened and multiplied at a time. The sums of blocks are added in the order of the
/// blocks.
constexpr std::size_t kBlockRows = 1024;
/// Blocks whose sums are held at a time.
constexpr std::size_t kBlocksAtOnce = 32;
/// Directions in addition to the one that is looked for. With more of them fewer iterations are
/// enough.
constexpr int kOversampling = 9;
constexpr int kMostIterations = 32;
/// The iterations end when the cosine of two successive components differs from 1 by no more.
constexpr double kStill = 1e-8;

using FloatMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Calls add(sum of block b) for all blocks in order; sum_block(begin, end, sum) runs in any order.
template <typename Sum, typename SumBlock, typename Add>
void sum_blocks(std::size_t count, unsigned threads, const SumBlock& sum_block, const Add& add) {
  const std::size_t blocks = (count + kBlockRows - 1) / kBlockRows;
  std::vector<Sum> sums(std::min(kBlocksAtOnce, blocks));
  for (std::size_t first = 0; first < blocks; first += kBlocksAtOnce) {
    const std::size_t size = std::min(kBlocksAtOnce, blocks - first);
    parallel_for(size, 1, threads, [&](std::size_t i, std::size_t, unsigned) {
      const std::size_t begin = (first + i) * kBlockRows;
      sum_block(begin, std::min(begin + kBlockRows, count), sums[i]);
    });
    for (std::size_t i = 0; i < size; ++i) add(sums[i]);
  }
}

/// Returns rows [begin, end) less the mean.
FloatMatrix centered(const VectorView& rows, const std::vector<float>& mean, std::size_t begin,
                     std::size_t end) {
  FloatMatrix block(end - begin, rows.dimension);
  const Eigen::Map<const Eigen::RowVectorXf> origin(mean.data(), rows.dimension);
  for (std::size_t i = begin; i < end; ++i) {
    auto row = block.row(static_cast<Eigen::Index>(i - begin));
    distance::widen(rows.row(i), rows.type, rows.dimension, row.data());
    row -= origin;
  }
  return block;
}

/// Returns the scatter of the rows about the mean, times the columns of `basis`.
Eigen::MatrixXd scatter_times(const VectorView& rows, const std::vector<float>& mean,
                              const Eigen::MatrixXd& basis, unsigned threads) {
  const FloatMatrix narrow = basis.cast<float>();
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(basis.rows(), basis.cols());
  sum_blocks<FloatMatrix>(
      rows.count, threads,
      [&](std::size_t begin, std::size_t end, FloatMatrix& sum) {
        const FloatMatrix block = centered(rows, mean, begin, end);
        const FloatMatrix along = block * narrow;
        sum.noalias() = block.transpose() * along;
      },
      [&](const FloatMatrix& sum) { result += sum.cast<double>(); });
  return result;
}

Eigen::MatrixXd random_basis(Eigen::Index dimension, Eigen::Index columns, std::uint64_t seed) {
  Random random(seed);
  Eigen::MatrixXd basis(dimension, columns);
  for (double& value : basis.reshaped()) value = random.normal();
  return basis;
}

Eigen::MatrixXd orthonormal(const Eigen::MatrixXd& columns) {
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(columns);
  return qr.householderQ() * Eigen::MatrixXd::Identity(columns.rows(), columns.cols());
}

/// Picks at most `most` rows, evenly.
VectorView every_nth(VectorView rows, std::size_t most) {
  const std::size_t step = (rows.count + most - 1) / most;
  rows.count = (rows.count + step - 1) / step;
  rows.stride_bytes *= step;
  return rows;
}

std::vector<float> to_floats(const Eigen::VectorXd& component) {
  Eigen::Index largest = 0;
  component.cwiseAbs().maxCoeff(&largest);
  const double sign = component[largest] < 0 ? -1 : 1;
  std::vector<float> result(static_cast<std::size_t>(component.size()));
  for (std::size_t d = 0; d < result.size(); ++d) {
    result[d] = static_cast<float>(sign * component[static_cast<Eigen::Index>(d)]);
  }
  return result;
}

}  // namespace

std::vector<float> mean_of(const VectorView& rows, unsigned threads) {
  Eigen::VectorXd total = Eigen::VectorXd::Zero(rows.dimension);
  sum_blocks<Eigen::VectorXd>(
      rows.count, threads,
      [&](std::size_t begin, std::size_t end, Eigen::VectorXd& sum) {
        sum.setZero(rows.dimension);
        Eigen::VectorXf row(rows.dimension);
        for (std::size_t i = begin; i < end; ++i) {
          distance::widen(rows.row(i), rows.type, rows.dimension, row.data());
          sum += row.cast<double>();
        }
      },
      [&](const Eigen::VectorXd& sum) { total += sum; });
  total /= static_cast<double>(rows.count);
  const Eigen::VectorXf mean = total.cast<float>();
  return {mean.begin(), mean.end()};
}

std::vector<float> principal_component(const VectorView& rows, const std::vector<float>& mean,
                                       const ComponentOptions& options) {
  const VectorView sample = every_nth(rows, options.sample);
  const Eigen::Index dimension = rows.dimension;
  const Eigen::Index columns = std::min<Eigen::Index>(1 + kOversampling, dimension);
  Eigen::MatrixXd basis = orthonormal(random_basis(dimension, columns, options.seed));
  Eigen::VectorXd component = Eigen::VectorXd::Unit(dimension, 0);
  for (int i = 0; i < kMostIterations; ++i) {
    const Eigen::MatrixXd image = scatter_times(sample, mean, basis, options.threads);
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> within(basis.transpose() * image);
    if (!(within.eigenvalues()[columns - 1] > 0)) break;  // the rows do not differ
    const Eigen::VectorXd next = basis * within.eigenvectors().col(columns - 1);
    const double cosine = std::abs(next.dot(component));
    component = next;
    if (i > 0 && cosine > 1 - kStill) break;
    basis = orthonormal(image);
  }
  return to_floats(component);
}

}  // namespace farvec::indexing
