-- 0002: what was told to whom, so that an alert is sent once to each place.

CREATE TABLE notification (
  alert_uid TEXT NOT NULL,
  sink TEXT NOT NULL,                      -- webhook, file
  target TEXT NOT NULL,                    -- short hash of the address, which may hold a secret
  sent_s INTEGER NOT NULL,
  PRIMARY KEY (alert_uid, sink, target)
) STRICT, WITHOUT ROWID;
