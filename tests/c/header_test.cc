// farvec.h is C++ too: a program of C++20 with all warnings, which links the library alone.
#include <farvec.h>

#include <cstring>
#include <type_traits>

static_assert(std::is_standard_layout_v<farvec_search_options>);
static_assert(sizeof(farvec_error) == 1024);
static_assert(offsetof(farvec_wait, size) == 0 && offsetof(farvec_receipt, size) == 0);

int main() {
  farvec_connect_options options{};
  options.size = sizeof options;
  farvec_connection* connection = nullptr;
  farvec_error error;
  if (farvec_connect(&options, nullptr, &connection, &error) != FARVEC_INVALID_ARGUMENT) return 1;
  return std::strcmp(farvec_version(), FARVEC_VERSION);
}
