# Installing: to any prefix, whatever configure was told, below DESTDIR, and away again. It is done
# in a build folder of its own, since what knows where it is installed is linked again; objects are
# those of the real one. What Debian packages need agrees with the release; making them takes
# minutes (SKIR_DEB=1).
source "${SKIR_SOURCE:?}/tests/tap.sh"
build=$(cd "$(dirname "$SKIRC")" && pwd)
source=$SKIR_SOURCE
version=$(sed -n 's/^AC_INIT(\[skir\], \[\(.*\)\])$/\1/p' "$source/configure.ac")

# ---- Packages ----

check "Debian packages are of this version" \
    grep -q "^skir ($version) " <(head -1 "$source/debian/changelog")
check "so is the extension for VS Code" \
    grep -q "\"version\": \"$version\"" "$source/frontend/support/vscode/package.json"
if ! command -v dh >/dev/null || ! command -v lintian >/dev/null; then
    tap_result ok "Debian packages # SKIP debhelper or lintian is not installed"
elif [ -z "${SKIR_DEB-}" ]; then
    tap_result ok "Debian packages # SKIP they take minutes; SKIR_DEB=1 makes them"
else
    check "make deb makes packages" make -C "$build" deb
    check "lintian accepts them" lintian --fail-on error,warning "$build"/deb/*.changes
fi

# ---- Installation ----

config=$("$build/config.status" --config)
case $config in
*--enable-asan* | *--enable-ubsan* | *--enable-coverage* | *--enable-fuzz*)
    tap_result ok "installation # SKIP this build is for tests only"
    tap_done
    exit
    ;;
esac
mkdir "$scratch/build"
tar -C "$build" --exclude=./tests --exclude=./deb --exclude='*.tar.gz' -cf - . |
    tar -C "$scratch/build" -xf -
cd "$scratch/build" || exit 99
eval "set -- $config"
check "a second build folder is configured" \
    "$source/configure" "$@" --disable-dependency-tracking --quiet
unset MAKEFLAGS MFLAGS MAKELEVEL SKIRC SKIR_SOURCE

home=$scratch/home
check "make install prefix=DIR" make -j2 install prefix="$home"
for file in bin/skirc lib/libskir.so lib/skir/kernels/add.o lib/skir/kernels/skrt.h \
    include/skir/skir.h share/man/man1/skirc.1 share/doc/skir/README.md share/doc/skir/tutorial.md \
    share/doc/skir/examples/quant_swiglu_small.skir share/doc/skir/examples/kernels/gate.skir \
    share/bash-completion/completions/skirc share/zsh/site-functions/_skirc \
    share/vim/vimfiles/syntax/skir.vim share/vim/vimfiles/ftdetect/skir.vim \
    share/skir/python/superkernel/__init__.py \
    share/skir/python/superkernel/super_kernel.py share/skir/vscode/package.json \
    share/skir/vscode/syntaxes/skir.tmLanguage.json; do
    check "there is $file" test -s "$home/$file"
done
check "an installed example runs with the installed kernels" \
    env -C "$scratch" "$home/bin/skirc" run "$home/share/doc/skir/examples/quant_swiglu_small.skir"
check "make installcheck prefix=DIR" make installcheck prefix="$home"
check "make uninstall prefix=DIR" make uninstall prefix="$home"
check_match "nothing is left of it" '^0$' <(find "$home" -type f -o -type l | wc -l)

stage=$scratch/stage
check "make install DESTDIR=DIR prefix=/opt/skir" make -j2 install DESTDIR="$stage" prefix=/opt/skir
check_match "all is below both" '^0$' \
    <(find "$stage" -type f ! -path "$stage/opt/skir/*" | wc -l)
check "nothing that is read by others names DESTDIR" \
    bash -c '! grep -rl "$1" "$2"' - "$scratch" "$stage/opt/skir/lib/pkgconfig"
check_match "kernels are looked for where they will be" "'/opt/skir/lib/skir/kernels'" <(
    env -C "$scratch" "$stage/opt/skir/bin/skirc" run \
        "$stage/opt/skir/share/doc/skir/examples/quant_swiglu_small.skir" 2>&1)
tap_done
