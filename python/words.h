// What the rooms below say for the tool, in the words of Python.
#pragma once

#include <string>
#include <string_view>

namespace farvec::python {

/// A message with the arguments of this package in place of the tool's options: "overwrite=True" of
/// "--overwrite", "memory_budget" of "--memory-budget". Commands of the tool that it quotes, and
/// options of the tool alone, stay.
std::string in_python_words(std::string_view message);

}  // namespace farvec::python
