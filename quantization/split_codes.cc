#include "quantization/split_codes.h"

#include <utility>

namespace farvec::quantization {

void describe_extension(const SplitRabitq& split, layout::CodesHeader& header) {
  const RabitqParameters& whole = split.whole_parameters();
  header.extension_bits = static_cast<std::uint8_t>(split.extension_bits());
  header.whole_rescale_min = whole.rescale_min;
  header.whole_rescale_max = whole.rescale_max;
  header.whole_error_max = whole.error_max;
}

RabitqParameters code_parameters(const layout::Codes& codes) {
  return code_parameters(codes.header, codes.centroid);
}

RabitqParameters code_parameters(const layout::CodesHeader& h, std::vector<float> centroid) {
  return {h.dimension, h.bits,    h.metric,      h.type,        h.seed,     std::move(centroid),
          h.add_min,   h.add_max, h.rescale_min, h.rescale_max, h.error_max};
}

SplitParameters split_parameters(const layout::Codes& codes) {
  const layout::CodesHeader& header = codes.header;
  SplitParameters parameters{code_parameters(codes), code_parameters(codes)};
  RabitqParameters& whole = parameters.whole;
  whole.bits = header.bits + header.extension_bits;
  whole.rescale_min = header.whole_rescale_min;
  whole.rescale_max = header.whole_rescale_max;
  whole.error_max = header.whole_error_max;
  return parameters;
}

}  // namespace farvec::quantization
