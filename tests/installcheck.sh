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

# The installed command finds the installed kernels.
skirc=$destdir$bindir/skirc
"$skirc" --version
example=$SKIR_SOURCE/docs/examples/quant_swiglu_small.skir
if [ -z "$destdir" ]; then
    "$skirc" run "$example" --compare unfused >/dev/null
    echo "installcheck: skirc runs an example with the installed kernels"
fi
