#include "python/json_object.h"

namespace farvec::python {

namespace nb = nanobind;

nb::dict to_dict(const nlohmann::ordered_json& facts) {
  return nb::cast<nb::dict>(nb::module_::import_("json").attr("loads")(facts.dump()));
}

}  // namespace farvec::python
