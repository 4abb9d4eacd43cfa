/** Converts Markdown to Slack's mrkdwn. The result mentions no one, and shows where each link leads. Pure. */
import { readMarkdown } from '@interlude-ai/core/markdown/read-markdown.ts';
import type { Block } from '@interlude-ai/core/markdown/read-markdown.ts';
import type { Span } from '@interlude-ai/core/markdown/spans.ts';

export function toMrkdwn(markdown: string): string {
  return blocksToText(readMarkdown(markdown));
}

/** These three characters begin all of Slack's control sequences. */
export function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function blocksToText(blocks: Block[]): string {
  return blocks.map(blockToText).join('\n\n');
}

function blockToText(block: Block): string {
  switch (block.kind) {
    case 'paragraph':
      return spansToText(block.spans);
    case 'heading':
      return marked('*', plainOf(block.spans));
    case 'code':
      return fenced(block.text);
    case 'quote':
      return linesOf(blocksToText(block.blocks), '> ', '> ');
    case 'list':
      return block.items
        .map((item, index) => {
          const mark = block.start === null ? '• ' : `${block.start + index}. `;
          return linesOf(item.map(blockToText).join('\n'), mark, '    ');
        })
        .join('\n');
    case 'table':
      return fenced(aligned([block.head, ...block.rows].map((row) => row.map(plainOf))));
    case 'rule':
      return '———';
    default:
      return block satisfies never;
  }
}

/** Prefixes lines, except code blocks: Slack wants fences at the beginning of a line. */
function linesOf(text: string, first: string, next: string): string {
  let isCode = false;
  return text
    .split('\n')
    .map((line, index) => {
      const isFence = line === '```';
      if (isFence) isCode = !isCode;
      if (isFence || isCode) return line;
      return (index === 0 ? first : next) + line;
    })
    .join('\n');
}

/** Separates three backticks inside, which would end the code block. */
export function fenced(code: string): string {
  return `\`\`\`\n${escapeText(code).replaceAll('```', '`\u200b`\u200b`')}\n\`\`\``;
}

/** Pads cells to columns. */
function aligned(rows: string[][]): string {
  const columns = Math.max(...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => widthOf(row[column]))),
  );
  const toLine = (cells: string[]) =>
    widths
      .map((width, column) => (cells[column] ?? '') + ' '.repeat(width - widthOf(cells[column])))
      .join('  ')
      .trimEnd();
  const [head = [], ...others] = rows.map(toLine);
  return [head, widths.map((width) => '-'.repeat(width)).join('  '), ...others].join('\n');
}

function widthOf(cell = ''): number {
  return Array.from(cell).length;
}

function spansToText(spans: Span[]): string {
  return spans.map(spanToText).join('');
}

function spanToText(span: Span): string {
  switch (span.kind) {
    case 'text':
      return escapeText(span.text);
    case 'code':
      return `\`${escapeText(span.text.replaceAll('`', 'ˋ').replaceAll('\n', ' '))}\``;
    case 'break':
      return '\n';
    case 'strong':
      return marked('*', spansToText(span.spans));
    case 'emphasis':
      return marked('_', spansToText(span.spans));
    case 'deleted':
      return marked('~', spansToText(span.spans));
    case 'link':
      return linkTo(span);
    default:
      return span satisfies never;
  }
}

/** Slack's marks apply to one line, and only directly around words. */
function marked(mark: string, text: string): string {
  return text
    .split('\n')
    .map((line) => (line.trim() === '' ? line : `${mark}${line.trim()}${mark}`))
    .join('\n');
}

function linkTo({ href, host, spans }: Extract<Span, { kind: 'link' }>): string {
  const address = escapeText(href).replaceAll('|', '%7C');
  const words = plainOf(spans).replaceAll('\n', ' ').trim();
  const isAddress = words === '' || words === href;
  const link = isAddress ? `<${address}>` : `<${address}|${escapeText(words).replaceAll('|', '¦')}>`;
  return host === '' ? link : `${link} (${escapeText(host)})`;
}

function plainOf(spans: Span[]): string {
  return spans
    .map((span) => {
      switch (span.kind) {
        case 'text':
        case 'code':
          return span.text;
        case 'break':
          return ' ';
        case 'link':
          return span.host === '' ? plainOf(span.spans) : `${plainOf(span.spans)} (${span.host})`;
        default:
          return plainOf(span.spans);
      }
    })
    .join('');
}
