#include "transport/tier.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/error.h"

namespace farvec::transport {

namespace {

constexpr std::array<std::pair<std::string_view, TierKind>, 8> kKinds = {{
    {"dram", TierKind::dram},
    {"shm", TierKind::shm},
    {"file", TierKind::file},
    {"devdax", TierKind::devdax},
    {"emulated", TierKind::emulated},
    {"verbs", TierKind::verbs},
    {"fabric", TierKind::fabric},
    {"ssd", TierKind::ssd},
}};

/// Whether the word may stand with, or without, something behind a colon.
bool takes(TierKind kind, bool has_rest) {
  if (kind == TierKind::verbs || kind == TierKind::ssd) return true;
  return has_rest == (kind != TierKind::dram && kind != TierKind::shm);
}

/// Whether the word before the colon is a tier's.
bool begins_tier(std::string_view text) {
  const std::string_view word = text.substr(0, text.find(':'));
  return std::any_of(kKinds.begin(), kKinds.end(),
                     [&](const auto& kind) { return kind.first == word; });
}

/// PROVIDER or PROVIDER:ADDRESS; an address may hold colons. False when one is empty.
bool parse_fabric(std::string_view rest, TierSpec& tier) {
  const std::size_t colon = rest.find(':');
  tier.provider = rest.substr(0, colon);
  if (colon == std::string_view::npos) return !tier.provider.empty();
  tier.path = rest.substr(colon + 1);
  return !tier.provider.empty() && !tier.path.empty();
}

/// Takes ",device=NAME", ",gid=INDEX" and ",reads=BUDGET" off the end. Throws Error for another
/// option, or the same one again.
std::string_view take_device(std::string_view text, VerbsDevice& device) {
  for (std::size_t comma = 0; (comma = text.rfind(',')) != std::string_view::npos;) {
    const std::string_view part = text.substr(comma + 1);
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos || part.find(':') != std::string_view::npos) break;
    const std::string_view key = part.substr(0, equals);
    const std::string_view value = part.substr(equals + 1);
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(value.begin(), value.end(), number);
    const bool is_number = error == std::errc() && end == value.end();
    if (key == "device" && !value.empty() && device.name.empty()) {
      device.name = value;
    } else if (key == "gid" && is_number && !device.gid_index) {
      device.gid_index = number;
    } else if (key == "reads" && is_number && number > 0 && device.read_budget == 0) {
      device.read_budget = number;
    } else {
      throw Error("'{}': verbs takes device=NAME, gid=INDEX and reads=BUDGET, each once", part);
    }
    text = text.substr(0, comma);
  }
  return text;
}

}  // namespace

std::uint32_t bytes_per_request(const TierSpec& tier) {
  // Posting and polling one read takes a core tens of nanoseconds, on sockets microseconds.
  constexpr std::uint32_t kVerbs = 1024;
  constexpr std::uint32_t kFabric = 4096;
  // A disk that serves 150,000 requests and 2.5 GB a second.
  constexpr std::uint32_t kDisk = 16384;
  switch (tier.kind) {
    case TierKind::emulated:
      return static_cast<std::uint32_t>(tier.model.bandwidth_gbps * 1e3 /
                                        tier.model.requests_per_us);
    case TierKind::verbs:
      return kVerbs;
    case TierKind::fabric:
      return kFabric;
    case TierKind::ssd:
      return kDisk;
    default:
      return 0;
  }
}

bool is_remote(TierKind kind) {
  return kind == TierKind::verbs || kind == TierKind::fabric;
}

bool reached_by_loads(const TierSpec& tier) {
  if (tier.kind == TierKind::emulated) return tier.model.reached_by_loads();
  return !is_remote(tier.kind) && tier.kind != TierKind::ssd;
}

TierSpec parse_tier(std::string_view text) {
  VerbsDevice device;
  if (text.starts_with(to_string(TierKind::verbs))) text = take_device(text, device);
  const std::size_t colon = text.find(':');
  const std::string_view word = text.substr(0, colon);
  const bool has_rest = colon != std::string_view::npos;
  const std::string_view rest = has_rest ? text.substr(colon + 1) : std::string_view();
  for (const auto& [name, kind] : kKinds) {
    if (name != word || !takes(kind, has_rest) || has_rest == rest.empty()) continue;
    TierSpec tier;
    tier.kind = kind;
    tier.device = device;
    if (kind == TierKind::emulated) {
      tier.model = parse_device_model(rest);
    } else if (kind == TierKind::fabric) {
      if (!parse_fabric(rest, tier)) break;
    } else {
      tier.path = rest;
    }
    return tier;
  }
  throw Error(
      "no tier '{}': expected dram, shm, file:PATH, devdax:PATH, ssd[:PATH], "
      "verbs:ADDRESS[,device=NAME][,gid=INDEX][,reads=BUDGET], fabric:PROVIDER:ADDRESS or "
      "emulated:MODEL (rdma, "
      "cxl, nvm, ssd, or latency=5us,bandwidth=10GB/s,rate=50M/s)",
      text);
}

std::vector<TierSpec> parse_tiers(std::string_view text) {
  std::vector<std::string> names;
  std::string_view rest = text;
  for (bool more = true; more;) {
    const std::size_t comma = rest.find(',');
    more = comma != std::string_view::npos;
    const std::string_view part = rest.substr(0, comma);
    if (more) rest = rest.substr(comma + 1);
    const bool continues = !names.empty() && !begins_tier(part);
    if (continues) {
      names.back().append(",").append(part);
    } else {
      names.emplace_back(part);
    }
  }
  std::vector<TierSpec> tiers;
  tiers.reserve(names.size());
  for (const std::string& name : names) tiers.push_back(parse_tier(name));
  return tiers;
}

std::string_view to_string(TierKind kind) {
  for (const auto& [name, value] : kKinds) {
    if (value == kind) return name;
  }
  return "unknown";
}

std::string to_string(const TierSpec& tier) {
  std::string word(to_string(tier.kind));
  if (tier.kind == TierKind::fabric) word += ":" + tier.provider;
  if (tier.kind != TierKind::emulated) {
    if (!tier.path.empty()) word += ":" + tier.path;
    if (!tier.device.name.empty()) word += ",device=" + tier.device.name;
    if (tier.device.gid_index) word += fmt::format(",gid={}", *tier.device.gid_index);
    if (tier.device.read_budget > 0) word += fmt::format(",reads={}", tier.device.read_budget);
    return word;
  }
  if (tier.model.name != "custom") return word + ":" + tier.model.name;
  return fmt::format("{}:latency={}us,bandwidth={}GB/s,rate={}M/s,block={}", word,
                     tier.model.latency_us, tier.model.bandwidth_gbps, tier.model.requests_per_us,
                     tier.model.block_bytes);
}

}  // namespace farvec::transport
