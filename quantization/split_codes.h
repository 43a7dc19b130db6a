// Converts between the codes region of an index and the quantiser's parameters.
#pragma once

#include <vector>

#include "layout/graph/codes_region.h"
#include "quantization/rabitq.h"
#include "quantization/split_rabitq.h"

namespace farvec::quantization {

/// Adds the facts that the extension needs to a header of split.code()'s parameters.
void describe_extension(const SplitRabitq& split, layout::CodesHeader& header);

/// Returns the parameters of the codes in DRAM: whole codes, or their part of 1 bit.
RabitqParameters code_parameters(const layout::Codes& codes);
/// Returns the parameters of a header that is stored elsewhere, with its centroid.
RabitqParameters code_parameters(const layout::CodesHeader& header, std::vector<float> centroid);

/// Returns the parameters of codes with an extension. SplitRabitq's constructor throws Error when
/// they make no sense.
SplitParameters split_parameters(const layout::Codes& codes);

}  // namespace farvec::quantization
