// Launches a super kernel that skirc has made, on an NPU, and compares what it computes.
//
//     launch OBJECT.o INFO.json ARGUMENT... [--device=N] [--timeout=MS]
//
// INFO.json is what `skirc compile --emit=compile-info` prints of the one entry in OBJECT.o, beside which
// is its OBJECT.json. An ARGUMENT is PLACE,PLACE,...=WHAT. A place is OP.N: the parameter N of the op
// number OP, both from 0, in the order of the compile info. All its places get the address of one buffer:
//
//     0.0,2.1=x.npy     with the contents of x.npy
//     0.2,1.0=65536     of so many bytes, zeroed, for a value between ops
//     1.2=?y.npy        zeroed, which must have the contents of y.npy at the end; what it has instead
//                       is written to y.npy.device
//     1.3=@7            a word of 64 bits with this value: of a tiling key, a number of blocks, a lock
//
// Status 0: all that is compared is equal. 1: something differs. 2: wrong usage, or the runtime failed.
#include "acl/acl.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

// The address of the memory by which cores synchronise: what slot 0 is. Releases of the runtime have it
// by one of these names, and some headers declare them deprecated.
extern "C" {
int32_t rtsGetInterCoreSyncAddr(uint64_t *address, uint32_t *size) __attribute__((weak));
int32_t rtGetC2cCtrlAddr(uint64_t *address, uint32_t *size) __attribute__((weak));
}

namespace {

using Bytes = std::vector<char>;

[[noreturn]] void fail(const std::string &what)
{
    std::fprintf(stderr, "launch: %s\n", what.c_str());
    std::exit(2);
}

void check(aclError error, const char *call)
{
    if (error == ACL_SUCCESS)
        return;
    const char *message = aclGetRecentErrMsg();
    fail(std::string(call) + " failed: " + std::to_string(error) + (message ? std::string("\n") + message : ""));
}

Bytes read_file(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    if (!file)
        fail("cannot read '" + path + "'");
    return Bytes(std::istreambuf_iterator<char>(file), {});
}

// ---- Compile info ----

// The lists of numbers of a member: one list, or a list of lists. Of events, whose names may be strings,
// only their number counts.
std::vector<std::vector<uint64_t>> lists_of(const std::string &json, const std::string &key)
{
    size_t at = json.find("\"" + key + "\":");
    if (at == std::string::npos)
        fail("the compile info has no " + key);
    at += key.size() + 3;
    std::vector<std::vector<uint64_t>> lists;
    int depth = 0;
    do {
        while (at < json.size() && std::strchr(" \t\n,", json[at]))
            at++;
        if (at >= json.size())
            fail("the compile info ends in " + key);
        if (json[at] == '[') {
            depth++;
            lists.emplace_back();
        } else if (json[at] == ']') {
            depth--;
        } else if (json[at] == '"') {
            lists.back().push_back(0);
            at = json.find('"', at + 1);
        } else if (depth) {
            lists.back().push_back(std::strtoull(&json[at], nullptr, 10));
            at = json.find_first_of(",] \t\n", at) - 1;
        } else {
            return {{std::strtoull(&json[at], nullptr, 10)}};
        }
        at++;
    } while (depth);
    // The outer list of lists is none itself.
    if (lists.size() > 1)
        lists.erase(lists.begin());
    return lists;
}

uint64_t number_of(const std::string &json, const std::string &key)
{
    return lists_of(json, key)[0].at(0);
}

std::string string_of(const std::string &json, const std::string &key)
{
    size_t at = json.find("\"" + key + "\":");
    size_t begin = at == std::string::npos ? at : json.find('"', at + key.size() + 3);
    if (begin == std::string::npos)
        fail("the compile info has no " + key);
    return json.substr(begin + 1, json.find('"', begin + 1) - begin - 1);
}

// What the host must know of the launch.
struct Launch {
    std::string name;
    uint32_t blocks;
    uint64_t workspace;
    std::vector<uint64_t> params, sends, receives; // first slots, by op
    std::vector<size_t> sent, received;            // numbers of events, by op
    uint64_t end;                                  // of the slots of ops

    explicit Launch(const std::string &json)
        : name(string_of(json, "kernel_name")), blocks((uint32_t)number_of(json, "block_num")),
          workspace(number_of(json, "workspace_size")), params(lists_of(json, "param_offset")[0]),
          sends(lists_of(json, "notify_param_offset")[0]), receives(lists_of(json, "wait_param_offset")[0])
    {
        for (const auto &events : lists_of(json, "send_event_list"))
            sent.push_back(events.size());
        for (const auto &events : lists_of(json, "recv_event_list"))
            received.push_back(events.size());
        if (params.empty() || sent.size() != params.size() || received.size() != params.size())
            fail("the compile info is not of one entry");
        end = receives.back() + received.back();
    }

    bool has_sync_base() const
    {
        return params[0] == 1;
    }
};

// ---- Arrays ----

// Where the data of a .npy file begins, and the bytes of an element.
std::pair<size_t, size_t> npy_data(const std::string &path, const Bytes &file)
{
    if (file.size() < 12 || std::memcmp(file.data(), "\x93NUMPY", 6) != 0)
        fail("'" + path + "' is no .npy file");
    size_t wide = file[6] >= 2 ? 4 : 2, length = 0;
    for (size_t i = 0; i < wide; i++)
        length |= (size_t)(unsigned char)file[8 + i] << 8 * i;
    size_t data = 8 + wide + length;
    if (data > file.size())
        fail("'" + path + "' is truncated");
    std::string header(file.data() + 8 + wide, length);
    size_t descr = header.find_first_of("0123456789", header.find("descr"));
    size_t element = descr == std::string::npos ? 1 : std::strtoull(&header[descr], nullptr, 10);
    return {data, element ? element : 1};
}

// ---- Buffers ----

struct Buffer {
    void *address = nullptr;
    size_t size = 0;
    std::string expected; // a file to compare with, or none
};

class Device {
public:
    Device(int32_t number)
    {
        check(aclInit(nullptr), "aclInit");
        check(aclrtSetDevice(number), "aclrtSetDevice");
        check(aclrtCreateStream(&stream), "aclrtCreateStream");
    }

    Buffer buffer(size_t size, const void *contents)
    {
        Buffer made;
        made.size = size;
        size_t room = (size + 63) / 64 * 64; // a line of the cache is no one else's
        check(aclrtMalloc(&made.address, room ? room : 64, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
        check(aclrtMemset(made.address, room ? room : 64, 0, room ? room : 64), "aclrtMemset");
        if (contents && size)
            check(aclrtMemcpy(made.address, size, contents, size, ACL_MEMCPY_HOST_TO_DEVICE), "aclrtMemcpy");
        return made;
    }

    Buffer word(uint64_t value)
    {
        return buffer(sizeof value, &value);
    }

    Bytes contents(const Buffer &of)
    {
        Bytes bytes(of.size);
        if (of.size)
            check(aclrtMemcpy(bytes.data(), of.size, of.address, of.size, ACL_MEMCPY_DEVICE_TO_HOST), "aclrtMemcpy");
        return bytes;
    }

    void launch(const std::string &object, const Launch &launch, std::vector<uint64_t> slots, int32_t timeout)
    {
        aclrtBinHandle binary = nullptr;
        aclrtFuncHandle function = nullptr;
        aclrtArgsHandle arguments = nullptr;
        check(aclrtBinaryLoadFromFile(object.c_str(), nullptr, &binary), "aclrtBinaryLoadFromFile");
        check(aclrtBinaryGetFunction(binary, launch.name.c_str(), &function), "aclrtBinaryGetFunction");
        check(aclrtKernelArgsInit(function, &arguments), "aclrtKernelArgsInit");
        for (uint64_t &slot : slots) {
            aclrtParamHandle parameter = nullptr;
            check(aclrtKernelArgsAppend(arguments, &slot, sizeof slot, &parameter), "aclrtKernelArgsAppend");
        }
        check(aclrtKernelArgsFinalize(arguments), "aclrtKernelArgsFinalize");
        check(aclrtLaunchKernelWithConfig(function, launch.blocks, stream, nullptr, arguments, nullptr),
              "aclrtLaunchKernelWithConfig");
        check(aclrtSynchronizeStreamWithTimeout(stream, timeout), "aclrtSynchronizeStreamWithTimeout");
        check(aclrtBinaryUnLoad(binary), "aclrtBinaryUnLoad");
    }

private:
    aclrtStream stream = nullptr;
};

Buffer buffer_of(Device &device, const std::string &what)
{
    if (what.empty())
        fail("an argument without contents");
    if (what[0] == '@')
        return device.word(std::strtoull(what.c_str() + 1, nullptr, 0));
    if (what.find_first_not_of("0123456789") == std::string::npos)
        return device.buffer(std::strtoull(what.c_str(), nullptr, 10), nullptr);
    std::string path = what[0] == '?' ? what.substr(1) : what;
    Bytes file = read_file(path);
    size_t data = npy_data(path, file).first;
    Buffer made = device.buffer(file.size() - data, what[0] == '?' ? nullptr : file.data() + data);
    made.expected = what[0] == '?' ? path : "";
    return made;
}

// ---- Arguments ----

uint64_t slot_of(const Launch &launch, const std::string &place)
{
    char *end = nullptr;
    uint64_t op = std::strtoull(place.c_str(), &end, 10), param = 0;
    bool ok = *end == '.';
    if (ok)
        param = std::strtoull(end + 1, &end, 10);
    if (!ok || *end || op >= launch.params.size() || launch.params[op] + param >= launch.sends[op])
        fail("'" + place + "' is no parameter of an op");
    return launch.params[op] + param;
}

// The addresses of all slots, in their order.
std::vector<uint64_t> slots_of(Device &device, const Launch &launch, const std::vector<std::string> &arguments,
                               std::vector<Buffer> &compared)
{
    enum { OPTIONAL = 4 }; // of the workspace and of records: 0 where nothing is recorded
    std::vector<uint64_t> slots(launch.end + OPTIONAL, 0);
    for (const std::string &argument : arguments) {
        size_t equals = argument.find('=');
        if (equals == std::string::npos)
            fail("'" + argument + "' is not PLACE=WHAT");
        Buffer buffer = buffer_of(device, argument.substr(equals + 1));
        if (!buffer.expected.empty())
            compared.push_back(buffer);
        for (size_t at = 0; at < equals;) {
            size_t comma = std::min(argument.find(',', at), equals);
            slots[slot_of(launch, argument.substr(at, comma - at))] = (uint64_t)buffer.address;
            at = comma + 1;
        }
    }
    for (size_t op = 0; op < launch.params.size(); op++) {
        for (uint64_t slot = launch.params[op]; slot < launch.sends[op]; slot++)
            if (!slots[slot])
                fail("the parameter " + std::to_string(op) + "." + std::to_string(slot - launch.params[op]) +
                     " has no argument");
        // Nothing else runs: what the launch waits for has come.
        for (size_t i = 0; i < launch.sent[op]; i++)
            slots[launch.sends[op] + i] = (uint64_t)device.word(0).address;
        for (size_t i = 0; i < launch.received[op]; i++)
            slots[launch.receives[op] + i] = (uint64_t)device.word(1).address;
    }
    if (launch.workspace)
        slots[launch.end] = (uint64_t)device.buffer(launch.workspace, nullptr).address;
    if (launch.has_sync_base()) {
        uint32_t size = 0;
        auto *address_of = rtsGetInterCoreSyncAddr ? rtsGetInterCoreSyncAddr : rtGetC2cCtrlAddr;
        if (!address_of || address_of(&slots[0], &size) != 0)
            fail("the runtime does not give the address of the cross-core control area");
    }
    return slots;
}

// ---- Results ----

bool is_equal(Device &device, const Buffer &buffer)
{
    Bytes file = read_file(buffer.expected), found = device.contents(buffer);
    auto [data, element] = npy_data(buffer.expected, file);
    size_t count = 0, first = 0;
    for (size_t at = 0; at < found.size(); at += element)
        if (std::memcmp(&found[at], &file[data + at], std::min(element, found.size() - at)) != 0 && count++ == 0)
            first = at / element;
    if (count == 0) {
        std::printf("%s: equal\n", buffer.expected.c_str());
        return true;
    }
    std::printf("%s: %zu of %zu elements differ, the first is number %zu; see '%s.device'\n",
                buffer.expected.c_str(), count, found.size() / element, first, buffer.expected.c_str());
    std::ofstream out(buffer.expected + ".device", std::ios::binary);
    out.write(file.data(), (std::streamsize)data).write(found.data(), (std::streamsize)found.size());
    return false;
}

} // namespace

int main(int argc, char **argv)
{
    std::vector<std::string> words, arguments;
    int32_t number = 0, timeout = 10000;
    for (int i = 1; i < argc; i++) {
        std::string word = argv[i];
        if (word.rfind("--device=", 0) == 0)
            number = std::atoi(argv[i] + 9);
        else if (word.rfind("--timeout=", 0) == 0)
            timeout = std::atoi(argv[i] + 10);
        else
            (words.size() < 2 ? words : arguments).push_back(word);
    }
    if (words.size() < 2)
        fail("usage: launch OBJECT.o INFO.json PLACE,...=WHAT... [--device=N] [--timeout=MS]");
    Bytes json = read_file(words[1]);
    Launch launch(std::string(json.begin(), json.end()));
    Device device(number);
    std::vector<Buffer> compared;
    std::vector<uint64_t> slots = slots_of(device, launch, arguments, compared);
    device.launch(words[0], launch, slots, timeout);
    bool equal = true;
    for (const Buffer &buffer : compared)
        equal = is_equal(device, buffer) && equal;
    return equal ? 0 : 1;
}
