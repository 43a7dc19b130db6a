#include "quantization/mean.h"

#include <algorithm>

#include "base/parallel.h"
#include "distance/distance.h"

namespace farvec::quantization {

/// Adds up blocks of rows whose borders depend on the row count only, so that the sum does not
/// depend on the threads.
std::vector<float> mean_row(VectorView data, unsigned threads) {
  const std::size_t rows = std::max<std::size_t>(4096, (data.count + 1023) / 1024);
  const std::size_t blocks = (data.count + rows - 1) / rows, dimension = data.dimension;
  std::vector<double> sums(blocks * dimension);
  parallel_for(blocks, 1, threads, [&](std::size_t block, std::size_t, unsigned) {
    std::vector<float> row(dimension);
    double* sum = sums.data() + block * dimension;
    for (std::size_t i = block * rows; i < std::min(data.count, (block + 1) * rows); ++i) {
      distance::widen(data.row(i), data.type, data.dimension, row.data());
      for (std::size_t j = 0; j < dimension; ++j) sum[j] += row[j];
    }
  });
  std::vector<float> result(dimension);
  for (std::size_t j = 0; j < dimension; ++j) {
    double total = 0;
    for (std::size_t block = 0; block < blocks; ++block) total += sums[block * dimension + j];
    result[j] = static_cast<float>(total / static_cast<double>(data.count));
  }
  return result;
}

}  // namespace farvec::quantization
