#include "tests/fuzz/dataset/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return farvec::fuzz::load_vectors(".hdf5", data, size);
}
