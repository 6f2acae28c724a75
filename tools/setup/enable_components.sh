#!/bin/sh
# enable_components.sh CODENAME COMPONENT...: lets apt see further components of the machine's archive.
#
# Writes /etc/apt/sources.list.d/voltcheck.{list,sources}: each enabled source that offers "main" of
# the release CODENAME once more, at the same address and under the same key, with those of the
# named components that no source offers yet. The files that exist are left alone. Needs root.
# VOLTCHECK_APT_FOLDER stands in for /etc/apt in the tests.
set -eu
LC_ALL=C
export LC_ALL
folder=${VOLTCHECK_APT_FOLDER:-/etc/apt}
own=$folder/sources.list.d/voltcheck
rm -f "$own.list" "$own.sources"
suites="($1|stable|oldstable)(-updates|-security)?"
shift

offered=$(apt-get -o Dir::Etc="$folder" indextargets --no-release-info --format '$(COMPONENT)' | tr '\n' ' ')
wanted=
for component in "$@"; do
  case " $offered" in
    *" $component "*) ;;
    *) wanted="$wanted $component" ;;
  esac
done
[ -n "$wanted" ] || exit 0

# One-line style: keep the options in brackets, the address and the suite.
for file in "$folder/sources.list" "$folder"/sources.list.d/*.list; do
  [ -f "$file" ] || continue
  awk -v suites="^$suites\$" -v wanted="$wanted" '
    {
      sub(/#.*/, "")
      if (!match($0, /^[ \t]*deb[ \t]+(\[[^]]*\][ \t]*)?[^ \t]+[ \t]+/)) next
      source = substr($0, RSTART, RLENGTH)
      count = split(substr($0, RLENGTH + 1), rest, /[ \t]+/)
      if (rest[1] !~ suites) next
      for (i = 2; i <= count; i++)
        if (rest[i] == "main") { print source rest[1] wanted; next }
    }' "$file"
done > "$own.list"

# deb822 style: keep every field but the components. A stanza ends at an empty line.
for file in "$folder"/sources.list.d/*.sources; do
  [ -f "$file" ] && [ "$file" != "$own.sources" ] || continue
  awk -v suites="^$suites\$" -v wanted="$wanted" '
    function flush(   count, names, chosen, i) {
      count = split(suite_field, names, /[ \t]+/)
      for (i = 1; i <= count; i++)
        if (names[i] ~ suites) chosen = chosen " " names[i]
      if (chosen != "" && enabled && types ~ /(^|[ \t])deb([ \t]|$)/ &&
          components ~ /(^|[ \t])main([ \t]|$)/)
        printf "Types: deb\n%sSuites:%s\nComponents:%s\n\n", kept, chosen, wanted
      kept = types = components = suite_field = ""
      enabled = 1
    }
    BEGIN { enabled = 1 }
    /^[ \t]*$/ { flush(); next }
    /^#/ { next }
    {
      value = $0
      if ($0 !~ /^[ \t]/) {
        field = tolower($0)
        sub(/:.*/, "", field)
        sub(/^[^:]*:/, "", value)
      }
      if (field == "types") types = types " " value
      else if (field == "suites") suite_field = suite_field " " value
      else if (field == "components") components = components " " value
      else if (field == "enabled") enabled = tolower(value) !~ /no|false/
      else kept = kept $0 "\n"
    }
    END { flush() }' "$file"
done > "$own.sources"

for file in "$own.list" "$own.sources"; do
  [ -s "$file" ] || rm -f "$file"
done
