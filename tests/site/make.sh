#!/bin/bash
# Makes the sites of the other tests: make.sh SITE_SEED TRACKER FOLDER MAKE_HISTORY
# FOLDER/site, and FOLDER/large with more series than fit one list and versions of packages.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$3"
cd "$3"
"$1" demo.db demo
rm -rf site
TRACKER_NOW=2026-11-20T08:00:00Z "$2" --db=demo.db site --out=site --title='Kernel nightly' \
	--base-url=https://example.org/kernels
rm -rf large large.db*
"$4" large.db --series=1080 --upstreams=3 --nights=4 --detect
export RECORDS_BEGIN=1698000000
python3 "$here/version_records.py" >versions.ndjson
"$2" --db=large.db import versions.ndjson
python3 "$here/version_records.py" --pairs large.db
TRACKER_NOW=@1700300000 "$2" --db=large.db site --out=large --title='Many kernels'
