#include "quantization/kernels/query_vectors.h"

namespace farvec::quantization {

const QueryKernels kPortableQueryKernels = kThisFilesQueryKernels;

}  // namespace farvec::quantization
