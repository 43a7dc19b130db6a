// to_dict() turns facts into Python's dictionaries.
#pragma once

#include <nanobind/nanobind.h>

#include <nlohmann/json.hpp>

namespace farvec::python {

/// Returns a dictionary of the facts. Needs the interpreter.
nanobind::dict to_dict(const nlohmann::ordered_json& facts);

}  // namespace farvec::python
