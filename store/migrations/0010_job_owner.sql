-- 0010: the device that has taken a job over from the one that it was planned for; NULL: that one. A resumed night leaves the job with it.

ALTER TABLE job ADD COLUMN device_id INTEGER REFERENCES device(id);
