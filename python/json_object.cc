#include "python/json_object.h"

namespace farvec::python {

namespace nb = nanobind;

nb::dict to_dict(const nlohmann::ordered_json& facts) {
  // Names of folders may hold bytes that are no UTF-8.
  const std::string text =
      facts.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  return nb::cast<nb::dict>(nb::module_::import_("json").attr("loads")(text));
}

}  // namespace farvec::python
