#include "indexing/steering_words.h"

#include <fmt/format.h>

#include "indexing/steering_trial.h"
#include "quantization/rabitq.h"

namespace farvec::indexing {
namespace {

std::uint32_t bits_of(const layout::Manifest& manifest) {
  return manifest.is_graph() ? manifest.graph().build.code_bits
                             : manifest.cluster().geometry.code_bits;
}

/// Returns what the reader may do where the index's codes are not enough.
std::string advice(const layout::Manifest& manifest, const std::string& option) {
  if (manifest.is_cluster()) {
    return "; searches find more with a longer list, or in layout grouped, without codes";
  }
  if (manifest.graph().layout == layout::LayoutKind::inlined) {
    return "; layouts csr and packed may have the vectors in the place of codes";
  }
  if (manifest.graph().extension_bits() > 0) return "; payload vector may have more bits";
  return fmt::format("; without {} the data chooses", option);
}

/// Returns what codes the index has.
std::string outcome(const layout::Manifest& manifest, const layout::SteeringFacts& steering,
                    const std::string& option) {
  const std::uint32_t bits = bits_of(manifest);
  if (bits == quantization::kWholeVectors) {
    return fmt::format("so the vectors themselves steer searches, {} bytes each in compute DRAM",
                       manifest.vector_bytes());
  }
  const std::string has =
      bits == steering.usual_bits
          ? "and the index has them"
          : fmt::format("so codes have {} bits, which find {:.3f}", bits, steering.codes);
  return loses_by_codes(steering) ? has + advice(manifest, option) : has;
}

/// Returns what the trial searched with.
std::string trial_words(const layout::Manifest& manifest, std::uint32_t list) {
  if (manifest.is_graph()) return fmt::format("list {}", list);
  return fmt::format("the {} lowest estimates", list);
}

}  // namespace

const std::optional<layout::SteeringFacts>& steering_of(const layout::Manifest& manifest) {
  return manifest.is_graph() ? manifest.graph().build.steering : manifest.cluster().build.steering;
}

bool loses_by_codes(const layout::SteeringFacts& steering) {
  return steering.codes < steering.vectors - SteeringTrial::kTolerance;
}

std::string steering_words(const layout::Manifest& manifest, const std::string& option) {
  const std::optional<layout::SteeringFacts>& steering = steering_of(manifest);
  if (!steering) return "";
  return fmt::format(
      "codes of {} bits lead trial searches of this data astray ({}: they find {:.3f} of ten "
      "neighbours, the vectors {:.3f}), {}",
      steering->usual_bits, trial_words(manifest, steering->list), steering->usual,
      steering->vectors, outcome(manifest, *steering, option));
}

std::string code_bits_words(std::uint32_t bits) {
  if (bits == quantization::kWholeVectors) return "0 (the vectors themselves)";
  return fmt::format("{}", bits);
}

}  // namespace farvec::indexing
