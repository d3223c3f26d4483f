# tests/installcheck.sh DESTDIR BINDIR PKGCONFIGDIR: what a user of the installation does first.
# Run by `make installcheck`.
set -euo pipefail

destdir=$1 bindir=$2 pkgconfigdir=$3
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT

export PKG_CONFIG_PATH=$destdir$pkgconfigdir
[ -z "$destdir" ] || export PKG_CONFIG_SYSROOT_DIR=$destdir

# A program on the installed runtime, by nothing but pkg-config.
cat >"$scratch/use_skrt.c" <<'END'
#include <skir/skrt.h>
#include <stdio.h>

int main(void)
{
    struct skrt_device_config config = {.aic = 1, .aiv = 2, .threads = 1};
    struct skrt_device *device = skrt_device_open(&config);
    if (!device)
        return 1;
    skrt_device_close(device);
    return puts(skrt_status_text(SKRT_OK)) < 0;
}
END
flags=$($PKG_CONFIG --cflags --libs skrt)
libdir=$($PKG_CONFIG --variable=libdir skrt)
# shellcheck disable=SC2086 # several words on purpose
$CC -o "$scratch/use_skrt" "$scratch/use_skrt.c" $flags -Wl,-rpath,"$libdir"
"$scratch/use_skrt" >/dev/null
echo "installcheck: a program builds and runs with skrt.pc"

# The installed command finds the installed kernels and headers, wherever it is called: what it
# needs of the source tree is one example.
skirc=$destdir$bindir/skirc
cp "$SKIR_SOURCE/docs/examples/quant_swiglu_small.skir" "$scratch/example.skir"
cd "$scratch"
unset SKIR_SOURCE
"$skirc" --version
"$skirc" check example.skir
if [ -n "$destdir" ]; then
    echo "installcheck: kernels are looked for where they will be, not in DESTDIR"
    exit 0
fi
"$skirc" run example.skir --compare unfused | grep -q 'bit-exact$'
echo "installcheck: skirc runs an example with the installed kernels"

# An object that it compiled becomes part of a program on the installed runtime.
"$skirc" compile example.skir -o example.o
cat >launch.c <<'END'
#include <skir/skrt.h>
#include <stdio.h>

extern skrt_entry_fn decode_sp1;

int main(void)
{
    struct skrt_device_config config = {.aic = 24, .aiv = 48};
    struct skrt_device *device = skrt_device_open(&config);
    struct skrt_launch launch = {.entry = decode_sp1, .blocks = 1000, .aics = 1, .aivs = 2};
    struct skrt_result result;
    if (!device || skrt_launch(device, &launch, &result) != SKRT_INVALID)
        return 1;
    skrt_device_close(device);
    return 0;
}
END
# shellcheck disable=SC2086 # several words on purpose
$CC -o launch launch.c example.o $flags -lm -Wl,-rpath,"$libdir"
./launch
echo "installcheck: an object that skirc compiled links with skrt.pc"

# A pass from outside of the tree, built by the installed headers.
cat >no_pass.c <<'END'
#include "passes/pass_plugin.h"

static bool pass_no_pass(struct pass_context *context)
{
    return context->module != NULL;
}

SKIR_PASS_PLUGIN(PASS(no_pass, "no-pass", AFTER("bind-kernels"), 0, 0, NOTHING, "do nothing"))
END
# shellcheck disable=SC2046 # several words on purpose
$CC -shared -fPIC $($PKG_CONFIG --cflags skir-plugin) -o no_pass.so no_pass.c
"$skirc" opt --pass-plugin=no_pass.so --list-passes | grep -q '^no-pass '
"$skirc" compile --pass-plugin=no_pass.so example.skir -o example.o
echo "installcheck: skirc loads a pass that is built by skir-plugin.pc"
