-- method.html

-- verdicts:
SELECT word, tone, meaning FROM page_word WHERE list = 'verdict' ORDER BY value

-- outcomes:
SELECT word, tone, meaning FROM page_word WHERE list = 'outcome' ORDER BY value
