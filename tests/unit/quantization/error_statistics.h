// Errors of RaBitQ's estimates against exact distances, over many rotations.
#pragma once

#include <cmath>
#include <numeric>
#include <vector>

#include "quantization/rabitq.h"
#include "tests/unit/quantization/sample_data.h"

namespace farvec::quantization {

struct Experiment {
  std::vector<float> rows, queries;
  std::uint32_t dimension = 0;
  Metric metric = Metric::l2;
  std::uint32_t bits = 1;
  int seeds = 10;
};

/// In units of the mean size of the exact distances.
struct ErrorStatistics {
  double mean = 0;
  double standard_error = 0;  ///< of the mean, from its scatter over the rotations
  double deviation = 0;       ///< root mean square
  double within = 0;          ///< share of estimates inside their bound
};

class ErrorSums {
 public:
  void add_rotation(const Experiment& e, std::uint64_t seed) {
    const std::size_t count = e.rows.size() / e.dimension;
    const VectorView data = packed_view(e.rows.data(), count, e.dimension, ElementType::f32);
    const Rabitq rabitq(Rabitq::train(data, e.metric, e.bits, seed, 1));
    std::vector<std::byte> records(count * rabitq.record_bytes());
    rabitq.encode(data, records.data(), 1);
    std::vector<NodeId> ids(count);
    std::iota(ids.begin(), ids.end(), NodeId{0});
    std::vector<float> estimates(count), bounds(count);
    RabitqQuery prepared;
    const double before = sum_;
    for (std::size_t q = 0; q < e.queries.size(); q += e.dimension) {
      rabitq.prepare(e.queries.data() + q, prepared);
      rabitq.estimate_with_error(prepared, records.data(), ids.data(), count, estimates.data(),
                                 bounds.data());
      for (std::size_t i = 0; i < count; ++i) {
        const double exact = exact_distance(e.metric, e.rows.data() + i * e.dimension,
                                            e.queries.data() + q, e.dimension);
        add(exact, estimates[i], bounds[i]);
      }
    }
    squared_means_ += std::pow(sum_ - before, 2);
  }

  ErrorStatistics statistics() const {
    const double scale = size_ / count_;
    return {sum_ / count_ / scale, std::sqrt(squared_means_) / count_ / scale,
            std::sqrt(square_ / count_) / scale, inside_ / count_};
  }

 private:
  void add(double exact, double estimate, double bound) {
    const double error = estimate - exact;
    sum_ += error;
    square_ += error * error;
    size_ += std::fabs(exact);
    // The exact distance of f32 rows is itself only known to so many digits.
    inside_ += std::fabs(error) <= bound + 1e-5 * std::fabs(exact);
    ++count_;
  }

  double sum_ = 0, square_ = 0, size_ = 0, inside_ = 0, count_ = 0, squared_means_ = 0;
};

inline ErrorStatistics measure(const Experiment& experiment) {
  ErrorSums sums;
  for (int seed = 0; seed < experiment.seeds; ++seed) sums.add_rotation(experiment, 100 + seed);
  return sums.statistics();
}

}  // namespace farvec::quantization
