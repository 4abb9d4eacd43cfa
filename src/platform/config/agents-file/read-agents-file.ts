/** Reads and checks the agents file. Each mistake is added to `problems` with its line and path. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import type { Document } from 'yaml';
import { z } from 'zod';
import { fileTrouble } from '@interlude-ai/core/file-trouble.ts';
import { membersAt, problemsOf, remedyMessages } from '../problem-messages.ts';
import type { FileProblem } from '../problem-messages.ts';
import { agentsFileSchema, entrySchemas, readableParts } from './agents-file.ts';
import type { AgentsFile } from './agents-file.ts';
import { checkReferences } from './check-references.ts';
import { withRemoteAgentsApart, writtenPath } from './server-entry.ts';

/** `shown`: the file name in messages. */
export function readAgentsFile(
  { file, shown }: { file: string; shown: string },
  env: Record<string, string>,
  problems: string[],
): AgentsFile | null {
  const lines = new LineCounter();
  const text = contentOf(file, shown, problems);
  if (text === null) return null;
  const document = parseDocument(text, { lineCounter: lines });
  if (document.errors.length > 0) {
    // Of several breaches of YAML, the later ones follow from the first.
    const firstBreach = document.errors.find(({ code }) => code !== 'DUPLICATE_KEY');
    for (const error of document.errors) {
      const { code, message, pos } = error;
      if (code !== 'DUPLICATE_KEY' && error !== firstBreach) continue;
      const { line, col } = lines.linePos(pos[0]);
      const what =
        code === 'DUPLICATE_KEY'
          ? `${nameAt(text, pos[0])} is written twice here; keep one of them`
          : `this is not valid YAML: ${message.split('\n', 1)[0]?.replace(/ at line \d+, column \d+:?$/, '')}`;
      problems.push(`${shown}:${line}, column ${col}: ${what}`);
    }
    return null;
  }

  const found: FileProblem[] = [];
  const filled = withRemoteAgentsApart(substituteVariables(document.toJS(), env, found));
  const parsed = agentsFileSchema.safeParse(filled ?? {}, { error: remedyMessages });
  const members = (at: PropertyKey[]) =>
    membersAt(agentsFileSchema, at).filter((member) => !member.startsWith('$'));
  const issues = (parsed.error?.issues ?? []).flatMap((issue) => [
    issue,
    ...issuesInsideEntry(issue, filled),
  ]);
  // Of several broken rules of one value, the first counts.
  const firsts = Map.groupBy(
    issues.flatMap((issue) => problemsOf(issue, members)),
    (problem) => problem.path.map(String).join('\0'),
  );
  addUnlessReported(
    found,
    [...firsts.values()].flatMap(([first]) => first ?? []),
  );
  addUnlessReported(found, checkReferences(readableParts(filled), filled, env, path.dirname(file)));

  const located = found.map(({ path: at, message }) => {
    const written = writtenPath(at);
    return { path: written, message, line: lineAt(document, lines, written) };
  });
  for (const { line, path: at, message } of located.toSorted((one, other) => one.line - other.line))
    problems.push(`${shown}:${line}, ${at.map(String).join('.') || 'top level'}: ${message}`);
  return parsed.success && found.length === 0 ? parsed.data : null;
}

function contentOf(file: string, shown: string, problems: string[]): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    problems.push(
      `${fileTrouble(shown, error)}; go to the folder of your agents file, or set INTERLUDE_CONFIG to it`,
    );
    return null;
  }
}

/** The key of a map at this offset, as it is written. */
function nameAt(text: string, offset: number): string {
  return /^(?:"[^"\n]*"|'[^'\n]*'|[^\s:,]+)/.exec(text.slice(offset))?.[0] ?? 'a name';
}

/** zod checks nothing else in an entry with an invalid name; this does. */
function issuesInsideEntry(issue: z.core.$ZodIssue, document: unknown): z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_key') return [];
  const [section = '', name = ''] = issue.path.map(String);
  const entry = (document as Record<string, Record<string, unknown>>)[section]?.[name];
  const { error } = z.safeParse(entrySchemas[section] ?? z.unknown(), entry, { error: remedyMessages });
  return (error?.issues ?? []).map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
}

/** At most one problem per place: others there or above may be consequences of the first. */
function addUnlessReported(found: FileProblem[], more: FileProblem[]): void {
  const before = [...found];
  for (const problem of more) {
    const isKnown = before.some(({ path: known }) =>
      problem.path.every((key, index) => String(known[index]) === String(key)),
    );
    if (!isKnown) found.push(problem);
  }
}

/** Replaces `${NAME}` and `${NAME:-default}` in all texts of the file, as in a compose file. */
function substituteVariables(
  value: unknown,
  env: Record<string, string>,
  found: FileProblem[],
  at: PropertyKey[] = [],
): unknown {
  if (typeof value === 'string') {
    return value.replace(
      /\$\{([A-Z][A-Z0-9_]*)(?::-([^}]*))?\}/g,
      (_, name: string, fallback: string | undefined) => {
        const text = env[name] ?? fallback;
        if (text === undefined) {
          const message = `the variable ${name} is not set; set it, or give it a default: \${${name}:-…}`;
          found.push({ path: at, message });
        }
        return text ?? '';
      },
    );
  }
  if (Array.isArray(value))
    return value.map((item, index) => substituteVariables(item, env, found, [...at, index]));
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, substituteVariables(item, env, found, [...at, key])]),
    );
  }
  return value;
}

/** The line (from 1) of a path in a YAML file, or of its nearest existing parent. */
function lineAt(document: Document, lines: LineCounter, path: PropertyKey[]): number {
  let node: unknown = document.contents;
  let offset = 0;
  for (const key of path) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(key));
      if (!pair) break;
      if (isScalar(pair.key)) offset = pair.key.range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(key)];
      if (isScalar(node) || isMap(node)) offset = node.range?.[0] ?? offset;
    } else break;
  }
  return lines.linePos(offset).line;
}
