#include "transport/emulated/device_model.h"

#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/quantity.h"
#include "transport/emulated/device_presets.h"

namespace farvec::transport {

namespace {

constexpr std::uint32_t kMostCores = 4096;
constexpr std::uint32_t kMostBytes = 1 << 20;  ///< for a block and for a header

double parse_quantity(std::string_view key, std::string_view text,
                      std::span<const QuantityUnit> units) {
  const double amount = parse_with_unit(key, text, units);
  if (amount == 0) throw Error("'{}={}': it must be more than 0", key, text);
  return amount;
}

std::uint32_t parse_size(std::string_view key, std::string_view text, std::uint32_t least) {
  const std::uint64_t bytes = parse_bytes(text, std::string(key) + "=");
  if (bytes < least || bytes > kMostBytes) {
    throw Error("'{}={}': use {} B to 1 MiB", key, text, least);
  }
  return static_cast<std::uint32_t>(bytes);
}

void apply(DeviceModel& model, std::string_view key, std::string_view value) {
  if (key == "latency") {
    model.latency_us = parse_quantity(key, value, kTimeUnits);
  } else if (key == "bandwidth") {
    model.bandwidth_gbps = parse_quantity(key, value, kBandwidthUnits);
  } else if (key == "rate") {
    model.requests_per_us = parse_quantity(key, value, kRateUnits);
  } else if (key == "block") {
    model.block_bytes = parse_size(key, value, 1);
  } else if (key == "header") {
    model.header_bytes = parse_size(key, value, 0);
  } else if (key == "interruption") {
    model.interruption_us = parse_with_unit(key, value, kTimeUnits);
  } else if (key == "cores") {
    const std::uint64_t cores = parse_number(value, "cores=");
    if (cores == 0 || cores > kMostCores) throw Error("'cores={}': use 1 to {}", value, kMostCores);
    model.cores = static_cast<std::uint32_t>(cores);
  } else {
    throw Error("'{}': expected latency, bandwidth, rate, block, header, interruption or cores",
                key);
  }
}

const DeviceModel& find_preset(std::string_view name) {
  for (const DeviceModel& preset : device_presets()) {
    if (preset.name == name) return preset;
  }
  throw Error("no device '{}': expected rdma, cxl, nvm, ssd or latency=...,bandwidth=...,rate=...",
              name);
}

}  // namespace

DeviceModel parse_device_model(std::string_view text) {
  DeviceModel model;
  std::string_view rest = text;
  for (bool first = true; first || !rest.empty(); first = false) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    const std::size_t equals = item.find('=');
    if (equals != std::string_view::npos) {
      const std::string_view key = item.substr(0, equals);
      apply(model, key, item.substr(equals + 1));
      if (key != "cores") model.name = "custom";
    } else if (first) {
      model = find_preset(item);
    } else {
      throw Error("'{}' in device '{}': expected KEY=VALUE", item, text);
    }
  }
  if (model.latency_us == 0 || model.bandwidth_gbps == 0 || model.requests_per_us == 0) {
    throw Error("device '{}': latency, bandwidth and rate are all needed", text);
  }
  return model;
}

std::string to_string(const DeviceModel& model) {
  std::string text =
      fmt::format("{}: {:.6g} us, {:.6g} GB/s, {:.6g} M reads/s, {} B blocks", model.name,
                  model.latency_us, model.bandwidth_gbps, model.requests_per_us, model.block_bytes);
  if (model.header_bytes > 0) text += fmt::format(", {} B headers", model.header_bytes);
  if (model.interruption_us > 0) {
    text += fmt::format(", {:.6g} ns interruptions", model.interruption_us * 1e3);
  }
  if (model.cores > 0) text += fmt::format(", 1/{} of it per core", model.cores);
  return text;
}

}  // namespace farvec::transport
