/* Passes of one's own, from outside of the tree: a shared object that --pass-plugin loads.
 *
 *   #include "passes/pass_plugin.h"
 *
 *   static bool pass_mine(struct pass_context *context) { ... }
 *
 *   SKIR_PASS_PLUGIN(
 *       PASS(mine, "mine", AFTER("insert-syncs"), PROPERTY_LOWERED, 0, ENTRIES, "do what I want"))
 *
 * The columns of a row are those of passes/manager/passes.def, but for `where`: FIRST, in front of
 * the pipeline `default`; AFTER a pass, in `default` directly behind that one, and behind what
 * stands there already; or ASKED, only where it is named. Several rows are separated by commas.
 *
 * A plugin calls the functions of skirc itself, those of the headers that are installed beside
 * this one; so it is built by the headers of that skirc which loads it. Its own functions are
 * static. */
#ifndef PASSES_PASS_PLUGIN_H
#define PASSES_PASS_PLUGIN_H

#include "passes/manager/pass.h"
#include "passes/plugin_headers.h"

/* The number of this interface: how a plugin says what passes it has. */
enum { SKIR_PASS_PLUGIN_INTERFACE = 1 };

struct plugin_pass {
    const char *name, *summary;
    pass_function *run;
    const char *after;     /* "": FIRST; NULL: ASKED */
    unsigned needs, gives; /* enum property */
    enum pass_changes changes;
};

/* What a plugin exports, as `skir_pass_plugin`. */
struct pass_plugin {
    uint32_t interface; /* first, in every version */
    uint32_t headers;   /* a sum of the headers that it was built by */
    const struct plugin_pass *passes;
    uint32_t count;
};

#define FIRST ""
#define AFTER(pass) pass
#define ASKED NULL
#define PASS(name, cli, where, needs, gives, changes, summary)                                     \
    {                                                                                              \
        cli, summary, pass_##name, where, needs, gives, CHANGES_##changes                          \
    }
#define SKIR_PASS_PLUGIN(...)                                                                      \
    static const struct plugin_pass plugin_passes[] = {__VA_ARGS__};                               \
    __attribute__((visibility("default"))) const struct pass_plugin skir_pass_plugin = {           \
        SKIR_PASS_PLUGIN_INTERFACE, SKIR_PLUGIN_HEADERS, plugin_passes,                            \
        sizeof plugin_passes / sizeof plugin_passes[0]};

#endif
