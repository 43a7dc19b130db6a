// in_python_words() puts messages that are written for the tool into the words of Python.
#pragma once

#include <string>
#include <string_view>

namespace farvec::python {

/// Returns a message with the arguments of this package in place of the tool's options:
/// "overwrite=True" for "--overwrite", "memory_budget" for "--memory-budget". Quoted commands of
/// the tool, and options that only the tool has, stay.
std::string in_python_words(std::string_view message);

}  // namespace farvec::python
