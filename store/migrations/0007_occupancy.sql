-- 0007: of a kernel, the threads of a block at most, and how full a multiprocessor can be with its registers and its static shared memory.

ALTER TABLE kernel ADD COLUMN threads INTEGER;
ALTER TABLE kernel ADD COLUMN occupancy_percent INTEGER;
