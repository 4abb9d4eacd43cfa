/**
 * Keeps what was filled in of a form, for a return after a crash: in a private file, until the question is settled.
 * Never fields that the form marks as secret.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { isRecord } from '@interlude-ai/client/interlude-error.ts';
import type { ElicitationRequest } from '@interlude-ai/core/contract/elicitation.ts';

export type Answers = ReadonlyMap<string, unknown>;

/** No question is open for longer. */
const staleMs = 24 * 60 * 60 * 1000;

export function draftsFolder(environment: NodeJS.ProcessEnv): string {
  const state = environment['XDG_STATE_HOME'] || path.join(homedir(), '.local', 'state');
  return path.join(state, 'interlude', 'drafts');
}

/** A disk that cannot be written only costs the draft. */
export class FormDrafts {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    attempt(() => forgetStale(folder));
  }

  read({ elicitationId }: ElicitationRequest): Answers {
    const kept = attempt((): unknown => JSON.parse(readFileSync(this.#fileOf(elicitationId), 'utf8')));
    return new Map(Array.isArray(kept) ? kept.flatMap(toAnswer) : []);
  }

  keep(question: ElicitationRequest, answers: Answers): void {
    const secret = secretsIn(question);
    const open = [...answers].filter(([name]) => !secret.has(name));
    const text = JSON.stringify(open.map(([name, value]) => [name, value ?? null]));
    attempt(() => {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      writeFileSync(this.#fileOf(question.elicitationId), text, { mode: 0o600 });
    });
  }

  forget(elicitationId: string): void {
    attempt(() => rmSync(this.#fileOf(elicitationId), { force: true }));
  }

  #fileOf(elicitationId: string): string {
    return path.join(this.#folder, `${Buffer.from(elicitationId).toString('base64url')}.json`);
  }
}

/** As JSON Schema and OpenAPI mark secrets. */
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
