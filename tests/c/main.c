#include <stdio.h>
#include <string.h>

#include "check.h"
#include "node.h"
#include "tests.h"

typedef struct test {
  const char* name;
  void (*run)(void);
} test;

static const test tests[] = {
    {"types", test_types},
    {"index", test_index},
    {"empty", test_empty},
    {"attributes", test_attributes},
    {"changes", test_changes},
    {"arguments", test_arguments},
    {"bad_searches", test_bad_searches},
    {"sizes", test_sizes},
    {"cursor", test_cursor},
    {"cursor_of_clusters", test_cursor_of_clusters},
    {"cursor_without_room", test_cursor_without_room},
    {"gone", test_gone},
    {"waits", test_waits},
    {"closed", test_closed},
    {"threads", test_threads},
    {"fork", test_fork},
    {"signals", test_signals},
    {"memory", test_memory},
    {"left_open", test_left_open},
    {"tls", test_tls},
    {"other_schema", test_other_schema},
    {"larger_index", test_larger_index},
};

int main(int count, char** words) {
  size_t i;
  for (i = 0; i < sizeof tests / sizeof *tests; ++i) {
    if (count != 2 || strcmp(words[1], tests[i].name) != 0) continue;
    make_folder();
    tests[i].run();
    return failures == 0 ? 0 : 1;
  }
  fprintf(stderr, "usage: c_client_test NAME, where NAME is a test of main.c\n");
  return 2;
}
