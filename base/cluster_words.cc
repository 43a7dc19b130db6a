#include "base/cluster_words.h"

#include "base/error.h"

namespace farvec {

std::string_view to_string(HeadKind heads) {
  switch (heads) {
    case HeadKind::means:
      return "means";
    case HeadKind::vectors:
      return "vectors";
    case HeadKind::rounded:
      return "rounded";
  }
  return "?";
}

std::string_view to_string(ClosureRule closure) {
  switch (closure) {
    case ClosureRule::fitted:
      return "fitted";
    case ClosureRule::spann:
      return "spann";
    case ClosureRule::sptag:
      return "sptag";
  }
  return "?";
}

HeadKind parse_heads(std::string_view text) {
  for (auto heads : {HeadKind::means, HeadKind::vectors, HeadKind::rounded}) {
    if (text == to_string(heads)) return heads;
  }
  throw Error("unknown heads '{}': use means, vectors or rounded", text);
}

ClosureRule parse_closure(std::string_view text) {
  for (auto closure : {ClosureRule::fitted, ClosureRule::spann, ClosureRule::sptag}) {
    if (text == to_string(closure)) return closure;
  }
  throw Error("unknown closure '{}': use fitted, spann or sptag", text);
}

}  // namespace farvec
