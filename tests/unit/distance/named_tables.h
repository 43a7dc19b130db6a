// The tables of kernels of this processor, by name: those in use, and those of lesser processors.
#pragma once

#include <string>
#include <vector>

#include "distance/isa.h"
#include "distance/kernels/kernels.h"

namespace farvec::distance {

struct NamedTable {
  std::string name;
  kernels::KernelTable table;
};

/// The tables in use, and the AVX-512 one of a processor without VNNI and VPOPCNTDQ.
inline std::vector<NamedTable> tables(std::uint32_t dimension) {
  std::vector<NamedTable> all;
  for (const Isa isa : available_isas()) {
    all.push_back({std::string(to_string(isa)), kernels::table_for(isa, dimension)});
  }
#if defined(__x86_64__)
  if (cpu_features().avx512) {
    all.push_back({"avx512-", kernels::avx512_table(dimension)});
    kernels::use_avx512_bits(dimension, all.back().table);
  }
#endif
  return all;
}

inline PairKernel pair_of(const kernels::KernelTable& table, Metric metric, ElementType type) {
  return table.pair[static_cast<std::size_t>(metric)][static_cast<std::size_t>(type)];
}

inline ManyKernel many_of(const kernels::KernelTable& table, Metric metric, ElementType type) {
  return table.many[static_cast<std::size_t>(metric)][static_cast<std::size_t>(type)];
}

}  // namespace farvec::distance
