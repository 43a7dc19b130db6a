#include "python/errors.h"

#include "rpc/channel.h"
#include "search/unreachable_error.h"

namespace farvec::python {
namespace {

namespace nb = nanobind;

const char* class_of(StatusCode code) {
  switch (code) {
    case StatusCode::invalid_argument:
      return "InvalidArgument";
    case StatusCode::deadline_exceeded:
      return "DeadlineExceeded";
    case StatusCode::not_found:
      return "NotFound";
    case StatusCode::permission_denied:
      return "PermissionDenied";
    case StatusCode::resource_exhausted:
      return "ResourceExhausted";
    case StatusCode::failed_precondition:
      return "FailedPrecondition";
    case StatusCode::unavailable:
      return "Unavailable";
    case StatusCode::data_loss:
      return "DataLoss";
    case StatusCode::internal:
      return "Internal";
    default:
      return "Error";
  }
}

void raise(const char* name, const char* what) {
  const nb::object type = nb::module_::import_("farvec.errors").attr(name);
  PyErr_SetString(type.ptr(), what);
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const StatusError& error) {
    raise(class_of(error.code), error.what());
  } catch (const rpc::NobodyListens& error) {
    raise("Unavailable", error.what());
  } catch (const search::UnreachableError& error) {  // memory nodes
    raise("Unavailable", error.what());
  } catch (const Error& error) {
    raise("Error", error.what());
  }
}

}  // namespace

void register_errors() {
  nb::register_exception_translator(translate);
}

}  // namespace farvec::python
