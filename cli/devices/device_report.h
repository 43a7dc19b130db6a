// What `farvec devices` says of a device and of what lies there.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "device/device_list.h"
#include "device/device_store.h"

namespace farvec::cli {

/// The directory of a device or file, or why it has none.
struct DeviceContents {
  std::shared_ptr<device::DeviceStore> store;  ///< open to read; null: `problem` says why
  std::string problem;
};

/// Opens it, whatever its health is.
DeviceContents look_into(const std::string& path);

/// "sift1m.index", and of a share "sift1m.index (node 2)", but of the first node's the name alone.
std::string index_name(const layout::DeviceIndex& index);

nlohmann::ordered_json to_json(const device::FoundDevice& found);
nlohmann::ordered_json to_json(const DeviceContents& contents);

/// A row of the table, then a line for each index that lies there.
void print_devices_header();
void print_device(const device::FoundDevice& found);
void print_contents(const DeviceContents& contents);

}  // namespace farvec::cli
