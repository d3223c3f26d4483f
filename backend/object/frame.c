/* .eh_frame: a sequence of records, a length word before each, ended by a length of zero. Two
 * things forbid to treat it as plain bytes. Zero padding between inputs would read as the end;
 * so the last record before a gap is lengthened over it, where zero bytes are no-operations.
 * And a record of a function that was discarded with its COMDAT group must go, since its
 * relocation has no target left. Layout: LSB core specification, "exception frames". */
#include "backend/object/internal.h"

#include <assert.h>
#include <string.h>

enum {
    FIELD = 4,            /* size of the length and of the CIE pointer behind it */
    FUNCTION = 2 * FIELD, /* where an FDE holds the address of its function */
};

static uint32_t get32(const unsigned char *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void put32(unsigned char *p, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        p[i] = (unsigned char)(value >> 8 * i);
}

bool object_is_frame(const struct object_section *section)
{
    return section->data && strcmp(section->name, ".eh_frame") == 0;
}

static bool fail(struct object_writer *writer, const struct object_input *input, uint64_t offset,
                 const char *what)
{
    return object_fail(writer->error, "%.300s: section '.eh_frame' %s at offset %llu", input->name,
                       what, (unsigned long long)offset);
}

/* Counts the records, and stores them where `records` is not NULL. */
static bool split(struct object_writer *writer, const struct object_input *input,
                  const struct object_section *section, struct object_frame *frame)
{
    uint64_t at = 0;
    frame->count = 0;
    while (at < section->size) {
        if (section->size - at < FIELD)
            return fail(writer, input, at, "has an incomplete record");
        uint64_t length = get32(section->data + at);
        if (length == UINT32_MAX)
            return fail(writer, input, at, "has a 64-bit record, which is not supported,");
        if (length == 0) {
            frame->terminated = true;
            if (section->size - at > FIELD)
                return fail(writer, input, at, "ends before its last record");
            return true;
        }
        if (length < FIELD || length > section->size - at - FIELD)
            return fail(writer, input, at, "has a record of a bad length");
        if (frame->records)
            frame->records[frame->count] =
                (struct object_frame_record){.offset = at, .size = FIELD + length};
        frame->count++;
        at += FIELD + length;
    }
    return true;
}

/* The record that contains `offset`, or NULL. */
static struct object_frame_record *find(const struct object_frame *frame, uint64_t offset)
{
    size_t low = 0, high = frame->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        struct object_frame_record *record = &frame->records[middle];
        if (offset < record->offset)
            high = middle;
        else if (offset - record->offset >= record->size)
            low = middle + 1;
        else
            return record;
    }
    return NULL;
}

/* The CIE that the record at `record` refers to; NULL if it is one itself or the link is bad. */
static struct object_frame_record *find_cie(const struct object_frame *frame,
                                            const struct object_section *section,
                                            const struct object_frame_record *record)
{
    assert(record->size >= 2 * FIELD && record->offset + record->size <= section->size);
    uint64_t field = record->offset + FIELD;
    uint32_t distance = get32(section->data + field);
    if (distance == 0 || distance > field)
        return NULL;
    struct object_frame_record *cie = find(frame, field - distance);
    return cie && cie->offset == field - distance ? cie : NULL;
}

static bool is_cie(const struct object_section *section, const struct object_frame_record *record)
{
    return get32(section->data + record->offset + FIELD) == 0;
}

static bool check_cies(struct object_writer *writer, const struct object_input *input,
                       const struct object_section *section, const struct object_frame *frame)
{
    for (size_t i = 0; i < frame->count; i++) {
        const struct object_frame_record *record = &frame->records[i];
        if (is_cie(section, record))
            continue;
        const struct object_frame_record *cie = find_cie(frame, section, record);
        if (!cie || !is_cie(section, cie))
            return fail(writer, input, record->offset, "has a record without a CIE");
    }
    return true;
}

static void mark_dead(const struct object_input *input, const struct object_section *section,
                      const struct object_frame *frame)
{
    for (size_t i = 0; i < section->relocation_count; i++) {
        const struct object_relocation *relocation = &section->relocations[i];
        const struct object_section *target =
            object_symbol_section(input, &input->symbols[relocation->symbol]);
        if (!target || !target->discarded)
            continue;
        struct object_frame_record *record = find(frame, relocation->offset);
        if (record && relocation->offset - record->offset == FUNCTION && !is_cie(section, record))
            record->dead = true;
    }
}

bool object_frame_read(struct object_writer *writer, const struct object_input *input,
                       struct object_section *section)
{
    struct object_frame *frame = object_alloc(&writer->arena, 1, sizeof *frame);
    if (!split(writer, input, section, frame))
        return false;
    frame->records = object_alloc(&writer->arena, frame->count, sizeof *frame->records);
    if (!split(writer, input, section, frame) || !check_cies(writer, input, section, frame))
        return false;
    mark_dead(input, section, frame);
    for (size_t i = 0; i < frame->count; i++) {
        frame->records[i].moved_to = frame->size;
        frame->size += frame->records[i].dead ? 0 : frame->records[i].size;
    }
    section->frame = frame;
    return true;
}

bool object_frame_move(const struct object_frame *frame, uint64_t *offset)
{
    const struct object_frame_record *record = find(frame, *offset);
    if (record && record->dead)
        return false;
    if (record) {
        *offset = record->moved_to + (*offset - record->offset);
    } else if (frame->count > 0) {
        record = &frame->records[frame->count - 1];
        *offset += frame->size - (record->offset + record->size);
    }
    return true;
}

void object_frame_copy(const struct object_section *section, unsigned char *to)
{
    const struct object_frame *frame = section->frame;
    unsigned char *last = NULL;
    for (size_t i = 0; i < frame->count; i++) {
        const struct object_frame_record *record = &frame->records[i];
        if (record->dead)
            continue;
        last = to + record->moved_to;
        memcpy(last, section->data + record->offset, record->size);
        const struct object_frame_record *cie = find_cie(frame, section, record);
        if (cie)
            put32(last + FIELD, (uint32_t)(record->moved_to + FIELD - cie->moved_to));
    }
    if (last)
        put32(last, (uint32_t)(get32(last) + frame->padding));
}
