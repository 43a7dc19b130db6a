// This file writes into the manifest why an index has its codes, and reads it back.
#include "layout/index/description_json.h"

namespace farvec::layout {

void add_steering(const std::optional<SteeringFacts>& steering, nlohmann::ordered_json& build) {
  if (!steering) return;
  build["steering"] = {{"usual_bits", steering->usual_bits},
                       {"list", steering->list},
                       {"recall_by_usual", steering->usual},
                       {"recall_by_codes", steering->codes},
                       {"recall_by_vectors", steering->vectors}};
}

std::optional<SteeringFacts> read_steering(const JsonFields& build) {
  if (!build.has("steering")) return std::nullopt;
  const JsonFields fields = build.object("steering");
  return SteeringFacts{.usual_bits = fields.integer32("usual_bits", 1, 8),
                       .list = fields.integer32("list", 1, 10'000),
                       .usual = fields.number("recall_by_usual", 0, 1),
                       .codes = fields.number("recall_by_codes", 0, 1),
                       .vectors = fields.number("recall_by_vectors", 0, 1)};
}

}  // namespace farvec::layout
