-- 0014: the mode "loaded" is called "contended". No uid changes: a uid is made of the first name of a word.
UPDATE series SET mode = 'contended' WHERE mode = 'loaded';
