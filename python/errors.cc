#include "python/errors.h"

#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

#include "base/said_by.h"
#include "base/unreachable_error.h"
#include "python/words.h"
#include "rpc/channel.h"

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

void raise(const char* name, std::string_view what) {
  const nb::object type = nb::module_::import_("farvec.errors").attr(name);
  PyErr_SetObject(type.ptr(), as_text(in_python_words(what)).ptr());
}

/// Translates what the C++ library throws, besides farvec's own errors. It is no bug when a file
/// system refuses, or when a call takes more memory than there is.
void translate_library(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::system_error& error) {  // also std::filesystem's
    raise("Error", said_by(error));
  } catch (const std::bad_alloc&) {
    raise("ResourceExhausted", "there is not as much memory as this takes");
  } catch (const std::length_error& error) {
    raise("ResourceExhausted",
          fmt::format("there is not as much memory as this takes ({})", error.what()));
  } catch (const nb::python_error&) {
    throw;
  } catch (const nb::builtin_exception&) {
    throw;
  } catch (const nb::cast_error&) {
    throw;
  } catch (const std::exception& error) {
    raise("Internal", error.what());
  }
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const StatusError& error) {
    raise(class_of(error.code), error.what());
  } catch (const rpc::NobodyListens& error) {
    raise("Unavailable", error.what());
  } catch (const UnreachableError& error) {  // thrown for memory nodes
    raise("Unavailable", error.what());
  } catch (const Error& error) {
    raise("Error", error.what());
  } catch (...) {
    translate_library(thrown);
  }
}

}  // namespace

nb::str as_text(std::string_view bytes) {
  return nb::steal<nb::str>(PyUnicode_DecodeUTF8(
      bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "backslashreplace"));
}

void register_errors() {
  nb::register_exception_translator(translate);
}

}  // namespace farvec::python
