// CHECK() for tests in C: a condition that does not hold is printed, and the test fails in the end.
#ifndef TESTS_C_CHECK_H
#define TESTS_C_CHECK_H

#include <farvec.h>
#include <stdlib.h>

// Counts those that did not hold.
extern int failures;
void check_failed(const char* file, int line, const char* what);

#define CHECK(condition)                                            \
  do {                                                              \
    if (!(condition)) check_failed(__FILE__, __LINE__, #condition); \
  } while (0)

// Ends the test: what comes next could not be told from what is wrong.
#define REQUIRE(condition)                          \
  do {                                              \
    if (!(condition)) {                             \
      check_failed(__FILE__, __LINE__, #condition); \
      exit(1);                                      \
    }                                               \
  } while (0)

// Checks that a call ended with `expected`, that `error` says so too, and that its message has
// `words`. The error is that of the call.
void check_status(const char* file, int line, farvec_status status, farvec_status expected,
                  const farvec_error* error, const char* words);
#define CHECK_OK(call) check_status(__FILE__, __LINE__, (call), FARVEC_OK, &error, "")
#define CHECK_FAILS(call, expected, words) \
  check_status(__FILE__, __LINE__, (call), (expected), &error, (words))

#endif
