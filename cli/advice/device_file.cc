#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "cli/advice/advisor.h"

namespace farvec::cli {
namespace {

/// The words of the file with commas between them.
std::string words_of(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw SystemError(errno, "cannot read the device description '{}'", path);
  std::string words;
  for (std::string line; std::getline(in, line);) {
    line.resize(std::min(line.find('#'), line.size()));
    for (char& c : line) c = c == ',' ? ' ' : c;
    std::istringstream parts(line);
    for (std::string word; parts >> word;) words += (words.empty() ? "" : ",") + word;
  }
  if (words.empty()) throw Error("the device description '{}' is empty", path);
  return words;
}

}  // namespace

transport::DeviceModel read_device(const std::string& text) {
  if (!std::filesystem::is_regular_file(text)) {
    try {
      return transport::parse_device_model(text);
    } catch (const Error& error) {
      throw Error("--device: {}; there is no file of that name either", error.what());
    }
  }
  try {
    transport::DeviceModel device = transport::parse_device_model(words_of(text));
    device.name = std::filesystem::path(text).stem().string();
    return device;
  } catch (const Error& error) {
    throw Error("--device '{}': {}", text, error.what());
  }
}

}  // namespace farvec::cli
