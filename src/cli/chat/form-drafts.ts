/**
 * What somebody has filled in of a form, for whoever comes back after a crash: in a file of theirs alone, until the
 * question is over. Never what the form marks as secret.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { isRecord } from '../../client/interlude-error.ts';
import type { ElicitationRequest } from '../../contract/elicitation.ts';

export type Answers = ReadonlyMap<string, unknown>;

export interface FormDrafts {
  read(question: ElicitationRequest): Answers;
  keep(question: ElicitationRequest, answers: Answers): void;
  forget(elicitationId: string): void;
}

/** Nobody comes back to a question after that. */
const staleMs = 24 * 60 * 60 * 1000;

export function draftsFolder(environment: NodeJS.ProcessEnv): string {
  const state = environment['XDG_STATE_HOME'] || path.join(homedir(), '.local', 'state');
  return path.join(state, 'interlude', 'drafts');
}

/** A disk that cannot be written costs the draft and nothing else. */
export function createFormDrafts(folder: string): FormDrafts {
  const fileOf = (elicitationId: string) =>
    path.join(folder, `${Buffer.from(elicitationId).toString('base64url')}.json`);
  attempt(() => forgetStale(folder));
  return {
    read: (question) =>
      attempt(() => {
        const kept: unknown = JSON.parse(readFileSync(fileOf(question.elicitationId), 'utf8'));
        return new Map(Array.isArray(kept) ? kept.flatMap(toAnswer) : []);
      }) ?? new Map(),
    keep(question, answers) {
      const secret = secretsIn(question);
      const open = [...answers].filter(([name]) => !secret.has(name));
      const text = JSON.stringify(open.map(([name, value]) => [name, value ?? null]));
      attempt(() => {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        writeFileSync(fileOf(question.elicitationId), text, { mode: 0o600 });
      });
    },
    forget: (elicitationId) => attempt(() => rmSync(fileOf(elicitationId), { force: true })),
  };
}

/** Marked as JSON Schema and OpenAPI do it. */
function secretsIn(question: ElicitationRequest): Set<string> {
  const schema = question.mode === 'form' ? question.requestedSchema : {};
  const properties = isRecord(schema['properties']) ? schema['properties'] : {};
  const isSecret = (field: unknown) =>
    isRecord(field) && (field['writeOnly'] === true || field['format'] === 'password');
  return new Set(Object.keys(properties).filter((name) => isSecret(properties[name])));
}

function toAnswer(pair: unknown): [string, unknown][] {
  const [name, value] = Array.isArray(pair) ? (pair as unknown[]) : [];
  return typeof name === 'string' ? [[name, value ?? undefined]] : [];
}

function forgetStale(folder: string): void {
  for (const name of readdirSync(folder)) {
    const file = path.join(folder, name);
    if (Date.now() - statSync(file).mtimeMs > staleMs) rmSync(file, { force: true });
  }
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
