#include "quantization/kernels/kernel.h"

namespace farvec::quantization {

DotKernel select_dot_kernel(const CodeShape& shape, distance::Isa) {
  return portable_dot_kernel(shape);
}

}  // namespace farvec::quantization
