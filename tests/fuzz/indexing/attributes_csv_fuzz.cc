#include "tests/fuzz/indexing/attributes_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return farvec::fuzz::read_attributes(".csv", data, size);
}
