// A runtime without a device: it prints what it is asked for, and its launch does what the ops of
// tests/cli/compile/ascend_launch.py do: y = x + x, then z = y + x, of bytes.
#include "acl/acl.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

static std::map<uint64_t, size_t> buffers; // address, size
static std::vector<uint64_t> slots;

static bool fails(const char *call)
{
    const char *name = std::getenv("STUB_FAILS");
    return name && std::strcmp(name, call) == 0;
}

extern "C" {
aclError aclInit(const char *) { return 0; }
const char *aclGetRecentErrMsg(void) { return "the device is on fire"; }
aclError aclrtSetDevice(int32_t device)
{
    std::printf("device %d\n", device);
    return 0;
}
aclError aclrtCreateStream(aclrtStream *) { return 0; }
aclError aclrtMalloc(void **address, size_t size, aclrtMemMallocPolicy)
{
    *address = std::calloc(1, size);
    buffers[(uint64_t)*address] = size;
    return 0;
}
aclError aclrtMemset(void *address, size_t, int32_t value, size_t size)
{
    std::memset(address, value, size);
    return 0;
}
aclError aclrtMemcpy(void *to, size_t, const void *from, size_t size, aclrtMemcpyKind)
{
    std::memcpy(to, from, size);
    return 0;
}
aclError aclrtBinaryLoadFromFile(const char *path, aclrtBinaryLoadOptions *, aclrtBinHandle *)
{
    std::printf("load %s\n", path);
    return 0;
}
aclError aclrtBinaryUnLoad(aclrtBinHandle) { return 0; }
aclError aclrtBinaryGetFunction(const aclrtBinHandle, const char *name, aclrtFuncHandle *)
{
    std::printf("function %s\n", name);
    return fails("aclrtBinaryGetFunction") ? 107000 : 0;
}
aclError aclrtKernelArgsInit(aclrtFuncHandle, aclrtArgsHandle *) { return 0; }
aclError aclrtKernelArgsAppend(aclrtArgsHandle, void *value, size_t size, aclrtParamHandle *)
{
    slots.push_back(*(uint64_t *)value);
    return size == 8 ? 0 : 1;
}
aclError aclrtKernelArgsFinalize(aclrtArgsHandle) { return 0; }
aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle, uint32_t blocks, aclrtStream,
                                     aclrtLaunchKernelCfg *, aclrtArgsHandle, void *)
{
    std::printf("launch %u\n", blocks);
    std::map<uint64_t, int> numbers;
    for (uint64_t slot : slots) {
        if (!buffers.count(slot)) {
            std::printf("slot %#llx\n", (unsigned long long)slot);
            continue;
        }
        int number = numbers.emplace(slot, (int)numbers.size()).first->second;
        std::printf("slot %d of %zu: %llu\n", number, buffers[slot],
                    (unsigned long long)*(uint64_t *)slot);
    }
    size_t first = std::getenv("STUB_FIRST") ? std::atoi(std::getenv("STUB_FIRST")) : 1;
    for (size_t op = 0; op < 2; op++) {
        auto *x = (unsigned char *)slots[first], *w = (unsigned char *)slots[first + 1];
        auto *y = (unsigned char *)slots[first + 2];
        for (size_t i = 0; i < 64; i++)
            y[i] = (unsigned char)(x[i] + w[i]);
        first += 3 + (std::getenv("STUB_SENT") ? std::atoi(std::getenv("STUB_SENT")) : 1);
    }
    return 0;
}
aclError aclrtSynchronizeStreamWithTimeout(aclrtStream, int32_t) { return 0; }
int32_t rtsGetInterCoreSyncAddr(uint64_t *address, uint32_t *)
{
    *address = 0xff75;
    return 0;
}
}
