/* Those declarations of the runtime's acl/acl.h that docs/examples/ascend_launch uses, for machines
 * without it. */
#ifndef TESTS_ACL_STUB_ACL_ACL_H
#define TESTS_ACL_STUB_ACL_ACL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int aclError;
static const int ACL_SUCCESS = 0;

typedef void *aclrtStream, *aclrtBinHandle, *aclrtFuncHandle, *aclrtArgsHandle, *aclrtParamHandle;
typedef struct aclrtBinaryLoadOptions aclrtBinaryLoadOptions;
typedef struct aclrtLaunchKernelCfg aclrtLaunchKernelCfg;
typedef enum { ACL_MEM_MALLOC_HUGE_FIRST } aclrtMemMallocPolicy;
typedef enum {
    ACL_MEMCPY_HOST_TO_HOST,
    ACL_MEMCPY_HOST_TO_DEVICE,
    ACL_MEMCPY_DEVICE_TO_HOST
} aclrtMemcpyKind;

aclError aclInit(const char *config);
const char *aclGetRecentErrMsg(void);
aclError aclrtSetDevice(int32_t device);
aclError aclrtCreateStream(aclrtStream *stream);
aclError aclrtMalloc(void **address, size_t size, aclrtMemMallocPolicy policy);
aclError aclrtMemset(void *address, size_t room, int32_t value, size_t size);
aclError aclrtMemcpy(void *to, size_t room, const void *from, size_t size, aclrtMemcpyKind kind);
aclError aclrtBinaryLoadFromFile(const char *path, aclrtBinaryLoadOptions *options,
                                 aclrtBinHandle *binary);
aclError aclrtBinaryUnLoad(aclrtBinHandle binary);
aclError aclrtBinaryGetFunction(const aclrtBinHandle binary, const char *name,
                                aclrtFuncHandle *function);
aclError aclrtKernelArgsInit(aclrtFuncHandle function, aclrtArgsHandle *arguments);
aclError aclrtKernelArgsAppend(aclrtArgsHandle arguments, void *value, size_t size,
                               aclrtParamHandle *parameter);
aclError aclrtKernelArgsFinalize(aclrtArgsHandle arguments);
aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle function, uint32_t blocks, aclrtStream stream,
                                     aclrtLaunchKernelCfg *config, aclrtArgsHandle arguments,
                                     void *reserved);
aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout);

#ifdef __cplusplus
}
#endif

#endif
