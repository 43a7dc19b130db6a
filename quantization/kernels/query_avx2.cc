#include "quantization/kernels/query_vectors.h"

namespace farvec::quantization {

const QueryKernels kAvx2QueryKernels = kThisFilesQueryKernels;

}  // namespace farvec::quantization
