#!/bin/bash
# Makes the demo site that the other tests look at: make.sh SITE_SEED TRACKER FOLDER; the site is FOLDER/site
set -eu
mkdir -p "$3"
cd "$3"
"$1" demo.db demo
rm -rf site
TRACKER_NOW=2026-11-20T08:00:00Z "$2" --db=demo.db site --out=site --title='Kernel nightly' --base-url=https://example.org/kernels
