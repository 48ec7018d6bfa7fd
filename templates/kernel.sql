-- kernels/OP.html: ?1 is the operation.

-- .:
SELECT (SELECT iif(count(*), count(*), '') FROM page_trace WHERE op = ?1) AS traced,
  (SELECT iif(count(*), count(*), '') FROM page_tuning WHERE op = ?1) AS tuned
