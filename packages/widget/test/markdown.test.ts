import { describe, expect, test } from 'vitest';
import { readGrowing, readMarkdown } from '@interlude-ai/core/markdown/read-markdown.ts';
import type { Block, Reading } from '@interlude-ai/core/markdown/read-markdown.ts';
import type { Span } from '@interlude-ai/core/markdown/spans.ts';
import { processorMs } from '../../../test/processor-ms.ts';
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
          return `link(${spans(span.spans)} → ${span.href}${span.host && ` at ${span.host}`})`;
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
  ['[a page](https://a.example/x(1)?q=1)', 'link(a page → https://a.example/x(1)?q=1 at a.example)'],
  ['see https://a.example/x, then', 'see link(https://a.example/x → https://a.example/x), then'],
  ['<https://a.example>', 'link(https://a.example → https://a.example/)'],
  ['[mail](mailto:a@b.example)', 'link(mail → mailto:a@b.example at a@b.example)'],
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
    ['[b.example](https://a.example/)', 'link(b.example → https://a.example/ at a.example)'],
    ['[a.example](https://a.example/x)', 'link(a.example → https://a.example/x)'],
    ['[A.example/y](https://a.example/x)', 'link(A.example/y → https://a.example/x)'],
    [
      '[a.example.b.example](https://a.example)',
      'link(a.example.b.example → https://a.example/ at a.example)',
    ],
    ['[a.example:8080](https://a.example)', 'link(a.example:8080 → https://a.example/ at a.example)'],
    [
      'https://b.example@a.example/',
      'link(https://b.example@a.example/ → https://b.example@a.example/ at a.example)',
    ],
    ['[https://b.example](https://a.example)', 'link(https://b.example → https://a.example/ at a.example)'],
    ['[\u202Ex](https://a.example)', 'link(x → https://a.example/ at a.example)'],
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

test.each([
  ['bold that does not end', '**a '],
  ['bold that does not end, in quotes', '> **a\n'],
  ['bold that does not end, in a list', '- **a\n'],
  ['words that are struck out without end', '~~a '],
  ['back ticks and stars', '*`'],
  ['pictures', '*!['],
  ['links', '[a]('],
  ['paragraphs', '**a\n\n'],
])('32,000 characters of %s in 80 pieces cost less than a glance', (_, piece) => {
  const text = piece.repeat(32_000 / piece.length);
  const tookMs = processorMs(() => {
    let reading: Reading | undefined;
    for (let end = 400; end <= text.length; end += 400) reading = readGrowing(text.slice(0, end), reading);
  });
  // Of the processor; 13 s where each mark is searched to its end again and again.
  expect(tookMs).toBeLessThan(3_000);
});

describe('a text that grows', () => {
  /** Read after each piece, as it comes. */
  function grown(text: string, step: number): Reading[] {
    const readings: Reading[] = [];
    for (let end = step; end < text.length + step; end += step)
      readings.push(readGrowing(text.slice(0, end), readings.at(-1)));
    return readings;
  }

  const every = [
    'one\n\n- a\n\n- b\n\n1. c\n2. d\n\n2',
    '- one\n\n1',
    '- one\n\n  two\n\nthree\n- four',
    '1. one\n\n2. two\n\nand\n2. more',
    'text\n| a | b |\n|---|---|\n| 1 | 2 |\n\nx | y\n--|--\n1 | 2\nend',
    '> a\n> b\n\n> c\nlazy\n\n```\ncode\n\nmore\n```\nafter\n---\n# end',
    'a **b\n\nc** d\r\n\r\n*e*\r\nf\n\n~~~\nnever closed\n\n```',
  ];
  test.each(every)('%j is at each point what it is as a whole', (text) => {
    for (const step of [1, 2, 3, 7])
      for (const reading of grown(text, step)) expect(reading.blocks).toEqual(readMarkdown(reading.text));
  });

  test('keeps the blocks that are finished, and begins anew where the text is another one', () => {
    const text = 'A paragraph with **words**.\n\n'.repeat(200);
    const readings = grown(text, 400);
    for (const [index, { blocks }] of readings.entries()) {
      const before = readings[index - 1]?.blocks.slice(0, -2) ?? [];
      for (const [at, block] of before.entries()) expect(blocks[at]).toBe(block);
    }
    expect(readGrowing('# Other', readings.at(-1)).blocks).toEqual(readMarkdown('# Other'));
  });
});

test('markup is still read behind many names, tags and marks that do not end', () => {
  const words = 'snake_case_name, <div>, __init and ~~x; '.repeat(20);
  expect(said(`${words}**bold**`)).toMatch(/strong\(bold\)$/);
});

test('a table of a few kilobytes is not millions of cells', () => {
  const [table] = readMarkdown(`${'|a'.repeat(4_000)}|\n${'|-'.repeat(4_000)}|\n${'|b|\n'.repeat(4_000)}`);
  expect(table?.kind === 'table' && table.rows.flat().length).toBe(4_000);
});
