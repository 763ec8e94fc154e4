"""The frame of the page with highlighted words: narrow and wide screens, light and dark."""

from __future__ import annotations

from string import Template

PAGE = Template("""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Words that differ</title>
<style>
:root { color-scheme: light dark; --ink: #1b1b1f; --paper: #fff; --card: #f6f6f8; --line: #d5d5dc;
  --shade: 238 102 119; --dim: #5c5c66; --good: #1a7f37; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #ececf1; --paper: #17171b; --card: #212127;
  --line: #3b3b45; --shade: 190 50 75; --dim: #a4a4b0; --good: #5fce7f; --bad: #ff8a80; } }
body { margin: 0 auto; max-width: 46rem; padding: 1rem; background: var(--paper);
  color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; margin: 0 0 .5rem; }
h2 { font-size: .9rem; margin: 0; color: var(--dim); font-weight: 600; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem .8rem; margin: 0;
  font-size: .9rem; }
dt, .note, summary { color: var(--dim); }
dd { margin: 0; }
.note { font-size: .9rem; }
article { background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
  margin: 1rem 0; padding: .8rem 1rem; }
.answers { list-style: none; display: flex; flex-wrap: wrap; gap: .1rem 1.2rem; margin: .2rem 0;
  padding: 0; font-size: .9rem; }
.sentence { font-size: 1.1rem; line-height: 1.9; margin: .4rem 0; }
.sentence span, mark { background: rgb(var(--shade) / calc(var(--s) * .85)); color: inherit;
  border-radius: .2rem; padding: .1rem 0; }
mark { font-weight: 700; text-decoration: underline; text-underline-offset: .25em; }
.right { color: var(--good); }
.right::before { content: "\\2713\\00a0"; }
.wrong { color: var(--bad); }
.wrong::before { content: "\\2717\\00a0"; }
summary { cursor: pointer; font-size: .9rem; }
table { display: inline-table; vertical-align: top; border-collapse: collapse;
  font-size: .85rem; margin: .4rem 2rem .4rem 0; }
td, th { border-bottom: 1px solid var(--line); padding: .1rem .6rem .1rem 0; text-align: left; }
td + td, th + th { text-align: right; font-variant-numeric: tabular-nums; }
</style>
</head>
<body>
<header>
<h1>Words that differ</h1>
<dl>
$facts
</dl>
<p class="note">The stronger a word's shade, the more difference attention it receives from the
other sentence: its number is that share in percent, the mean over the other sentence's tokens and
over the heads, summed over the word's pieces. The strongest of a pair has the full shade; the
strongest of each sentence, punctuation apart, are underlined. Point at a word for its number, or
open &ldquo;All words&rdquo;.</p>
</header>
<main>
$cases
</main>
</body>
</html>
""")
