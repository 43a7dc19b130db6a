#include "quantization/split_rabitq.h"

#include <utility>

#include "base/error.h"
#include "base/memory.h"
#include "quantization/quantised_query.h"

namespace farvec::quantization {
namespace {

void check_extension_bits(std::uint32_t bits) {
  if (bits >= 1 && bits <= SplitRabitq::kMostExtensionBits) return;
  throw Error("an extension has 1 to {} bits per dimension, not {}",
              SplitRabitq::kMostExtensionBits, bits);
}

SplitParameters checked(SplitParameters parameters) {
  const RabitqParameters& code = parameters.code;
  const RabitqParameters& whole = parameters.whole;
  if (code.bits != 1) throw Error("the part in DRAM has 1 bit per dimension, not {}", code.bits);
  check_extension_bits(whole.bits - 1);
  if (code.dimension != whole.dimension || code.metric != whole.metric || code.type != whole.type ||
      code.seed != whole.seed || code.centroid != whole.centroid) {
    throw Error("the two parts of a code have different parameters");
  }
  return parameters;
}

}  // namespace

SplitParameters SplitRabitq::train(VectorView data, Metric metric, const SplitTraining& training) {
  check_extension_bits(training.extension_bits);
  const RowWork work{training.threads, training.progress};
  return {Rabitq::train(data, metric, 1, training.seed, work),
          Rabitq::train(data, metric, 1 + training.extension_bits, training.seed, work)};
}

SplitRabitq::SplitRabitq(SplitParameters parameters)
    : code_(checked(parameters).code),
      whole_(std::move(parameters.whole)),
      extension_(code_.parameters().dimension, whole_.parameters().bits - 1),
      kernel_(select_single_dot(distance::active_isa())) {}

void SplitRabitq::encode_extensions(VectorView data, std::byte* out, RowWork work) const {
  whole_.encode_lowest(data, extension_, out, work);
}

void SplitRabitq::prepare(const void* query, SplitQuery& out) const {
  const Rabitq::QueryTerms terms = whole_.rotate(query, out.whole.scratch);
  const QueryKernels& kernels = whole_.rotation_.kernels();
  out.code.scratch = out.whole.scratch;
  code_.set_scales(terms, quantise_query({&code_.shape_, 1}, 1, kernels, out.code), out.code);
  const CodeShape shapes[2] = {code_.shape_, extension_};
  whole_.set_scales(terms, quantise_query(shapes, whole_.shape_.bits, kernels, out.whole),
                    out.whole);
}

float SplitRabitq::product(const RabitqQuery& query, const std::byte* code,
                           const std::byte* extension) const {
  const bool two_levels = !query.fine.empty();
  SingleDot dot{reinterpret_cast<const std::uint8_t*>(code), query.coarse.front().values,
                two_levels ? query.fine.front().values : nullptr};
  const DotPair top = kernel_(code_.shape_, dot);
  const std::size_t offset = code_.shape_.query_bytes();
  dot = {reinterpret_cast<const std::uint8_t*>(extension), dot.coarse + offset,
         two_levels ? dot.fine + offset : nullptr};
  const DotPair low = kernel_(extension_, dot);
  const std::int32_t weight = 1 << extension_.bits;
  const float coarse = coarse_product(query, top.coarse * weight + low.coarse);
  return two_levels ? fine_product(query, coarse, top.fine * weight + low.fine) : coarse;
}

float SplitRabitq::refine(const SplitQuery& query, const std::byte* code,
                          const std::byte* extension) const {
  return estimate_one(query.whole, product(query.whole, code, extension),
                      load_unaligned<std::uint32_t>(extension + extension_.code_bytes));
}

float SplitRabitq::refine_with_error(const SplitQuery& query, const std::byte* code,
                                     const std::byte* extension, float& error) const {
  const float value = product(query.whole, code, extension);
  const auto factors = load_unaligned<std::uint32_t>(extension + extension_.code_bytes);
  error = error_one(query.whole, value, factors);
  return estimate_one(query.whole, value, factors);
}

}  // namespace farvec::quantization
