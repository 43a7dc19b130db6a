#include "check.h"

#include <stdio.h>
#include <string.h>

int failures = 0;

void check_failed(const char* file, int line, const char* what) {
  ++failures;
  fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
}

void check_status(const char* file, int line, farvec_status status, farvec_status expected,
                  const farvec_error* error, const char* words) {
  const int same = status == expected && error->status == (int32_t)expected;
  const int says =
      expected == FARVEC_OK ? error->message[0] == '\0' : strstr(error->message, words) != NULL;
  if (same && says) return;
  ++failures;
  fprintf(stderr, "%s:%d: it ended with %s, '%s', where %s and '%s' were expected\n", file, line,
          farvec_status_name((int32_t)status), error->message,
          farvec_status_name((int32_t)expected), words);
}
