import { describe, expect, test } from 'vitest';
import { readMarkdown } from '../../src/markdown/read-markdown.ts';
import type { Block } from '../../src/markdown/read-markdown.ts';
import type { Span } from '../../src/markdown/spans.ts';
import { msToRead } from './hostile-markdown.ts';

/** As a reader would hear it, with everything that is not text said aloud. */
const said = (text: string) => readMarkdown(text).map(block).join(' ¶ ');

function block(one: Block): string {
  switch (one.kind) {
    case 'paragraph':
      return spans(one.spans);
    case 'heading':
      return `h${one.level}(${spans(one.spans)})`;
    case 'code':
      return `code(${one.text})`;
    case 'quote':
      return `quote(${one.blocks.map(block).join(' ¶ ')})`;
    case 'list': {
      const items = one.items.map((item) => item.map(block).join(' ¶ ')).join(' | ');
      return one.start === null ? `ul(${items})` : `ol${one.start}(${items})`;
    }
    case 'table':
      return `table(${[one.head, ...one.rows].map((row) => row.map(spans).join(',')).join(' | ')})`;
    case 'rule':
      return 'rule';
    default:
      return one satisfies never;
  }
}

function spans(given: Span[]): string {
  return given
    .map((span) => {
      switch (span.kind) {
        case 'text':
          return span.text;
        case 'break':
          return '⏎';
        case 'code':
          return `\`${span.text}\``;
        case 'link':
          return `link(${spans(span.spans)} → ${span.href})`;
        case 'strong':
        case 'emphasis':
        case 'deleted':
          return `${span.kind}(${spans(span.spans)})`;
        default:
          return span satisfies never;
      }
    })
    .join('');
}

test.each([
  ['two\n\nparagraphs', 'two ¶ paragraphs'],
  ['one\nline and the next', 'one⏎line and the next'],
  ['# Title #\ntext', 'h1(Title) ¶ text'],
  ['#hashtag', '#hashtag'],
  ['**bold** and *slanted* and ~~gone~~', 'strong(bold) and emphasis(slanted) and deleted(gone)'],
  ['__bold__ and _slanted_', 'strong(bold) and emphasis(slanted)'],
  ['***both***', 'strong(emphasis(both))'],
  ['snake_case_name and 2*3*4 = 24', 'snake_case_name and 2*3*4 = 24'],
  ['a * b * c', 'a * b * c'],
  ['`code *as is*`', '`code *as is*`'],
  ['``with ` inside``', '`with ` inside`'],
  ['[a page](https://a.example/x(1)?q=1)', 'link(a page → https://a.example/x(1)?q=1)'],
  ['see https://a.example/x, then', 'see link(https://a.example/x → https://a.example/x), then'],
  ['<https://a.example>', 'link(https://a.example → https://a.example/)'],
  ['[mail](mailto:a@b.example)', 'link(mail → mailto:a@b.example)'],
  ['\\*not slanted\\*', '*not slanted*'],
  ['- one\n- two\n  goes on\n- three', 'ul(one | two⏎goes on | three)'],
  ['1. one\n2. two', 'ol1(one | two)'],
  ['3) three\n4) four', 'ol3(three | four)'],
  ['- one\n  - inner\n  - more\n- two', 'ul(one ¶ ul(inner | more) | two)'],
  ['1. one\n   - inner\n2. two', 'ol1(one ¶ ul(inner) | two)'],
  ['- one\n\n- two', 'ul(one | two)'],
  ['- one\n\n  second paragraph\n- two', 'ul(one ¶ second paragraph | two)'],
  ['Steps:\n1. one\n2. two\n\nDone.', 'Steps: ¶ ol1(one | two) ¶ Done.'],
  ['It was in\n1984. A year.', 'It was in⏎1984. A year.'],
  ['> quoted\n> more\n\nafter', 'quote(quoted⏎more) ¶ after'],
  ['```js\nconst a = 1;\n\n  b();\n```\nafter', 'code(const a = 1;\n\n  b();) ¶ after'],
  ['```\nstill being writ', 'code(still being writ)'],
  ['before\n\n---\n\nafter', 'before ¶ rule ¶ after'],
  ['| a | b |\n|---|:-:|\n| 1 | **2** |\n| 3 |', 'table(a,b | 1,strong(2) | 3)'],
  ['a | b is no table', 'a | b is no table'],
  ['', ''],
])('%j reads %j', (text, heard) => expect(said(text)).toBe(heard));

describe('of a stranger', () => {
  test.each([
    ['[x](javascript:alert(1))', 'emphasis(x)'],
    ['[x](JaVaScRiPt:alert(1))', 'emphasis(x)'],
    ['[x](data:text/html,hi)', 'emphasis(x)'],
    ['[x](//evil.example)', 'emphasis(x)'],
    ['[x](/relative)', 'emphasis(x)'],
    ['![secret](https://evil.example/?q=secret)', 'secret'],
    ['<img src=x onerror=alert(1)>', '<img src=x onerror=alert(1)>'],
    ['<script>alert(1)</script>', '<script>alert(1)</script>'],
    [
      '[a](https://good.example "t\\" onclick=x")',
      '[a](link(https://good.example → https://good.example/) "t" onclick=x")',
    ],
  ])('%j reads %j', (text, heard) => expect(said(text)).toBe(heard));

  test.each([
    ['stars', '*a'.repeat(25_000)],
    ['open brackets', '['.repeat(50_000)],
    ['links that do not end', '[a]('.repeat(12_000)],
    ['back ticks', '`a``'.repeat(12_000)],
    ['under scores', '_a __b '.repeat(7_000)],
    ['quotes in quotes', '>'.repeat(50_000)],
    [
      'lists in lists',
      Array.from({ length: 3_000 }, (_, depth) => `${' '.repeat(depth)}- x`)
        .join('\n')
        .slice(0, 200_000),
    ],
    ['a table without end', `|a|\n|-|\n${'|x|\n'.repeat(20_000)}`],
    ['tildes', '~~a'.repeat(15_000)],
  ])('50,000 characters of %s are read in no time, and nothing is lost', (_, text) => {
    expect(readMarkdown(text).length).toBeGreaterThan(0);
    expect(msToRead(text)).toBeLessThan(2_000);
  });
});

describe('text that is made to keep the page busy', () => {
  test('`_a` with seventy asterisks stays as it was written', () => {
    expect(said(`_a${'*'.repeat(70)}`)).toContain('_a');
  });
});

test.each([
  ['# C#', 'h1(C#)'],
  ['## Closed ##', 'h2(Closed)'],
  ['#', 'h1()'],
])('a heading %j is %j', (text, heading) => expect(said(text)).toBe(heading));
