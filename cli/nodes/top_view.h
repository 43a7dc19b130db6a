// Shows nodes at work to people: it makes the text of `farvec top`.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace farvec::cli {

/// Returns a table with a line for each node, from the facts that `farvec top --json` prints; what
/// is wrong with a node comes after its cells. Where there are fewer than top_table_width()
/// columns, each node has a few lines, with only the facts that it has. None of these is longer
/// than the screen, except for the words of what is wrong. 0 columns: as many as are wanted.
std::string top_view(const std::vector<nlohmann::ordered_json>& nodes, std::size_t columns);

std::size_t top_table_width();

/// Returns the columns of the terminal that is the standard output; 0 when that is no terminal, or
/// does not say.
std::size_t terminal_columns();

}  // namespace farvec::cli
