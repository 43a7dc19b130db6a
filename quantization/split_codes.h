// Between the codes region of an index and the quantiser's parameters.
#pragma once

#include <vector>

#include "layout/graph/codes_region.h"
#include "quantization/rabitq.h"
#include "quantization/split_rabitq.h"

namespace farvec::quantization {

/// Adds to a header of split.code()'s parameters what its extension needs.
void describe_extension(const SplitRabitq& split, layout::CodesHeader& header);

/// The parameters of the codes in DRAM: of whole codes, or of the part of 1 bit.
RabitqParameters code_parameters(const layout::Codes& codes);
/// The same of a header that stands elsewhere, with its centroid.
RabitqParameters code_parameters(const layout::CodesHeader& header, std::vector<float> centroid);

/// The parameters of codes with an extension. SplitRabitq's constructor throws Error when they make
/// no sense.
SplitParameters split_parameters(const layout::Codes& codes);

}  // namespace farvec::quantization
