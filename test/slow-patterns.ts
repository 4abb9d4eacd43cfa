/** Which of the product's regular expressions a text can keep busy for long. */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { runInNewContext } from 'node:vm';
import { Visitor, parseSync } from 'oxc-parser';
import { checkSync } from 'recheck';

/** Those that see nothing but what the process's own operator or user typed, and need not be quick. */
const ownText = [
  'packages/client/src/ai-sdk/turn-end.ts',
  'packages/core/src/elicitation/form/typed-value.ts',
  'packages/client/src/send.ts',
  'src/credentials/sealing/key-file.ts',
  'src/platform/config/environment-schema.ts',
  'src/platform/config/environment-schema.ts',
  'src/platform/config/agents-file/read-agents-file.ts',
  'packages/tools/src/bundle/bundle-code.ts',
];
/** Our own style sheet. */
const ourText = ['packages/widget/src/style.ts'];

interface Pattern {
  pattern: string;
  flags: string;
}

const root = path.resolve(import.meta.dirname, '..');

const literalOf = ({ pattern, flags }: Pattern): string => `/${pattern}/${flags}`;

export function patternsOf(name: string, code: string): Pattern[] {
  const found: Pattern[] = [];
  new Visitor({
    Literal: (literal) => void ('regex' in literal && found.push(literal.regex)),
  }).visit(parseSync(name, code).program);
  return found;
}

/** Each once, with the files it is in: those that read what a stranger wrote. */
export function strangersPatterns(): Map<string, Pattern & { files: string[] }> {
  const patterns = new Map<string, Pattern & { files: string[] }>();
  for (const name of globSync('src/**/*.{ts,tsx}', { cwd: root })) {
    if (ownText.includes(name) || ourText.includes(name)) continue;
    for (const regex of patternsOf(name, readFileSync(path.join(root, name), 'utf8'))) {
      const literal = literalOf(regex);
      const known = patterns.get(literal) ?? { ...regex, files: [] };
      patterns.set(literal, { ...known, files: [...known.files, name] });
    }
  }
  return patterns;
}

/** For the text that the checker calls slow: some 80,000 characters, which a quick pattern reads in 10. */
const slowMs = 2_000;

/** Takes up to seven seconds for one, and a multiple of that on a busy machine. */
export function isSlow({ pattern, flags }: Pattern): boolean {
  const checked = checkSync(pattern, flags, { timeout: 120_000 });
  if (checked.status !== 'vulnerable' || checked.checker !== 'fuzz') return checked.status !== 'safe';
  // This checker proves nothing, it extrapolates from steps that it counted: ask the engine.
  try {
    const text = checked.attack.string;
    runInNewContext('new RegExp(pattern, flags).exec(text)', { pattern, flags, text }, { timeout: slowMs });
    return false;
  } catch {
    return true;
  }
}
