// Facts as Python's dictionaries.
#pragma once

#include <nanobind/nanobind.h>

#include <nlohmann/json.hpp>

namespace farvec::python {

/// Needs the interpreter.
nanobind::dict to_dict(const nlohmann::ordered_json& facts);

}  // namespace farvec::python
