/** The code blocks of a guide, as a reader would use them. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');

export type Block = { line: number } & (
  | { kind: 'command'; script: string; shown: string[] }
  /** A block with the name of a file: a comment in its first line, or after its language. Lines for `.env` are added, other files are written. */
  | { kind: 'file'; name: string; text: string }
  /** `reason`: from the block's comment `not run by the tests: …`. */
  | { kind: 'not run'; reason: string; text: string }
  /** Nothing says what to do with it. */
  | { kind: 'unclear' }
);

/** The pages that guides.release.test.ts follows. `concepts` has nothing to run. */
export const followed = [
  'first-agent',
  'real-model',
  'own-tool',
  'accounts',
  'approvals',
  'page',
  'slack',
  'other-agents',
  'sign-in',
  'testing-agents',
  'production',
  'troubleshooting',
];

export function readGuide(name: string): Block[] {
  const file = name === 'testing-agents' ? `${name}.md` : `guides/${name}.md`;
  return blocksOf(readFileSync(path.join(root, 'docs', file), 'utf8'));
}

export function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = [];
  for (const { 0: all, 1: language = '', 2: name = '', 3: text = '', index } of markdown.matchAll(
    /^```(\S*) *([^\n]*)\n(.*?)^```$/gms,
  )) {
    const line = markdown.slice(0, index).split('\n').length;
    const before = blocks.at(-1);
    if (language === 'text' && before?.kind === 'command' && before.shown.length === 0)
      before.shown = text.split('\n').filter((one) => !['', '…'].includes(one.trim()));
    else if (language !== 'text' || all.includes('not run by the tests'))
      blocks.push({ line, ...(name ? { kind: 'file', name, text } : blockOf(language, text)) });
  }
  return blocks;
}

type Unplaced<Each> = Each extends unknown ? Omit<Each, 'line'> : never;

function blockOf(language: string, text: string): Unplaced<Block> {
  const [first = ''] = text.split('\n', 1);
  const reason = /^(?:#|\/\/|--|<!--) not run by the tests: (.+?)(?: -->)?$/.exec(first)?.[1];
  if (reason !== undefined) return { kind: 'not run', reason, text };
  const name = /^(?:#|\/\/|<!--) ([\w./-]*\w\.\w+|\.env)(?: -->)?$/.exec(first)?.[1];
  if (name !== undefined) return { kind: 'file', name, text: text.slice(first.length + 1) };
  return language === 'sh' ? { kind: 'command', script: text, shown: [] } : { kind: 'unclear' };
}
