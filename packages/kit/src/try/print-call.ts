/** What `interlude try` prints of a call: progress, questions and answers, the result, the end. */
import { styleText } from 'node:util';
import { isRecord } from '@interlude-ai/core/elicitation/form/schema-keywords.ts';
import { secretFields } from '@interlude-ai/core/elicitation/form/secret-fields.ts';
import { couldNotAsk } from '@interlude-ai/core/mcp/could-not-ask.ts';
import type { GivenAnswer } from '../answers/answer-from.ts';
import type { Question } from '../answers/source.ts';
import type { CallEnd, CallEvent, Progress, ToolCallReport } from '../call/call-events.ts';
import { clauses } from '../call/fault.ts';
import type { Difference } from '../cassette/replay-server.ts';
import { bold, cut, dim, oneLine, plain, toJsonText } from '../terminal/terminal-text.ts';
import type { Terminal } from './terminal.ts';

export function callLine(tool: string, given: Record<string, unknown>): string {
  const words = Object.entries(given).map(([key, value]) => `${oneLine(key)}=${short(value)}`);
  return `  ${styleText('cyan', '⚙')} ${bold(oneLine(tool))} ${dim(words.join(' '))}`.trimEnd();
}

export function createCallPrinter(terminal: Terminal): (event: CallEvent) => void {
  return (event) => {
    switch (event.type) {
      case 'progress':
        return terminal.isInteractive
          ? terminal.status(progressLine(event))
          : terminal.line(progressLine(event));
      case 'log': {
        const logger = event.logger === undefined ? '' : `${oneLine(event.logger)}: `;
        return terminal.line(
          dim(`    ${oneLine(event.level).padEnd(7)} ${logger}${oneLine(textOf(event.data))}`),
        );
      }
      case 'asked':
        terminal.line();
        for (const question of event.questions)
          for (const line of questionLines(question, event.round)) terminal.line(line);
        return undefined;
      case 'answered':
        for (const answer of event.answers) terminal.line(answerLine(answer, event.questions));
        return undefined;
      case 'page-done':
        return terminal.line(dim('    The server says that the page is done.'));
      case 'withdrawn':
        return terminal.line(styleText('yellow', '  – The server does not wait for the answer any more.'));
      default:
        return event satisfies never;
    }
  };
}

function progressLine({ progress, total, message }: Progress): string {
  const share = total === undefined ? String(progress) : `${Math.round((progress / total) * 100)} %`;
  return dim(`    ${share.padStart(5)}  ${oneLine(message ?? '')}`.trimEnd());
}

function questionLines({ request, fields, key }: Question, round: number): string[] {
  const message = plain(request.message).trim().replaceAll('\n', '\n    ');
  const what =
    request.mode === 'url'
      ? 'a page'
      : `a form with ${fields.map(({ name }) => plain(name)).join(', ') || 'no fields'}`;
  const id = /^\d+$/.test(key) ? '' : ` · id ${oneLine(key)}`;
  return [`  ${styleText('yellow', '●')} ${bold(message)}`, dim(`    ${what} · round ${round}${id}`)];
}

function answerLine({ key, action, content, by }: GivenAnswer, questions: readonly Question[]): string {
  const who = dim(`  (${by})`);
  switch (action) {
    case 'accept': {
      const question = questions.find((one) => one.key === key);
      return `  ${styleText('green', '✓')} ${contentInWords(content, question)}${who}`;
    }
    case 'decline':
      return `  ${dim('– declined')}${who}`;
    case 'cancel':
      return `  ${dim('– dismissed')}${who}`;
    default:
      return action satisfies never;
  }
}

/** Probable secrets are not repeated. */
function contentInWords(
  content: Record<string, unknown> | undefined,
  question: Question | undefined,
): string {
  if (content === undefined) return 'accepted';
  const { request, fields } = question ?? {};
  const secret = request?.mode === 'form' && fields ? secretFields(fields, request.requestedSchema) : [];
  const words = Object.entries(content).map(
    ([name, value]) => `${plain(name)}=${secret.includes(name) ? '••••' : short(value)}`,
  );
  return words.join(' ') || 'accepted';
}

/** The last line: how the call ended, its time and its rounds. */
export function endLine({ end, rounds, durationMs }: ToolCallReport): string {
  const times = rounds.length + (end.kind === 'unanswered' ? 1 : 0);
  const asked = times === 0 ? 'nothing was asked' : times === 1 ? 'asked once' : `asked ${times} times`;
  const took = dim(` · ${(durationMs / 1_000).toFixed(1)} s · ${asked}`);
  const bad = (words: string) => `  ${styleText('red', '✗')} ${words}${took}`;
  switch (end.kind) {
    case 'result':
      return end.result.isError === true
        ? bad('the tool failed')
        : `  ${styleText('green', '✓')} done${took}`;
    case 'error':
      return bad(`the server refused the call: ${oneLine(end.message)} (${end.code})`);
    case 'unanswered':
      return bad(`${oneLine(end.reason)} Nothing was sent after it.`);
    case 'fault':
      return end.fault.clause.url === null
        ? bad(`the server asks what cannot be asked here: ${oneLine(end.fault.message)}`)
        : bad(`the server breaks the protocol: ${oneLine(end.fault.message)}`);
    case 'timeout':
      return bad(
        end.of === 'silence'
          ? `the server said nothing for ${end.afterMs / 1_000} s`
          : `the server came to no result within ${end.afterMs / 1_000} s (--max-time)`,
      );
    case 'stopped':
      return bad('stopped');
    default:
      return end satisfies never;
  }
}

/** Printed below the end line. */
export function remedyLines({ end, tool, era }: ToolCallReport): string[] {
  const answer = end.kind === 'error' ? { error: end } : end;
  if (couldNotAsk(answer))
    return [
      dim('    The tool asks in the way of the other protocol era, so its question was never sent.'),
      dim(`    To see its question: --era ${era === 'modern' ? 'legacy' : 'modern'}.`),
    ];
  switch (end.kind) {
    case 'fault': {
      const { text, url } = end.fault.clause;
      return [dim(`    The rule: ${text}.`), ...(url === null ? [] : [dim(`    ${url}`)])];
    }
    case 'unanswered':
      return end.questions.length === 0
        ? []
        : [dim('    An entry for a file of answers:'), ...exampleOf(end.questions, tool)];
    case 'result':
    case 'error':
    case 'timeout':
    case 'stopped':
      return [];
    default:
      return end satisfies never;
  }
}

/** Longer forms get a line for each field. */
const longestInLine = 80;

/** An entry for a file of answers. */
function exampleOf(questions: readonly Question[], tool: string): string[] {
  const entries = questions.flatMap(({ request, fields }) => {
    const [words = ''] = request.message.split('\n');
    const content = fields.map(
      (field) => `${JSON.stringify(field.name)}: ${JSON.stringify(exampleValue(field))}`,
    );
    const message = `      - message: ${JSON.stringify(plain(words).slice(0, 60))}`;
    const inLine = request.mode === 'url' ? 'true' : `{ ${content.join(', ')} }`;
    if (inLine.length <= longestInLine) return [message, `        accept: ${inLine}`];
    return [message, '        accept:', ...content.map((entry) => `          ${entry}`)];
  });
  return ['tools:', `  ${JSON.stringify(tool)}:`, ...entries].map((line, at) =>
    dim(`    ${plain(at < 2 ? line : line.slice(2))}`),
  );
}

function exampleValue(field: Question['fields'][number]): unknown {
  if (field.default !== undefined) return field.default;
  switch (field.kind) {
    case 'text':
      return '…';
    case 'number':
      return field.minimum ?? 0;
    case 'boolean':
      return true;
    case 'choice':
      return field.choices[0]?.value;
    case 'choices':
      return field.choices.slice(0, 1).map(({ value }) => value);
    default:
      return field satisfies never;
  }
}

function short(value: unknown): string {
  return cut(oneLine(textOf(value)), 60);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

type Result = Extract<CallEnd, { kind: 'result' }>['result'];

export function resultText({ content, structuredContent }: Result): string {
  const blocks = content.map(blockText);
  // Tools repeat it as text, for clients that ignore structured content.
  const isRepeated = blocks.some((text) => sameJson(text, structuredContent));
  if (structuredContent !== undefined && !isRepeated) blocks.push(toJsonText(structuredContent, 2));
  return blocks.map((text) => (text.endsWith('\n') ? text : `${text}\n`)).join('');
}

function blockText(block: Result['content'][number]): string {
  switch (block.type) {
    case 'text':
      return plain(block.text);
    case 'image':
    case 'audio':
      return `[${block.type}: ${plain(block.mimeType)}, ${sizeOf(block.data)}]`;
    case 'resource_link':
      return `[link: ${plain(block.title ?? block.name)} ${plain(block.uri)}]`;
    case 'resource': {
      const { resource } = block;
      if ('text' in resource) return `[resource: ${plain(resource.uri)}]\n${plain(resource.text)}`;
      return `[resource: ${plain(resource.uri)}, ${sizeOf(resource.blob)}]`;
    }
    default:
      // A newer kind.
      return `[${plain(String((block as { type: unknown }).type))}]`;
  }
}

function sizeOf(base64: string): string {
  const bytes = Math.floor((base64.length * 3) / 4);
  return bytes < 1024 ? `${bytes} bytes` : `${Math.round(bytes / 1024)} kB`;
}

function sameJson(text: string, value: unknown): boolean {
  if (!isRecord(value) && !Array.isArray(value)) return text === JSON.stringify(value);
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(value);
  } catch {
    return false;
  }
}

export function differenceLines({ what, lines }: Difference): string[] {
  return [
    '',
    `  ${styleText('red', '✗')} ${plain(what)}`,
    ...lines.map((line) => `    ${coloured(plain(line))}`),
  ];
}

function coloured(line: string): string {
  if (line.startsWith('-')) return styleText('red', line);
  return line.startsWith('+') ? styleText('green', line) : styleText('dim', line);
}

/** Only the first such line is shown. */
export function showStrayLine(terminal: Terminal): (line: string) => void {
  let isSaid = false;
  return (line) => {
    if (isSaid) return;
    isSaid = true;
    terminal.line(
      `  ${styleText('yellow', '!')} ${strayInWords(line)} Logs belong on standard error: most clients break off here.`,
    );
    const { text, url } = clauses.strayOutput;
    terminal.line(dim(`    The rule: ${text}.`));
    terminal.line(dim(`    ${url}`));
  };
}

export function strayInWords(line: string): string {
  return `It wrote to its standard output what is no message: “${cut(oneLine(line), 80)}”.`;
}

export function showOutput(terminal: Terminal): (chunk: Buffer) => void {
  return (chunk) => {
    for (const line of chunk.toString().split('\n'))
      if (line.trim() !== '') terminal.line(dim(`  ┊ ${plain(line)}`));
  };
}
