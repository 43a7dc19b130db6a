// Nanoseconds per estimate, by dimension, bits and order of the ids.
#include <benchmark/benchmark.h>

#include <vector>

#include "base/memory.h"
#include "base/random.h"
#include "quantization/rabitq.h"

namespace farvec::quantization {
namespace {

constexpr std::size_t kBatch = 32;  ///< as many neighbours as one hop has

enum Order { sequential, random_cached, random_prefetched };

std::vector<float> normal_rows(std::size_t count, std::uint32_t dimension) {
  Random random(1);
  std::vector<float> rows(count * dimension);
  for (float& x : rows) x = static_cast<float>(random.normal());
  return rows;
}

RabitqParameters trained(std::uint32_t dimension, std::uint32_t bits) {
  const auto rows = normal_rows(256, dimension);
  return Rabitq::train(packed_view(rows.data(), 256, dimension, ElementType::f32), Metric::l2, bits,
                       1, 1);
}

/// random_prefetched asks for one batch ahead, as a search does between its fibers.
void estimate(benchmark::State& state) {
  const auto dimension = static_cast<std::uint32_t>(state.range(0));
  const auto order = static_cast<Order>(state.range(2));
  const Rabitq rabitq(trained(dimension, static_cast<std::uint32_t>(state.range(1))));
  const std::size_t count = order == random_cached ? 4096 : 2'000'000;
  const HugeBuffer records(count * rabitq.record_bytes());
  RabitqQuery query;
  rabitq.prepare(normal_rows(1, dimension).data(), query);
  Random random(2);
  std::vector<NodeId> ids(1 << 18);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ids[i] = static_cast<NodeId>(order == sequential ? i : random.below(count));
  }
  float out[kBatch];
  std::size_t at = 0;
  for ([[maybe_unused]] auto _ : state) {
    const std::size_t next = (at + kBatch) % ids.size();
    if (order == random_prefetched) {
      for (std::size_t i = 0; i < kBatch; ++i)
        rabitq.prefetch_record(records.data(), ids[next + i]);
    }
    rabitq.estimate(query, records.data(), ids.data() + at, kBatch, out);
    benchmark::DoNotOptimize(out);
    at = next;
  }
  state.counters["each"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * kBatch,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["record_bytes"] = static_cast<double>(rabitq.record_bytes());
}
BENCHMARK(estimate)
    ->ArgNames({"dimension", "bits", "order"})
    ->ArgsProduct({{96, 100, 128, 784},
                   {1, 2, 3, 4, 8},
                   {sequential, random_cached, random_prefetched}});

void prepare(benchmark::State& state) {
  const auto dimension = static_cast<std::uint32_t>(state.range(0));
  const Rabitq rabitq(trained(dimension, 2));
  const auto row = normal_rows(1, dimension);
  RabitqQuery query;
  for ([[maybe_unused]] auto _ : state) {
    rabitq.prepare(row.data(), query);
    benchmark::DoNotOptimize(query);
  }
}
BENCHMARK(prepare)->ArgName("dimension")->Arg(100)->Arg(128)->Arg(784);

void encode(benchmark::State& state) {
  const auto dimension = static_cast<std::uint32_t>(state.range(0));
  const Rabitq rabitq(trained(dimension, static_cast<std::uint32_t>(state.range(1))));
  const auto rows = normal_rows(256, dimension);
  std::vector<std::byte> records(256 * rabitq.record_bytes());
  for ([[maybe_unused]] auto _ : state) {
    rabitq.encode(packed_view(rows.data(), 256, dimension, ElementType::f32), records.data(), 1);
    benchmark::DoNotOptimize(records.data());
  }
  state.counters["each"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * 256,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(encode)->ArgNames({"dimension", "bits"})->ArgsProduct({{100, 128, 784}, {1, 2, 4, 8}});

}  // namespace
}  // namespace farvec::quantization
