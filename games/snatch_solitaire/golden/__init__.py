"""Golden cases that the browser client is held to: what the kernel says, as JSON.

`fits.json`: which card fits where.  `apply.json`: views before and after events.
`python -m games.snatch_solitaire.golden` writes them again; a test compares.
"""
