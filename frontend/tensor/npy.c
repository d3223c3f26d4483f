#include "frontend/tensor/npy.h"
#include "ir/analysis/contents.h"
#include "ir/support/file.h"
#include "ir/support/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const unsigned char magic[] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

enum {
    PREAMBLE_1 = 10,      /* magic, version, two bytes of length */
    PREAMBLE_2 = 12,      /* from version 2.0 on, the length has four bytes */
    MAX_HEADER = 1 << 16, /* bytes of the dictionary; NumPy itself refuses more than 10000 */
    HEADER_ALIGNMENT = 64,
};

/* -------------------------------------------------------------------- Python literals ---- */

/* The dictionary that is left to read. `error` is written once, by the first failure. */
struct scan {
    const char *start, *at, *end;
    size_t offset; /* of `start` in the file */
    char *error;
    size_t error_size;
};

static bool fail_at(struct scan *scan, const char *expected)
{
    return message_fail(scan->error, scan->error_size,
                        "has a bad header: expected %s at byte %zu of the file", expected,
                        scan->offset + (size_t)(scan->at - scan->start));
}

static void skip_blanks(struct scan *scan)
{
    while (scan->at < scan->end && *scan->at != '\0' && strchr(" \t\r\n", *scan->at))
        scan->at++;
}

/* Takes the character where it is next, behind blanks. */
static bool take(struct scan *scan, char c)
{
    skip_blanks(scan);
    if (scan->at == scan->end || *scan->at != c)
        return false;
    scan->at++;
    return true;
}

static bool take_word(struct scan *scan, const char *word)
{
    size_t size = strlen(word);
    skip_blanks(scan);
    if ((size_t)(scan->end - scan->at) < size || memcmp(scan->at, word, size) != 0)
        return false;
    scan->at += size;
    return true;
}

/* A string of printable ASCII without escapes, which is all that keys and type codes need. */
static bool read_string(struct scan *scan, char *text, size_t size)
{
    char quote = '\'';
    if (!take(scan, quote) && !take(scan, quote = '"'))
        return fail_at(scan, "a string");
    size_t used = 0;
    for (; scan->at < scan->end && *scan->at != quote; scan->at++) {
        if (*scan->at < ' ' || *scan->at > '~' || *scan->at == '\\' || used + 1 == size)
            return fail_at(scan, "a short string of plain characters");
        text[used++] = *scan->at;
    }
    text[used] = '\0';
    return take(scan, quote) || fail_at(scan, "the end of a string");
}

/* A dimension. Python 2 wrote some with the suffix L. */
static bool read_dim(struct scan *scan, int64_t *dim)
{
    skip_blanks(scan);
    const char *start = scan->at;
    *dim = 0;
    for (; scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9'; scan->at++)
        if (__builtin_mul_overflow(*dim, 10, dim) ||
            __builtin_add_overflow(*dim, *scan->at - '0', dim))
            return fail_at(scan, "a dimension below 2^63");
    if (scan->at == start)
        return fail_at(scan, "a dimension or ')'");
    if (scan->at < scan->end && *scan->at == 'L')
        scan->at++;
    return true;
}

/* A tuple: (), (2,) or (2, 3) with an optional comma behind the last. (2) would be a number. */
static bool read_shape(struct scan *scan, struct npy_header *header)
{
    if (!take(scan, '('))
        return fail_at(scan, "'('");
    bool comma = true;
    while (!take(scan, ')')) {
        if (!comma)
            return fail_at(scan, "',' or ')'");
        if (header->rank == TENSOR_MAX_RANK)
            return message_fail(scan->error, scan->error_size,
                                "has more than %d dimensions, which are not supported",
                                TENSOR_MAX_RANK);
        if (!read_dim(scan, &header->dims[header->rank++]))
            return false;
        comma = take(scan, ',');
    }
    return comma || header->rank != 1 || fail_at(scan, "',' before the ')' of a single dimension");
}

enum key { KEY_descr, KEY_fortran_order, KEY_shape, KEY_COUNT };

/* One pair of key and value. `*seen` has a bit per key. */
static bool read_pair(struct scan *scan, struct npy_header *header, unsigned *seen)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    char name[24];
    unsigned key = 0;
    if (!read_string(scan, name, sizeof name))
        return false;
    while (key < KEY_COUNT && strcmp(keys[key], name) != 0)
        key++;
    if (key == KEY_COUNT || *seen & 1u << key)
        return message_fail(scan->error, scan->error_size, "has a bad header: key '%s' %s", name,
                            key == KEY_COUNT ? "is unknown" : "comes twice");
    *seen |= 1u << key;
    if (!take(scan, ':'))
        return fail_at(scan, "':'");
    if (key == KEY_shape)
        return read_shape(scan, header);
    if (key == KEY_fortran_order) {
        header->fortran_order = take_word(scan, "True");
        return header->fortran_order || take_word(scan, "False") || fail_at(scan, "True or False");
    }
    skip_blanks(scan);
    if (scan->at < scan->end && *scan->at == '[')
        return message_fail(scan->error, scan->error_size,
                            "holds records, which are not supported");
    return read_string(scan, header->descr, sizeof header->descr);
}

static bool read_dictionary(struct scan *scan, struct npy_header *header)
{
    if (!take(scan, '{'))
        return fail_at(scan, "'{'");
    unsigned seen = 0;
    bool comma = true;
    while (!take(scan, '}')) {
        if (!comma)
            return fail_at(scan, "',' or '}'");
        if (!read_pair(scan, header, &seen))
            return false;
        comma = take(scan, ',');
    }
    skip_blanks(scan);
    if (scan->at != scan->end)
        return fail_at(scan, "the end of the header");
    if (seen != (1u << KEY_COUNT) - 1)
        return message_fail(scan->error, scan->error_size,
                            "has a bad header: it needs 'descr', 'fortran_order' and 'shape'");
    return true;
}

bool npy_parse(struct npy_header *header, const void *bytes, size_t size, char *error,
               size_t error_size)
{
    const unsigned char *at = bytes;
    *header = (struct npy_header){.rank = 0};
    if (size < sizeof magic || memcmp(at, magic, sizeof magic) != 0)
        return message_fail(error, error_size, "is no .npy file");
    if (size < PREAMBLE_2)
        return message_fail(error, error_size, "is cut off in its header");
    if (at[6] < 1 || at[6] > 3 || at[7] != 0)
        return message_fail(error, error_size,
                            "has version %u.%u of the .npy format; 1.0 to 3.0 are supported", at[6],
                            at[7]);
    size_t preamble = at[6] == 1 ? PREAMBLE_1 : PREAMBLE_2;
    uint32_t length = at[8] | (uint32_t)at[9] << 8;
    if (preamble == PREAMBLE_2)
        length |= (uint32_t)at[10] << 16 | (uint32_t)at[11] << 24;
    if (length > MAX_HEADER)
        return message_fail(error, error_size, "has a header of %u bytes; at most %d are supported",
                            length, MAX_HEADER);
    if (length > size - preamble)
        return message_fail(error, error_size, "is cut off in its header");
    const char *start = (const char *)at + preamble;
    struct scan scan = {start, start, start + length, preamble, error, error_size};
    header->size = preamble + length;
    return read_dictionary(&scan, header);
}

bool npy_begins(const void *bytes, size_t size)
{
    return size >= 4 && memcmp(bytes, magic, size < sizeof magic ? size : sizeof magic) == 0;
}

/* -------------------------------------------------------------------------- reading ---- */

/* The dtype that has this type code, or DTYPE_COUNT. */
static unsigned code_dtype(const char *code)
{
    for (unsigned i = 0; i < DTYPE_COUNT; i++)
        if (dtype_info((enum dtype)i)->npy[0] && strcmp(dtype_info((enum dtype)i)->npy, code) == 0)
            return i;
    return DTYPE_COUNT;
}

/* Behind the byte order, if there is one. */
static const char *descr_code(const char *descr)
{
    return descr[0] != '\0' && strchr("<>|=", descr[0]) ? descr + 1 : descr;
}

/* Whether the array has elements of the tensor's dtype, and its shape. */
static bool check_header(const struct tensor *tensor, const struct npy_header *header, char *error,
                         size_t error_size)
{
    const struct dtype_info *info = dtype_info(tensor->dtype);
    const char *descr = header->descr, *code = descr_code(descr);
    if (info->npy[0] == '\0')
        return message_fail(error, error_size, "cannot hold dtype %s: NumPy has no type for it",
                            info->name);
    if (descr[0] == '>' && info->bits > 8)
        return message_fail(error, error_size, "is big-endian ('%s'), which is not supported",
                            descr);
    if (strcmp(code, info->npy) != 0 && !(tensor->dtype == DTYPE_bf16 && strcmp(code, "u2") == 0)) {
        unsigned dtype = code_dtype(code);
        const char *held = dtype < DTYPE_COUNT ? dtype_info((enum dtype)dtype)->name : NULL;
        return message_fail(error, error_size, "holds %s%sitems of type '%s', but the dtype is %s",
                            held ? held : "", held ? ", " : "", descr, info->name);
    }
    if (header->fortran_order)
        return message_fail(error, error_size, "is in Fortran order, which is not supported");
    if (header->rank == tensor->rank &&
        memcmp(header->dims, tensor->dims, tensor->rank * sizeof tensor->dims[0]) == 0)
        return true;
    char found[256], wanted[256];
    tensor_dims_text(header->dims, header->rank, found, sizeof found);
    tensor_dims_text(tensor->dims, tensor->rank, wanted, sizeof wanted);
    return message_fail(error, error_size, "has the shape %s, but %s is needed", found, wanted);
}

bool npy_load(struct tensor *tensor, const void *bytes, size_t size, char *error, size_t error_size)
{
    struct npy_header header;
    if (!npy_parse(&header, bytes, size, error, error_size) ||
        !check_header(tensor, &header, error, error_size))
        return false;
    size_t found = size - header.size;
    if (found != tensor->size)
        return message_fail(error, error_size, "has %zu bytes of elements, but %s%zu are needed",
                            found, found > tensor->size ? "only " : "", tensor->size);
    memcpy(tensor->data, (const char *)bytes + header.size, tensor->size);
    for (size_t i = 0; dtype_info(tensor->dtype)->class == CLASS_BOOL && i < tensor->size; i++)
        if (tensor->data[i] > 1) {
            char index[256];
            tensor_index_text(tensor, i, index, sizeof index);
            return message_fail(error, error_size, "has %u at %s, where bool needs 0 or 1",
                                tensor->data[i], index);
        }
    return true;
}

bool npy_refuse_other(const char *path, char *error, size_t error_size)
{
    char bytes[ARRAY_KIND_BYTES], unread[256];
    struct stat st;
    const char *kind = array_kind_by_name(path, strlen(path));
    if (!kind && stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
        size_t size = (uint64_t)st.st_size < sizeof bytes ? (size_t)st.st_size : sizeof bytes;
        if (file_read_part(path, 0, bytes, size, unread, sizeof unread))
            kind = array_kind_by_bytes(bytes, size);
    }
    return !kind || message_fail(error, error_size,
                                 "'%s' is %s: arrays are read from .npy files, which numpy.save "
                                 "writes",
                                 path, kind);
}

/* Whether it is a file that may be an array. */
static bool check_file(const char *path, struct stat *st, char *error, size_t error_size)
{
    if (stat(path, st) != 0)
        return message_fail(error, error_size, "cannot open '%s': %s", path, strerror(errno));
    if (!S_ISREG(st->st_mode))
        return message_fail(error, error_size, "'%s' is no regular file", path);
    return npy_refuse_other(path, error, error_size);
}

bool npy_read(struct tensor *tensor, const char *path, char *error, size_t error_size)
{
    struct stat st;
    struct file_bytes file;
    if (!check_file(path, &st, error, error_size))
        return false;
    if ((uint64_t)st.st_size > PREAMBLE_2 + MAX_HEADER + (uint64_t)tensor->size)
        return message_fail(error, error_size,
                            "'%s' has %llu bytes, too many for the %zu of its elements", path,
                            (unsigned long long)st.st_size, tensor->size);
    if (!file_read(path, &file, error, error_size))
        return false;
    char reason[512];
    bool ok = npy_load(tensor, file.data, file.size, reason, sizeof reason);
    file_bytes_free(&file);
    return ok || message_fail(error, error_size, "'%s' %s", path, reason);
}

bool npy_read_header(struct npy_header *header, const char *path, char *error, size_t error_size)
{
    struct stat st;
    char bytes[PREAMBLE_2 + MAX_HEADER], reason[512];
    if (!check_file(path, &st, error, error_size))
        return false;
    size_t size = (uint64_t)st.st_size < sizeof bytes ? (size_t)st.st_size : sizeof bytes;
    return file_read_part(path, 0, bytes, size, error, error_size) &&
           (npy_parse(header, bytes, size, reason, sizeof reason) ||
            message_fail(error, error_size, "'%s' %s", path, reason));
}

bool npy_dtype(const char *path, enum dtype *dtype)
{
    struct npy_header header;
    char error[512];
    if (!npy_read_header(&header, path, error, sizeof error))
        return false;
    unsigned found = code_dtype(descr_code(header.descr));
    *dtype = found < DTYPE_COUNT ? (enum dtype)found : *dtype;
    return found < DTYPE_COUNT;
}

/* -------------------------------------------------------------------------- writing ---- */

/* Version 1.0: preamble and dictionary, with blanks up to where the elements are aligned. Returns
 * the size. */
static size_t format_header(const struct tensor *tensor, char text[2 * PREAMBLE_2 + 512])
{
    const struct dtype_info *info = dtype_info(tensor->dtype);
    char *at = text + PREAMBLE_1;
    at += sprintf(at, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                  info->bits == 8 ? '|' : '<', info->npy);
    for (uint32_t i = 0; i < tensor->rank; i++)
        at += sprintf(at, "%s%lld", i > 0 ? ", " : "", (long long)tensor->dims[i]);
    at += sprintf(at, "%s), }", tensor->rank == 1 ? "," : "");
    while ((at - text + 1) % HEADER_ALIGNMENT != 0)
        *at++ = ' ';
    *at++ = '\n';
    size_t length = (size_t)(at - text) - PREAMBLE_1;
    memcpy(text, magic, sizeof magic);
    memcpy(text + sizeof magic, (char[]){1, 0, (char)(length & 0xff), (char)(length >> 8)}, 4);
    return PREAMBLE_1 + length;
}

bool tensor_write_npy(const struct tensor *tensor, const char *path, char *error, size_t error_size)
{
    const struct dtype_info *info = dtype_info(tensor->dtype);
    if (info->npy[0] == '\0')
        return message_fail(error, error_size, "cannot write '%s': NumPy has no type for dtype %s",
                            path, info->name);
    char header[2 * PREAMBLE_2 + 512];
    size_t header_size = format_header(tensor, header);
    unsigned char *bytes = mem_realloc(NULL, header_size + tensor->size, 1);
    memcpy(bytes, header, header_size);
    memcpy(bytes + header_size, tensor->data, tensor->size);
    bool ok = file_write(path, bytes, header_size + tensor->size, error, error_size);
    mem_free(bytes);
    return ok;
}
