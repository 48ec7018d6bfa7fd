-- 0016: of a GPU kernel, the number of its instructions by kind: "total=816 LDL=143 BAR=1"; "": not
-- counted.

ALTER TABLE kernel ADD COLUMN instructions TEXT NOT NULL DEFAULT '';
