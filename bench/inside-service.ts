/** Loaded into the service's process before the service itself: answers what cannot be seen from outside. */
import { StatementSync } from 'node:sqlite';
import pg from 'pg';
import { memoryUse } from './memory-use.ts';
import type { MemoryUse } from './memory-use.ts';

export interface Inside {
  memory: MemoryUse;
  /** Processor time used so far, in milliseconds. */
  cpu: number;
  /** Statements so far: all but those that begin and end transactions, those, reads of turn logs, and writes to them. */
  statements: { all: number; commits: number; reads: number; appends: number };
}

const statements = { all: 0, commits: 0, reads: 0, appends: 0 };

function count(text: string | undefined): void {
  if (/^\s*commit/i.test(text ?? '')) statements.commits += 1;
  else if (!/^\s*(begin|rollback|savepoint|release|start)/i.test(text ?? '')) statements.all += 1;
  if (/^\s*select/.test(text ?? '') && /from "?turn_events/.test(text ?? '')) statements.reads += 1;
  if (/^\s*insert into "?turn_events/.test(text ?? '')) statements.appends += 1;
}

/** Counts every run of a statement: SQLite's are prepared once and run often. `textOf`: of the object and what it is given. */
function countCalls<T extends object>(
  owner: T,
  name: keyof T & string,
  textOf: (self: T, given: unknown) => string | undefined,
): void {
  const original: unknown = Reflect.get(owner, name);
  if (typeof original !== 'function') throw new Error(`${name} is no function any more`);
  Reflect.set(owner, name, function counted(this: T, ...given: unknown[]): unknown {
    count(textOf(this, given[0]));
    return Reflect.apply(original, this, given);
  });
}

for (const name of ['all', 'get', 'run'] as const)
  countCalls(StatementSync.prototype, name, ({ sourceSQL }) => sourceSQL);
countCalls(pg.Client.prototype, 'query', (_, given) =>
  typeof given === 'string' ? given : (given as { text?: string } | undefined)?.text,
);

const answers: { [Question in keyof Inside]: () => Inside[Question] | Promise<Inside[Question]> } = {
  memory: memoryUse,
  cpu() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
  statements: () => statements,
};

process.on('message', (question: keyof Inside) => {
  void Promise.resolve(answers[question]()).then((answer) => process.send?.({ [question]: answer }));
});
process.once('disconnect', () => process.exit());
