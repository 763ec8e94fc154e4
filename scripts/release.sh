#!/usr/bin/env bash
# Make a release, all but the upload: build sdist and wheel, examine them, try the wheel in an empty environment.
#
#   bash scripts/release.sh           # of the last commit, in a clean checkout; writes dist/ and says what is left to do
#   bash scripts/release.sh --check   # what CI does, in ten seconds: builds the checkout as it is, and examines that
#
# VENV         environment with the extra "release" (default: .venv)
# PYTHON       Python of the empty environment (default: that of VENV)
# TORCH_INDEX  index that its torch is taken from (default: the one that pip uses)
#
# Without an index the wheel is tried without its requirements.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
case "${1:-}" in "" | --check) ;; -h | --help) sed -n '2,11p' "$0"; exit ;; *) sed -n '2,11p' "$0" >&2; exit 2 ;; esac
python="${VENV:-.venv}/bin/python"
say() { printf '[release] %s\n' "$*" >&2; }
fail() { say "error: $*"; exit 1; }
work="$(mktemp -d)"; trap 'rm -rf "$work"' EXIT
logged() { "$@" >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; fail "this failed: $*"; }; }

check_version() { # it stands in one place, and what speaks of it agrees
    version="$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' fairseq_plugins/__init__.py)"
    [ -n "$version" ] || fail "fairseq_plugins/__init__.py: no line '__version__ = \"…\"'"
    grep -qx "version: $version" CITATION.cff || fail "CITATION.cff: no line 'version: $version'"
    grep -qE "^## ${version//./\\.}( |$)" CHANGELOG.md || fail "CHANGELOG.md: no heading '## $version'"
}
check_checkout() { # what is built is what will be tagged
    git rev-parse HEAD >/dev/null || fail "a release is made in a clone, with git"
    [ -z "$(git status --porcelain)" ] || fail "files differ from the last commit: git status shows them"
    [ -z "$(git tag --list "v$version")" ] || fail "the tag v$version is there already"
}
tracked() { # PATH...: the files there, each behind a NUL; in a copy without git all but what Python makes
    if git rev-parse HEAD >/dev/null 2>&1; then git ls-files -z -- "$@"; else
        find "$@" \( -name __pycache__ -o -name '*.egg-info' \) -prune -o -type f -print0
    fi
}
build() { # from tracked files alone, in a folder of its own
    mkdir "$work/source"
    # the same commit gives the same wheel, byte for byte, with the same libraries
    SOURCE_DATE_EPOCH="$(git log -1 --format=%ct 2>/dev/null || date +%s)"; export SOURCE_DATE_EPOCH
    tracked fairseq_plugins *.* LICENSE | tar --null -T - -cf - | tar -x -C "$work/source"
    logged "$python" -m build --no-isolation --outdir "$work/dist" "$work/source" # the wheel is made of the sdist
    wheel="$work/dist/fairseq_plugins-$version-py3-none-any.whl"
    [ -f "$wheel" ] || fail "the build made no ${wheel##*/}"
    logged "$python" -m twine check --strict "$work"/dist/*
}
compare_content() { # the wheel holds the package's tracked files, and no other
    tracked fairseq_plugins | tr '\0' '\n' | LC_ALL=C sort >"$work/tracked"
    "$python" -c 'import sys, zipfile; print(*zipfile.ZipFile(sys.argv[1]).namelist(), sep="\n")' "$wheel" |
        grep '^fairseq_plugins/.*[^/]$' | LC_ALL=C sort >"$work/packed"
    diff "$work/tracked" "$work/packed" >&2 || fail "the wheel (>) holds other files than fairseq_plugins/ (<)"
}
try_wheel() { # in an empty environment, far from the checkout
    local env="$work/env/bin"
    "${PYTHON:-$python}" -m venv "$work/env"
    logged try "$env/python" -m pip install --no-deps --no-index "$wheel"
    logged try "$env/python" -c "import fairseq_plugins; assert fairseq_plugins.__version__ == '$version'"
    logged try "$env/fairseq-plugins" --help
    logged try "$env/fairseq-plugins" prepare --help
    if ! try "$env/python" -m pip install packaging >"$work/log" 2>&1; then
        say "no index was reached: the wheel was tried without its requirements"
        return
    fi
    say "installing its requirements (minutes; with GPU libraries, if the index has no other torch)"
    if [ -n "${TORCH_INDEX:-}" ]; then logged try "$env/python" -m pip install --index-url "$TORCH_INDEX" torch; fi
    logged try "$env/python" -m pip install "$wheel"
    logged try "$env/python" -m pip check
    logged try "$env/fairseq-plugins" prepare text --help
    logged try "$env/python" -c "import fairseq_plugins; fairseq_plugins.load, fairseq_plugins.train"
}
try() { (unset PYTHONPATH && cd "$work" && "$@"); }

check_version
[ "${1:-}" = --check ] || check_checkout
say "building $version"
build
compare_content
say "sdist and wheel pass twine check; the wheel holds the $(wc -l <"$work/tracked") files of the package"
if [ "${1:-}" = --check ]; then exit; fi
say "trying the wheel"
try_wheel
rm -rf dist
mv "$work/dist" dist
(cd dist && sha256sum -- *)
cat <<END
dist/ is ready. What is left:
    git tag -a v$version -m "Release $version"
    git push origin v$version
    $python -m twine upload dist/*
END
