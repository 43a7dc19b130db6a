#include "layout/graph/codes_region.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/error.h"

namespace farvec::layout {
namespace {

void require_header(const CodesHeader& header, const CodesShape& shape, std::string_view source) {
  const auto require = [&](bool good, const char* what) {
    if (!good) throw Error("{}: {}; rebuild the index", source, what);
  };
  require(header.dimension == shape.dimension &&
              (shape.starts_alone ? header.count >= 1 && header.count <= shape.count
                                  : header.count == shape.count),
          "the codes are of another shape than the manifest says");
  require(header.metric == shape.metric && header.type == shape.type,
          "the codes are of another metric or type than the manifest says");
  require(header.bits == shape.bits, "the codes have another width than the manifest");
  require(header.extension_bits == shape.extension_bits,
          "the codes have another extension than the manifest");
  require(header.record_bytes >= 1 && header.record_bytes <= kMaxVectorBytes,
          "the code records have an impossible size");
}

}  // namespace

void Codes::require_records(std::uint64_t count, std::size_t record_bytes) const {
  if (header.count == count && header.record_bytes == record_bytes) return;
  throw Error("the codes are {} records of {} bytes, but {} of {} are needed: rebuild the index",
              header.count, header.record_bytes, count, record_bytes);
}

std::vector<std::byte> encode_codes_preamble(const CodesView& codes) {
  FARVEC_CHECK(codes.centroid.size() == codes.header.dimension);
  std::vector<std::byte> bytes(codes.header.records_offset());
  std::memcpy(bytes.data(), &codes.header, sizeof(CodesHeader));
  std::memcpy(bytes.data() + sizeof(CodesHeader), codes.centroid.data(),
              codes.centroid.size_bytes());
  return bytes;
}

Codes parse_codes(HugeBuffer region, const CodesShape& shape, std::string_view source) {
  Codes codes;
  codes.region = std::move(region);
  if (codes.region.size() < kRegionHeaderBytes + sizeof(CodesHeader)) {
    throw Error("{}: {} bytes cannot hold the codes of an index", source, codes.region.size());
  }
  const std::byte* const payload = codes.region.data() + kRegionHeaderBytes;
  std::memcpy(&codes.header, payload, sizeof(CodesHeader));
  require_header(codes.header, shape, source);
  if (codes.region.size() != kRegionHeaderBytes + codes.header.payload_bytes()) {
    throw Error("{}: {} codes of {} bytes do not make a region of {}; rebuild the index", source,
                codes.header.count, codes.header.record_bytes, codes.region.size());
  }
  codes.centroid.resize(codes.header.dimension);
  std::memcpy(codes.centroid.data(), payload + sizeof(CodesHeader),
              codes.centroid.size() * sizeof(float));
  if (!std::all_of(codes.centroid.begin(), codes.centroid.end(),
                   [](float x) { return std::isfinite(x); })) {
    throw Error("{}: the centroid is not finite; rebuild the index", source);
  }
  return codes;
}

}  // namespace farvec::layout
