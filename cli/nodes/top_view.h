// Nodes at work, for people: what `farvec top` shows.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace farvec::cli {

/// A table with a line for each node (its facts, as `farvec top --json` has them), and what is
/// wrong with it behind. Where there are fewer than top_table_width() columns, a few lines for each
/// node, of what it has, none longer but the words of what is wrong. 0 columns: as many as are
/// wanted.
std::string top_view(const std::vector<nlohmann::ordered_json>& nodes, std::size_t columns);

std::size_t top_table_width();

/// Of the terminal that is the standard output; 0: it is none, or does not say.
std::size_t terminal_columns();

}  // namespace farvec::cli
