// show() describes what is open in one line of text.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "python/errors.h"
#include "python/handle.h"

namespace farvec::python {

/// Returns the text of repr(): "<farvec.Collection 'things': 100 vectors of 64 x f32, cosine>".
/// Asks no node, and does not throw where what was open is closed.
template <typename Open>
nanobind::str show(const Handle<Open>& handle, std::string_view name) {
  try {
    const auto open = handle.get();
    const auto count = open->count();
    return as_text(fmt::format("<farvec.{} '{}': {}vectors of {} x {}, {}>", name, open->place(),
                               count ? fmt::format("{} ", *count) : "", open->dimension(),
                               to_string(open->type()), to_string(open->metric())));
  } catch (const StatusError&) {
    return as_text(fmt::format("<farvec.{}: closed>", name));
  }
}

}  // namespace farvec::python
