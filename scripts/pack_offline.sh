#!/usr/bin/env bash
# Pack what these plug-ins need on a node without a network whose Python has torch and the usual libraries, not fairseq.
#
#   bash scripts/pack_offline.sh OUT [options]   # here, after set-up (VENV); OUT becomes a new folder
#   bash OUT/pack_offline.sh --unpack OUT DIR    # on the node: bash, coreutils, tar, gzip and python3 are enough
#
# --python 3.12   the node's Python (on Linux, with a processor of this machine's kind)
# --encoder DIR   a Hugging Face directory, or all-MiniLM-L6-v2; its weights are rounded to half precision
# --data FOLDER   a prepared folder; may be given several times
# --with PACKAGE  a package of requirements.lock that the node lacks as well; may be given several times
# --project       the last commit of this checkout, where the node has none
# --wheels DIR    take the wheels that lie in this folder and download nothing
# --pieces MB     cut the pack into pieces of so many megabytes (default: one piece)
#
# --unpack prints the two lines that activate the pack. PYTHON names the node's Python (default: python3), and CHECKOUT
# the checkout that is used if the pack holds none (default: the one that this script lies in).
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
VENV="${VENV:-$here/.venv}" PYTHON="${PYTHON:-python3}"
BUILT="${FAIRSEQ_WHEEL:-${XDG_CACHE_HOME:-${HOME:-$VENV}/.cache}/fairseq_plugins/wheels}" # by set-up
SOURCE="antlr4-python3-runtime" # no wheel is published, and it holds no compiled code
NEEDED=(hydra-core omegaconf bitarray argcomplete submitit cloudpickle sacremoses subword-nmt typing-extensions
    pydantic pydantic-core annotated-types typing-inspection confection srsly catalogue markdown-it-py mdurl)
EXPECTED=(torch numpy scipy pandas sklearn safetensors tokenizers sentencepiece sacrebleu regex tqdm yaml packaging
    portalocker jinja2 matplotlib) # modules that the node has
say() { printf '[pack] %s\n' "$*" >&2; }
fail() { say "error: $*"; exit 1; }

entries() { # NAME...: what the lock says of these packages
    awk -v names=" $* " '/^[a-z0-9]/ {name = $0; sub(/==.*/, "", name); kept = index(names, " " name " ")} kept' \
        "$here/requirements.lock"
}
pip() { "$VENV/bin/python" -m pip --disable-pip-version-check "$@" --no-deps --require-hashes >>"$part/log" 2>&1; }
download() { # OPTION...: wheels for the node, each compared with its hash
    pip download --only-binary=:all: --python-version "$python" --dest "$part/wheels" --platform "linux_$(uname -m)" \
        --platform "manylinux_2_28_$(uname -m)" --platform "manylinux2014_$(uname -m)" "$@"
}
find_wheels() { # PACKAGE...
    local name kept
    mkdir "$part/wheels"
    for name; do [ -n "$(entries "$name")" ] || fail "--with $name: requirements.lock has no such package"; done
    say "taking $# wheels, $SOURCE and fairseq for Python $python (27 MB)"
    entries "$@" >"$part/needed.txt"
    for name in "$SOURCE" fairseq-fixed; do entries "$name" >"$part/$name.txt"; done
    download -r "$part/needed.txt" &&
        pip wheel --no-build-isolation -r "$part/$SOURCE.txt" --wheel-dir "$part/wheels" || fail "$(tail -n 1 "$part/log")"
    if download -r "$part/fairseq-fixed.txt"; then return; fi
    for kept in "$BUILT/fairseq-fixed==$(sed -n '1s/.*==\([^ ]*\).*/\1/p' "$part/fairseq-fixed.txt")-cpython-${python/./}-"*; do
        if download --no-index --find-links "$kept" -r "$kept/requirements.txt"; then return; fi
    done
    fail "fairseq has no wheel for Python $python, and none was built here: PYTHON=python$python bash scripts/setup.sh"
}
unzip_wheels() { # FOLDER: less what only non-autoregressive models, BASE layers and simultaneous translation load
    local wheel
    for wheel in "$1"/*.whl; do
        "$VENV/bin/python" -m zipfile -e "$wheel" "$pack/site" 2>/dev/null || fail "$wheel is no wheel"
    done
    (cd "$pack/site" && rm -rf ./*.data fairseq/examples fairseq/lib{nat,nat_cuda,base}.*.so alignment_train_c*_binding.*.so)
}
write_commands() { # as small files: those that pip writes name a Python of this machine
    local name
    for name in fairseq_cli.{preprocess,train,generate,interactive,validate,score} fairseq_plugins; do
        printf '#!/bin/sh\nexec "${PYTHON:-python3}" -m %s "$@"\n' "$name" >"$pack/bin/fairseq-${name##*[._]}"
    done
    chmod +x "$pack/bin"/*
}
write_pieces() { # the same content gives the same bytes
    tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=a+rX,u+w -C "$pack" -cf - . | gzip -n |
        split -d -a 3 -b "${pieces:-1000000}MB" - "$part/out/pack.tar.gz."
    cp "${BASH_SOURCE[0]}" "$part/out/pack_offline.sh"
    set -- "$part/out"/pack.tar.gz.*
    echo "# $# pieces, $(cat "$@" | wc -c) bytes, for Python $python" >"$part/out/SHA256SUMS"
    (cd "$part/out" && sha256sum pack.tar.gz.* >>SHA256SUMS)
}
pack() { # OUT OPTION...
    local out="$1" python=3.12 encoder="" project="" wheels="" pieces="" folder part pack data=() with=()
    shift
    while [ $# -gt 0 ]; do
        case "$1" in
            --project) project=yes; set -- "$1" - "${@:2}" ;;
            --python) python="${2:-}" ;; --encoder) encoder="${2:-}" ;; --wheels) wheels="${2:-}" ;;
            --pieces) pieces="${2:-}" ;; --data) data+=("${2:-}") ;; --with) with+=("${2:-}") ;;
            *) fail "$1: no such option (--help lists them)" ;;
        esac
        [ -n "${2:-}" ] || fail "$1: its value is missing"
        shift 2
    done
    [[ "$python" =~ ^3\.[0-9]+$ ]] || fail "--python $python: expected a version like 3.12"
    [[ "$pieces" =~ ^([1-9][0-9]*)?$ ]] || fail "--pieces $pieces: expected a number of megabytes"
    [ -x "$VENV/bin/python" ] || fail "no environment in $VENV: bash scripts/setup.sh makes it, VENV names another"
    [ ! -e "$out" ] || fail "$out is there already"
    part="$(realpath -m -- "$out").part$$" pack="$(realpath -m -- "$out").part$$/pack"
    trap "rm -rf $(printf %q "$part")" EXIT
    mkdir -p "$pack"/{site,bin,data-bin} "$part/out"
    echo "$python" >"$pack/python"
    for folder in "${data[@]}"; do
        [ -f "$folder/manifest.json" ] || fail "$folder is no prepared folder: no manifest.json"
        [ ! -e "$pack/data-bin/$(basename "$folder")" ] || fail "two folders are called $(basename "$folder")"
        cp -rL "$folder" "$pack/data-bin/"
    done
    [ -z "$encoder" ] || PYTHONPATH="$here" "$VENV/bin/python" "$here/scripts/halve_encoder.py" "$encoder" "$pack"
    [ -n "$wheels" ] || find_wheels "${NEEDED[@]}" "${with[@]}"
    unzip_wheels "${wheels:-$part/wheels}"
    write_commands
    [ -z "$project" ] || git -C "$here" archive --prefix project/ HEAD | tar -x -C "$pack"
    write_pieces
    du -sh --apparent-size "$pack"/{site,encoder,project} "$pack"/data-bin/* 2>/dev/null | sed "s|$pack/||" >&2 || true
    mv "$part/out" "$out"
    say "$out: $(sed -n '1s/^# //p' "$out/SHA256SUMS")"
}

check_pieces() { # OUT: all of them are there and as they were written
    local sums="$1/SHA256SUMS" count name names
    [ -f "$sums" ] || fail "$1 holds no pack: SHA256SUMS is missing"
    count="$(sed -n '1s/^# \([0-9]*\) pieces.*/\1/p' "$sums")"
    mapfile -t names < <(sed -n 's/^[0-9a-f]\{64\}  \(pack\.tar\.gz\.[0-9]\{3\}\)$/\1/p' "$sums")
    [ "${#names[@]}" = "$count" ] || fail "$sums is damaged: copy it again"
    for name in "${names[@]}"; do
        [ -f "$1/$name" ] || fail "$1/$name is missing: the pack has $count pieces"
        (cd "$1" && grep -- "  $name\$" SHA256SUMS | sha256sum --check --status) || fail "$1/$name is damaged: copy it again"
        pieces+=("$1/$name")
    done
}
look_at_python() { # DIR: say what will not go with the node's Python
    local own lacking
    own="$("$PYTHON" -c 'import sys; print("%d.%d" % sys.version_info[:2])')" || fail "$PYTHON does not run"
    [ "$own" = "$(cat "$1/python")" ] || say "warning: $PYTHON is Python $own, the pack for $(cat "$1/python")"
    lacking="$(PYTHONPATH="$1/site" "$PYTHON" -c 'import importlib.util, sys
print(*[name for name in sys.argv[1:] if importlib.util.find_spec(name) is None])' "${EXPECTED[@]}")"
    [ -z "$lacking" ] || say "warning: $PYTHON lacks $lacking"
}
unpack() { # OUT DIR
    local dir part checkout pieces=()
    dir="$(realpath -m -- "$2")" part="$(realpath -m -- "$2").part$$"
    [ ! -e "$dir" ] || fail "$dir is there already"
    check_pieces "$1"
    trap "rm -rf $(printf %q "$part")" EXIT
    mkdir -p "$part"
    ! cat "${pieces[@]}" | tar -tvzf - | grep -E '^[^d-]| /|[ /]\.\.(/|$)' >&2 || fail "$1 holds more than files of its own"
    cat "${pieces[@]}" | tar -xzf - --no-same-owner -C "$part"
    checkout="$(realpath -m -- "${CHECKOUT:-$here}")"
    if [ -d "$part/project" ]; then checkout="$dir/project"; elif [ ! -d "$checkout/fairseq_plugins" ]; then
        fail "$checkout is no checkout of the plug-ins and the pack holds none: CHECKOUT=FOLDER names it"
    fi
    look_at_python "$part"
    mv "$part" "$dir"
    printf 'export PYTHONPATH=%q:%q"${PYTHONPATH:+:$PYTHONPATH}"\nexport PATH=%q:"$PATH"\n' "$dir/site" "$checkout" "$dir/bin"
}

case "${1:-}" in
    "" | -h | --help) sed -n '2,17p' "${BASH_SOURCE[0]}" | cut -c3- ;;
    --unpack) [ $# = 3 ] || fail "expected --unpack OUT DIR"; unpack "$2" "$3" ;;
    -*) fail "the folder of the pack comes first: pack_offline.sh OUT $*" ;;
    *) pack "$@" ;;
esac
