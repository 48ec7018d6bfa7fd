#!/bin/sh
# interface.sh TABLE: prints the compiler flags for what the interface of this revision has. Each
# line of TABLE is FLAG FILE TEXT: the flag counts from the commit on that brought TEXT into FILE
# (below TK_SRC). So any commit works, between releases too.
set -eu
sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$1" | while read -r flag file text; do
	if grep -qsF -- "$text" "$TK_SRC/$file"; then echo "$flag"; fi
done
