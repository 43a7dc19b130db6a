#include "distance/isa.h"

#include <cstdlib>
#include <string>

#include "base/error.h"
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace farvec::distance {
namespace {

#if defined(__x86_64__)

struct CpuidLeaf {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

CpuidLeaf cpuid(unsigned leaf) {
  CpuidLeaf r;
  if (__get_cpuid_count(leaf, 0, &r.eax, &r.ebx, &r.ecx, &r.edx) == 0) return {};
  return r;
}

constexpr bool all_set(std::uint64_t value, std::uint64_t mask) {
  return (value & mask) == mask;
}

/// The register sets that the operating system saves on a context switch (XCR0).
std::uint64_t saved_registers(const CpuidLeaf& leaf1) {
  if (!all_set(leaf1.ecx, bit_OSXSAVE)) return 0;
  std::uint32_t low, high;
  asm("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (std::uint64_t{high} << 32) | low;
}

CpuFeatures detect() {
  constexpr std::uint64_t kSavedAvx = 0x06;     // SSE and AVX state
  constexpr std::uint64_t kSavedAvx512 = 0xe6;  // and mask registers, upper halves, zmm16..31
  const CpuidLeaf leaf1 = cpuid(1);
  const CpuidLeaf leaf7 = cpuid(7);
  const std::uint64_t saved = saved_registers(leaf1);
  CpuFeatures f;
  f.avx2 = all_set(saved, kSavedAvx) && all_set(leaf1.ecx, bit_FMA | bit_F16C) &&
           all_set(leaf7.ebx, bit_AVX2);
  f.avx512 = f.avx2 && all_set(saved, kSavedAvx512) &&
             all_set(leaf7.ebx, bit_AVX512F | bit_AVX512BW | bit_AVX512VL | bit_AVX512DQ);
  f.avx512_vnni = f.avx512 && all_set(leaf7.ecx, bit_AVX512VNNI);
  f.avx512_vpopcntdq = f.avx512 && all_set(leaf7.ecx, bit_AVX512VPOPCNTDQ);
  return f;
}

#else

CpuFeatures detect() {
  CpuFeatures f;
#if defined(__aarch64__)
  f.neon = true;  // every aarch64 has it
#endif
  return f;
}

#endif

std::string names(const std::vector<Isa>& isas) {
  std::string text;
  for (const Isa isa : isas) text += (text.empty() ? "" : ", ") + std::string(to_string(isa));
  return text;
}

}  // namespace

std::string_view to_string(Isa isa) {
  switch (isa) {
    case Isa::neon:
      return "neon";
    case Isa::avx2:
      return "avx2";
    case Isa::avx512:
      return "avx512";
    default:
      return "portable";
  }
}

const CpuFeatures& cpu_features() {
  static const CpuFeatures features = detect();
  return features;
}

bool is_available(Isa isa) {
  switch (isa) {
    case Isa::neon:
      return cpu_features().neon;
    case Isa::avx2:
      return cpu_features().avx2;
    case Isa::avx512:
      return cpu_features().avx512;
    default:
      return true;
  }
}

std::vector<Isa> available_isas() {
  std::vector<Isa> isas;
  for (const Isa isa : {Isa::portable, Isa::neon, Isa::avx2, Isa::avx512}) {
    if (is_available(isa)) isas.push_back(isa);
  }
  return isas;
}

Isa choose_isa(std::string_view name) {
  const std::vector<Isa> isas = available_isas();
  if (name.empty()) return isas.back();
  for (const Isa isa : {Isa::portable, Isa::neon, Isa::avx2, Isa::avx512}) {
    if (name != to_string(isa)) continue;
    if (is_available(isa)) return isa;
    throw Error("FARVEC_ISA={} is not available on this processor; it has {}", name, names(isas));
  }
  throw Error("FARVEC_ISA={} is not an instruction set; this processor has {}", name, names(isas));
}

Isa active_isa() {
  static const Isa isa = [] {
    const char* forced = std::getenv("FARVEC_ISA");
    return choose_isa(forced == nullptr ? "" : forced);
  }();
  return isa;
}

}  // namespace farvec::distance
