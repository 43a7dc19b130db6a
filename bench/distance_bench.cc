// Time per distance: pairs in the nearest cache, gathers over a table larger than it and, for bits,
// over one larger than any cache, at random and in order. Bytes are those of rows. `avx512-` are
// the kernels for bits of AVX-512 processors without VPOPCNTDQ.
//   build/release/bin/distance_bench --benchmark_filter='pair/avx512/l2/.*/128'
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "base/memory.h"
#include "base/random.h"
#include "distance/distance.h"
#include "distance/kernels/kernels.h"

namespace farvec::distance {
namespace {

constexpr std::size_t kIds = 32;

struct Case {
  Metric metric;
  ElementType type;
  std::uint32_t dimension;
  std::string isa;
  PairKernel pair;
  ManyKernel many;

  std::size_t row_bytes() const { return packed_bytes(type, dimension); }
};

void fill_words(HugeBuffer& rows) {
  Random random(1);
  for (std::size_t i = 0; i + 8 <= rows.size(); i += 8) {
    store_unaligned(rows.data() + i, random.next());
  }
}

/// Values between 0 and 100 in any element type, and any bits.
void fill_rows(HugeBuffer& rows, std::size_t count, const Case& c) {
  if (c.type == ElementType::b1) return fill_words(rows);
  Random random(1);
  std::vector<float> values(c.dimension);
  for (std::size_t i = 0; i < count; ++i) {
    for (float& v : values) v = static_cast<float>(random.uniform() * 100);
    narrow(values.data(), c.type, c.dimension, rows.data() + i * c.row_bytes());
  }
}

void run_pair(benchmark::State& state, const Case& c) {
  constexpr std::size_t kRows = 8;
  HugeBuffer rows(kRows * c.row_bytes());
  fill_rows(rows, kRows, c);
  std::size_t i = 0;
  for ([[maybe_unused]] auto _ : state) {
    i = (i + 1) % kRows;
    benchmark::DoNotOptimize(c.pair(rows.data(), rows.data() + i * c.row_bytes(), c.dimension));
  }
}

void set_rates(benchmark::State& state, const Case& c) {
  const auto distances = static_cast<std::int64_t>(state.iterations() * kIds);
  state.SetItemsProcessed(distances);
  state.SetBytesProcessed(distances * static_cast<std::int64_t>(c.row_bytes()));
}

/// Computes distances to rows that ids choose.
void run_gather(benchmark::State& state, const Case& c, const VectorView& rows,
                const std::vector<NodeId>& ids) {
  std::vector<float> out(kIds);
  std::size_t at = 0;
  for ([[maybe_unused]] auto _ : state) {
    c.many(rows.data, rows, {ids.data() + at, kIds}, out.data());
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
    at = (at + kIds) % ids.size();
  }
  set_rates(state, c);
}

std::vector<NodeId> random_ids(std::size_t count, std::size_t rows) {
  Random random(2);
  std::vector<NodeId> ids(count);
  for (NodeId& id : ids) id = static_cast<NodeId>(random.below(rows));
  return ids;
}

/// Random rows of a table of 8 MiB: beyond the second-level cache, as neighbours are.
void run_many(benchmark::State& state, const Case& c) {
  const std::size_t count = (8u << 20) / c.row_bytes();
  HugeBuffer table(count * c.row_bytes());
  fill_rows(table, count, c);
  run_gather(state, c, packed_view(table.data(), count, c.dimension, c.type),
             random_ids(kIds * 256, count));
}

/// Bits of any dimension, more than any cache has.
VectorView large_table(const Case& c) {
  static const HugeBuffer table = [] {
    HugeBuffer memory(std::size_t{4} << 30);
    fill_words(memory);
    return memory;
  }();
  return packed_view(table.data(), table.size() / c.row_bytes(), c.dimension, c.type);
}

/// A measurement is over before the rows come again.
void run_random(benchmark::State& state, const Case& c) {
  const VectorView rows = large_table(c);
  run_gather(state, c, rows, random_ids(kIds << 16, rows.count));
}

void run_scan(benchmark::State& state, const Case& c) {
  const VectorView rows = large_table(c);
  const std::vector<std::byte> query(rows.data, rows.data + c.row_bytes());
  std::vector<NodeId> ids(kIds);
  std::iota(ids.begin(), ids.end(), 0u);
  std::vector<float> out(kIds);
  std::size_t first = 0;
  for ([[maybe_unused]] auto _ : state) {
    c.many(query.data(), rows.part(first, kIds), ids, out.data());
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
    first = first + 2 * kIds <= rows.count ? first + kIds : 0;
  }
  set_rates(state, c);
}

void add(const char* form, void (*run)(benchmark::State&, const Case&), const Case& c) {
#ifndef __clang_analyzer__  // it takes what the library keeps in its list for leaked
  const std::string name = fmt::format("{}/{}/{}/{}/{}", form, c.isa, to_string(c.metric),
                                       to_string(c.type), c.dimension);
  benchmark::RegisterBenchmark(name.c_str(), run, c);
#endif
}

Case make_case(Metric metric, ElementType type, std::uint32_t dimension, Isa isa) {
  return {metric,
          type,
          dimension,
          std::string(to_string(isa)),
          pair_kernel(metric, type, dimension, isa),
          many_kernel(metric, type, dimension, isa)};
}

void register_numbers(Isa isa) {
  for (const Metric metric : {Metric::l2, Metric::inner_product}) {
    for (const ElementType type :
         {ElementType::f32, ElementType::f16, ElementType::u8, ElementType::i8}) {
      for (const std::uint32_t dimension : {96u, 100u, 128u, 784u}) {
        const Case c = make_case(metric, type, dimension, isa);
        add("pair", run_pair, c);
        add("many", run_many, c);
      }
    }
  }
}

void add_bits(const Case& c) {
  add("pair", run_pair, c);
  add("many", run_many, c);
  add("random", run_random, c);
  add("scan", run_scan, c);
}

void register_bits(Isa isa) {
  for (const Metric metric : {Metric::hamming, Metric::jaccard}) {
    for (const std::uint32_t dimension :
         {128u, 256u, 384u, 512u, 768u, 1024u, 1536u, 3072u, 16384u, 65536u}) {
      const Case c = make_case(metric, ElementType::b1, dimension, isa);
      add_bits(c);
#if defined(__x86_64__)
      if (isa != Isa::avx512) continue;
      kernels::KernelTable table;
      kernels::use_avx512_bits(dimension, table);
      const auto m = static_cast<std::size_t>(metric), t = static_cast<std::size_t>(c.type);
      add_bits({metric, c.type, dimension, "avx512-", table.pair[m][t], table.many[m][t]});
#endif
    }
  }
}

const bool registered = [] {
  for (const Isa isa : available_isas()) {
    register_numbers(isa);
    register_bits(isa);
  }
  return true;
}();

}  // namespace
}  // namespace farvec::distance
