// Says which instruction sets this processor has, and which one is in use.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace farvec::distance {

enum class Isa : std::uint8_t { portable, neon, avx2, avx512 };

std::string_view to_string(Isa isa);

/// CpuFeatures are the instruction groups that this processor has and whose registers the operating
/// system saves.
struct CpuFeatures {
  bool neon = false;
  bool avx2 = false;              ///< AVX2, FMA and F16C
  bool avx512 = false;            ///< AVX-512 F, BW, VL and DQ, and all of `avx2`
  bool avx512_vnni = false;       ///< only together with `avx512`
  bool avx512_vpopcntdq = false;  ///< only together with `avx512`
};

/// Says what the processor can do. It is read from the processor once, then constant.
const CpuFeatures& cpu_features();

/// Says whether kernels for `isa` were compiled in and can run here.
bool is_available(Isa isa);

/// Returns all available instruction sets, slowest first; never empty.
std::vector<Isa> available_isas();

/// Returns the available instruction set with the name `name` (portable, neon, avx2, avx512), or
/// the best one for an empty name. Throws Error on an unknown or unavailable name.
Isa choose_isa(std::string_view name);

/// Calls choose_isa() with the environment variable FARVEC_ISA, which is read on the first call.
Isa active_isa();

}  // namespace farvec::distance
