#include "ir/base/array_kinds.h"

#include <string.h>
#include <strings.h>

static const struct name_row {
    const char *suffix, *what;
} names[] = {
    {".npz", "an archive of NumPy's savez"},
    {".pt", "a file of PyTorch's save"},
    {".pth", "a file of PyTorch's save"},
    {".ckpt", "a file of PyTorch's save"},
    {".pkl", "a pickle of Python's"},
    {".pickle", "a pickle of Python's"},
    {".csv", "text"},
    {".tsv", "text"},
    {".json", "text"},
    {".h5", "an HDF5 file"},
    {".hdf5", "an HDF5 file"},
    {".safetensors", "a file of safetensors"},
    {".gz", "compressed"},
    {".zip", "a ZIP archive"},
};

#define SIGNATURE(text) text, sizeof text - 1

static const struct signature_row {
    const char *bytes;
    size_t size;
    const char *what;
} signatures[] = {
    {SIGNATURE("PK\3\4"), "a ZIP archive, as NumPy's savez and PyTorch's save write them"},
    {SIGNATURE("\x80\2\x8a\nl\xfc\x9c"
               "F\xf9 j\xa8P\x19"),
     "a file of PyTorch's save"},
    {SIGNATURE("\x89HDF\r\n\x1a\n"), "an HDF5 file"},
};

const char *array_kind_by_name(const char *path, size_t size)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t suffix = strlen(names[i].suffix);
        if (size > suffix && strncasecmp(path + size - suffix, names[i].suffix, suffix) == 0)
            return names[i].what;
    }
    return NULL;
}

const char *array_kind_by_bytes(const void *bytes, size_t size)
{
    for (size_t i = 0; i < sizeof signatures / sizeof signatures[0]; i++)
        if (size >= signatures[i].size &&
            memcmp(bytes, signatures[i].bytes, signatures[i].size) == 0)
            return signatures[i].what;
    return NULL;
}
