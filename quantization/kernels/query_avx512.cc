#include "quantization/kernels/query_vectors.h"

namespace farvec::quantization {

const QueryKernels kAvx512QueryKernels = kThisFilesQueryKernels;

}  // namespace farvec::quantization
