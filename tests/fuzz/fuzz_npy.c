/* Hostile .npy files: the header alone, and as the contents of a tensor of the very shape that the
 * header has, so that mutations get past the check of the shape. */
#include "frontend/tensor/npy.h"
#include "tests/fuzz/replay.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char error[512];
    struct npy_header header;
    if (!npy_parse(&header, bytes, size, error, sizeof error))
        return 0;
    if (header.size > size || header.rank > TENSOR_MAX_RANK ||
        strlen(header.descr) >= sizeof header.descr)
        abort();
    uint64_t elements = 1;
    for (uint32_t i = 0; i < header.rank; i++)
        if (header.dims[i] < 0 || __builtin_mul_overflow(elements, header.dims[i], &elements))
            return 0;
    for (unsigned i = 0; i < DTYPE_COUNT && elements <= MAX_BYTES / 16; i++) {
        struct tensor tensor;
        if (!tensor_init(&tensor, (enum dtype)i, header.dims, header.rank, error, sizeof error))
            continue;
        npy_load(&tensor, bytes, size, error, sizeof error);
        tensor_free(&tensor);
    }
    return 0;
}
