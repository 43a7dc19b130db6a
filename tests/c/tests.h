// The tests of this program, each of which is a test of ctest: c_client_test NAME.
#ifndef TESTS_C_TESTS_H
#define TESTS_C_TESTS_H

void test_types(void);
void test_index(void);
void test_empty(void);
void test_attributes(void);
void test_changes(void);
void test_arguments(void);
void test_bad_searches(void);
void test_sizes(void);
void test_cursor(void);
void test_cursor_of_clusters(void);
void test_cursor_without_room(void);
void test_gone(void);
void test_waits(void);
void test_closed(void);
void test_threads(void);
void test_fork(void);
void test_signals(void);
void test_memory(void);
void test_left_open(void);
void test_tls(void);
void test_other_schema(void);
void test_larger_index(void);

#endif
