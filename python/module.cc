// This is the extension module farvec._farvec; the package `farvec` says which parts are public.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "base/version.h"
#include "python/bindings.h"
#include "python/errors.h"
#include "python/others_may_run.h"

NB_MODULE(_farvec, module) {
  using namespace farvec::python;
  module.doc() = "Vector search over second-tier memory: the compiled half of the package farvec.";
  module.attr("__version__") = std::string(farvec::version());
  module.attr("__commit__") = std::string(farvec::commit());
  register_errors();
  watch_for_the_end(module);
  bind_dataset(module);
  bind_builds(module);
  bind_index(module);
  bind_hnsw(module);
  bind_collection(module);
  bind_sweep(module);
  bind_advise(module);
}
