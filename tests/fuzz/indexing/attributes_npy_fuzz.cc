#include "tests/fuzz/indexing/attributes_fuzz.h"

/// The first byte chooses the column that gets the file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto& columns = farvec::fuzz::attribute_schema().columns();
  const std::string& name = columns[data[0] % columns.size()].name;
  return farvec::fuzz::read_attributes(".npy", data + 1, size - 1, name + "=");
}
