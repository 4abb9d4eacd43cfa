/** Loaded into the service's process before the service itself: answers what cannot be seen from outside. */
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { memoryUse } from './memory-use.ts';
import type { MemoryUse } from './memory-use.ts';

export interface Inside {
  memory: MemoryUse;
  /** Processor time used so far, in milliseconds. */
  cpu: number;
  /** Statements so far: reads of turn logs, and writes to them. */
  statements: { reads: number; appends: number };
}

const statements = { reads: 0, appends: 0 };

function count(statement: unknown): void {
  const text = typeof statement === 'string' ? statement : (statement as { text?: string } | undefined)?.text;
  if (text?.startsWith('select') && text.includes('from "turn_events"')) statements.reads += 1;
  if (text?.startsWith('update "conversations" set "last_seq"')) statements.appends += 1;
}

for (const [owner, name] of [
  [DatabaseSync.prototype, 'prepare'],
  [pg.Client.prototype, 'query'],
] as const) {
  const original: unknown = Reflect.get(owner, name);
  if (typeof original !== 'function') throw new Error(`${name} is no function any more`);
  Reflect.set(owner, name, function counted(this: unknown, ...given: unknown[]): unknown {
    count(given[0]);
    return Reflect.apply(original, this, given);
  });
}

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
