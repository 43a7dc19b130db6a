// Any bytes are what is before the rows of a second copy, as a disk or a memory node has it; or an
// Error.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.h"
#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/layout/second_copy_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace farvec;
  const fuzz::SecondCopyInput input(std::as_bytes(std::span(data, size)));
  fuzz::expect_error_at_most([&] {
    const layout::SecondCopyForm form(input.begin(), input.manifest(), "the input");
    const layout::SecondCopyFacts& facts = form.facts();
    FARVEC_CHECK(facts.parameters.size() ==
                 layout::reduction_parameters(facts.reduction, input.manifest().dimension));
    FARVEC_CHECK(std::ranges::all_of(facts.parameters, [](float p) { return std::isfinite(p); }));
    FARVEC_CHECK(form.geometry().rows() == input.manifest().count);
    FARVEC_CHECK(form.begin().size() == input.begin().size());
  });
  return 0;
}
