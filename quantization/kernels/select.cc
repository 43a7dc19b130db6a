#include "distance/isa.h"
#include "quantization/kernels/kernel.h"
#include "quantization/kernels/query.h"
#include "quantization/kernels/scan.h"
#include "quantization/kernels/single.h"

namespace farvec::quantization {

DotKernel select_dot_kernel(const CodeShape& shape, distance::Isa isa) {
#if defined(__x86_64__)
  const bool vnni = distance::cpu_features().avx512_vnni;
  if (isa == distance::Isa::avx512 && vnni) return avx512_dot_kernel(shape);
  if (isa == distance::Isa::avx512 || isa == distance::Isa::avx2) return avx2_dot_kernel(shape);
#elif defined(__aarch64__)
  if (isa == distance::Isa::neon) return neon_dot_kernel(shape);
#endif
  return portable_dot_kernel(shape);
}

SingleDotKernel select_single_dot([[maybe_unused]] distance::Isa isa) {
#if defined(__x86_64__)
  const bool vnni = distance::cpu_features().avx512_vnni;
  if (isa == distance::Isa::avx512 && vnni) return avx512_single_dot;
  if (isa == distance::Isa::avx512 || isa == distance::Isa::avx2) return avx2_single_dot;
#endif
  return portable_single_dot;
}

ScanKernel select_scan([[maybe_unused]] distance::Isa isa) {
#if defined(__x86_64__)
  if (isa == distance::Isa::avx512) return avx512_scan;
  if (isa == distance::Isa::avx2) return avx2_scan;
#elif defined(__aarch64__)
  if (isa == distance::Isa::neon) return neon_scan;
#endif
  return portable_scan;
}

const QueryKernels& select_query_kernels([[maybe_unused]] distance::Isa isa) {
#if defined(__x86_64__)
  if (isa == distance::Isa::avx512) return kAvx512QueryKernels;
  if (isa == distance::Isa::avx2) return kAvx2QueryKernels;
#endif
  // Arm's own vectors are in its baseline, so the portable file uses them there.
  return kPortableQueryKernels;
}

}  // namespace farvec::quantization
