-- badges/: one for the site, and one for each series. White text has a contrast of at least
-- 4.5:1 on each colour; 7 px a character of 11 px text, and textLength makes any font fit.

-- badges:
WITH status AS (SELECT sum(tone = 'bad') AS worse, sum(verdict_night_id > 0) AS analysed FROM page_series),
b AS (SELECT -1 AS place, 'status' AS file, (SELECT title FROM page_site) AS name,
    CASE WHEN NOT analysed THEN 'not compared' WHEN worse THEN counted(worse) || ' worse'
      ELSE 'no regressions' END AS text,
    CASE WHEN NOT analysed THEN 'quiet' WHEN worse THEN 'bad' ELSE 'good' END AS tone FROM status
  UNION ALL SELECT p.place, p.file, p.label,
    CASE WHEN p.outcome <> '' THEN p.outcome WHEN p.value IS NULL THEN 'not measured'
      ELSE rounded(p.value, s.unit) || iif(p.tone IN ('bad', 'good'), ', ' || p.word, '') END,
    iif(p.outcome = '', p.tone, tone('outcome', p.outcome))
  FROM page_series p JOIN series s ON s.id = p.id WHERE p.file <> 'status'),
w AS (SELECT *, clip(name, 40) AS left_text, 7 * length(clip(name, 40)) AS left_width,
    7 * length(text) AS width FROM b)
SELECT file, left_text, text, left_width, width, left_width + 12 AS half, left_width + 18 AS at,
  width + 12 AS right_half, left_width + width + 24 AS whole,
  CASE tone WHEN 'quiet' THEN '#57606a' WHEN 'note' THEN '#8a5a00' WHEN 'good' THEN '#1a7f4b'
    ELSE '#b3261e' END AS colour
FROM w ORDER BY place
