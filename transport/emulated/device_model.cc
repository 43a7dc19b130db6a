#include "transport/emulated/device_model.h"

#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/quantity.h"

namespace farvec::transport {

namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::uint32_t kMostCores = 4096;
constexpr std::array kTimeUnits = {Unit{"ns", 1e-3}, Unit{"us", 1}, Unit{"ms", 1e3}};
constexpr std::array kBandwidthUnits = {Unit{"MB/s", 1e-3}, Unit{"GB/s", 1}};
constexpr std::array kRateUnits = {Unit{"K/s", 1e-3}, Unit{"M/s", 1}, Unit{"G/s", 1e3}};

const std::array<DeviceModel, 4>& presets() {
  static const std::array<DeviceModel, 4> all = {{
      {"rdma", 2.8, 25, 100, 64},
      {"cxl", 0.3, 32, 500, 64},
      {"nvm", 0.4, 60, 234, 256},
      {"ssd", 75, 5.3, 1.3, 512},
  }};
  return all;
}

double parse_quantity(std::string_view key, std::string_view text, std::span<const Unit> units) {
  double number = 0;
  std::size_t used = 0;
  try {
    number = std::stod(std::string(text), &used);
  } catch (const std::exception&) {
    throw Error("'{}={}': no number", key, text);
  }
  for (const Unit& unit : units) {
    if (text.substr(used) == unit.name && std::isfinite(number) && number > 0) {
      return number * unit.factor;
    }
  }
  std::string names;
  for (const Unit& unit : units) names += names.empty() ? unit.name : ", " + std::string(unit.name);
  throw Error("'{}={}': expected a positive number with one of the units: {}", key, text, names);
}

void apply(DeviceModel& model, std::string_view key, std::string_view value) {
  if (key == "latency") {
    model.latency_us = parse_quantity(key, value, kTimeUnits);
  } else if (key == "bandwidth") {
    model.bandwidth_gbps = parse_quantity(key, value, kBandwidthUnits);
  } else if (key == "rate") {
    model.requests_per_us = parse_quantity(key, value, kRateUnits);
  } else if (key == "block") {
    const std::uint64_t bytes = parse_bytes(value, "block=");
    if (bytes == 0 || bytes > 1 << 20) throw Error("'block={}': use 1 B to 1 MiB", value);
    model.block_bytes = static_cast<std::uint32_t>(bytes);
  } else if (key == "cores") {
    const std::uint64_t cores = parse_number(value, "cores=");
    if (cores == 0 || cores > kMostCores) throw Error("'cores={}': use 1 to {}", value, kMostCores);
    model.cores = static_cast<std::uint32_t>(cores);
  } else {
    throw Error("'{}': expected latency, bandwidth, rate, block or cores", key);
  }
}

const DeviceModel& find_preset(std::string_view name) {
  for (const DeviceModel& preset : presets()) {
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
  const std::string part = model.cores > 0 ? fmt::format(", 1/{} of it per core", model.cores) : "";
  return fmt::format("{}: {:.6g} us, {:.6g} GB/s, {:.6g} M reads/s, {} B blocks{}", model.name,
                     model.latency_us, model.bandwidth_gbps, model.requests_per_us,
                     model.block_bytes, part);
}

}  // namespace farvec::transport
