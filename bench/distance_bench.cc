// Time per distance: pairs in the nearest cache, and gathers over a table larger than it.
//   build/release/bin/distance_bench --benchmark_filter='pair/avx512/l2/.*/128'
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/memory.h"
#include "base/random.h"
#include "distance/distance.h"

namespace farvec::distance {
namespace {

struct Case {
  Metric metric;
  ElementType type;
  std::uint32_t dimension;
  Isa isa;
};

/// Values between 0 and 100 in any element type.
void fill_rows(std::byte* rows, std::size_t count, const Case& c) {
  Random random(1);
  std::vector<float> values(c.dimension);
  for (std::size_t i = 0; i < count; ++i) {
    for (float& v : values) v = static_cast<float>(random.uniform() * 100);
    narrow(values.data(), c.type, c.dimension, rows + i * c.dimension * element_bytes(c.type));
  }
}

void run_pair(benchmark::State& state, const Case& c) {
  constexpr std::size_t kRows = 8;
  const std::size_t row_bytes = c.dimension * element_bytes(c.type);
  HugeBuffer rows(kRows * row_bytes);
  fill_rows(rows.data(), kRows, c);
  const PairKernel kernel = pair_kernel(c.metric, c.type, c.dimension, c.isa);
  std::size_t i = 0;
  for ([[maybe_unused]] auto _ : state) {
    i = (i + 1) % kRows;
    benchmark::DoNotOptimize(kernel(rows.data(), rows.data() + i * row_bytes, c.dimension));
  }
}

/// Random rows of a table of 8 MiB: beyond the second-level cache, as neighbours are.
void run_many(benchmark::State& state, const Case& c) {
  constexpr std::size_t kIds = 32;
  const std::size_t row_bytes = c.dimension * element_bytes(c.type);
  const std::size_t count = (8u << 20) / row_bytes;
  HugeBuffer table(count * row_bytes);
  fill_rows(table.data(), count, c);
  const ManyKernel kernel = many_kernel(c.metric, c.type, c.dimension, c.isa);
  const VectorView rows = packed_view(table.data(), count, c.dimension, c.type);
  Random random(2);
  std::vector<NodeId> ids(kIds * 256);
  for (NodeId& id : ids) id = static_cast<NodeId>(random.below(count));
  std::vector<float> out(kIds);
  std::size_t at = 0;
  for ([[maybe_unused]] auto _ : state) {
    kernel(table.data(), rows, {ids.data() + at, kIds}, out.data());
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
    at = (at + kIds) % ids.size();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * kIds));
}

std::string name_of(const char* form, const Case& c) {
  return fmt::format("{}/{}/{}/{}/{}", form, to_string(c.isa), to_string(c.metric),
                     to_string(c.type), c.dimension);
}

void add(const char* form, void (*run)(benchmark::State&, const Case&), const Case& c) {
#ifndef __clang_analyzer__  // it takes what the library keeps in its list for leaked
  benchmark::RegisterBenchmark(name_of(form, c).c_str(), run, c);
#endif
}

void register_cases(Isa isa) {
  for (const Metric metric : {Metric::l2, Metric::inner_product}) {
    for (const ElementType type :
         {ElementType::f32, ElementType::f16, ElementType::u8, ElementType::i8}) {
      for (const std::uint32_t dimension : {96u, 100u, 128u, 784u}) {
        const Case c{metric, type, dimension, isa};
        add("pair", run_pair, c);
        add("many", run_many, c);
      }
    }
  }
}

const bool registered = [] {
  for (const Isa isa : available_isas()) register_cases(isa);
  return true;
}();

}  // namespace
}  // namespace farvec::distance
