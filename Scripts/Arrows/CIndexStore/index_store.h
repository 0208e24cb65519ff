// What check-arrows uses of libIndexStore, which the toolchain brings without a header.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Not terminated by a zero.
typedef struct {
    const char *data;
    size_t length;
} indexstore_string_ref_t;

enum {
    INDEXSTORE_UNIT_DEPENDENCY_RECORD = 2,
    INDEXSTORE_ROLE_DEFINITION = 1 << 1,
    INDEXSTORE_ROLE_REFERENCE = 1 << 2,
};

void *indexstore_store_create(const char *path, void **error);

// One unit for each compiled file, by name.
bool indexstore_store_units_apply_f(
    void *store, unsigned sorted, void *context, bool (*body)(void *context, indexstore_string_ref_t name));
void *indexstore_unit_reader_create(void *store, const char *name, void **error);
void indexstore_unit_reader_dispose(void *unit);
indexstore_string_ref_t indexstore_unit_reader_get_main_file(void *unit);
bool indexstore_unit_reader_dependencies_apply_f(
    void *unit, void *context, bool (*body)(void *context, void *dependency));
int indexstore_unit_dependency_get_kind(void *dependency);
indexstore_string_ref_t indexstore_unit_dependency_get_name(void *dependency);

// What a file names.
void *indexstore_record_reader_create(void *store, const char *name, void **error);
void indexstore_record_reader_dispose(void *record);
bool indexstore_record_reader_occurrences_apply_f(
    void *record, void *context, bool (*body)(void *context, void *occurrence));
void *indexstore_occurrence_get_symbol(void *occurrence);
uint64_t indexstore_occurrence_get_roles(void *occurrence);
void indexstore_occurrence_get_line_col(void *occurrence, unsigned *line, unsigned *column);

// The identity of a declaration in all files.
indexstore_string_ref_t indexstore_symbol_get_usr(void *symbol);
indexstore_string_ref_t indexstore_symbol_get_name(void *symbol);
