#include "base/types.h"

#include "base/error.h"

namespace farvec {

std::string_view to_string(ElementType type) {
  switch (type) {
    case ElementType::f32:
      return "f32";
    case ElementType::f16:
      return "f16";
    case ElementType::u8:
      return "u8";
    case ElementType::i8:
      return "i8";
    case ElementType::b1:
      return "b1";
  }
  return "?";
}

std::string_view to_string(Metric metric) {
  switch (metric) {
    case Metric::l2:
      return "l2";
    case Metric::inner_product:
      return "ip";
    case Metric::cosine:
      return "cosine";
    case Metric::hamming:
      return "hamming";
    case Metric::jaccard:
      return "jaccard";
  }
  return "?";
}

ElementType parse_element_type(std::string_view text) {
  for (const ElementType type : kElementTypes) {
    if (text == to_string(type)) return type;
  }
  throw Error("unknown element type '{}': use f32, f16, u8, i8 or b1", text);
}

Metric parse_metric(std::string_view text) {
  for (const Metric metric : kMetrics) {
    if (text == to_string(metric)) return metric;
  }
  throw Error("unknown metric '{}': use l2, ip, cosine, hamming or jaccard", text);
}

}  // namespace farvec
