/* The option --pass-plugin of commands: passes from outside of the tree
 * (passes/pass_plugin.h). */
#ifndef FRONTEND_DRIVER_PASS_PLUGINS_H
#define FRONTEND_DRIVER_PASS_PLUGINS_H

#include "frontend/driver/command.h"
#include "passes/manager/pipeline.h"

#define PASS_PLUGIN_OPTION                                                                         \
    {                                                                                              \
        "pass-plugin", 0, OPTION_MANY, "FILE.so", "passes of one's own, from there; adds up"       \
    }

/* All passes that a command has. Zero-initialised there are none. */
struct pass_plugins {
    struct pass_table table;
    VEC(struct loaded_plugin {
        void *handle; /* of dlopen */
        struct pass *passes;
    })
    loaded;
};

/* Loads what the option names, in that order. EXIT_INPUT, with a message, for a file that is no
 * plugin, or not one for this skirc; there is something to be closed then, too. */
enum exit_status pass_plugins_open(struct pass_plugins *plugins,
                                   const struct invocation *invocation);
void pass_plugins_close(struct pass_plugins *plugins);

#endif
