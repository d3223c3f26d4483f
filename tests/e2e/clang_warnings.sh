# A checkout can be built by clang, which warns of things that gcc lets pass: sanitizers and fuzz
# targets need it.
source "${SKIR_SOURCE:?}/tests/tap.sh"

command -v clang >/dev/null || tap_skip_all "clang is not installed"
[ -e "$SKIR_SOURCE/.git" ] || tap_skip_all "this is no checkout"
build=$(cd "$(dirname "$SKIRC")" && pwd)
flags="-std=gnu11 -Wall -Wextra -Werror -DHAVE_CONFIG_H -DREPLAY"
flags="$flags -I$build -I$SKIR_SOURCE -I$SKIR_SOURCE/ir"
flags="$flags -DSKIR_KERNEL_DIR=\"\" -DSKIR_INCLUDE_DIR=\"\""

# Kernels are compiled by cc alone, with flags of their own.
takes() # PATTERN...
{
    git -C "$SKIR_SOURCE" ls-files "$@" | grep -v '^backend/kernels/' |
        (cd "$SKIR_SOURCE" && xargs -P2 -n8 clang -fsyntax-only $flags)
}

for room in ir passes backend frontend tests/unit tests/fuzz; do
    check "clang takes $room without a warning" takes "$room/*.c"
done
tap_done
