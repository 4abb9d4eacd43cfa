/** Another process on the same database. Its argument says what to do; it reports by messages. */
import { pino } from 'pino';
import { openStorage } from '../../src/storage/open-storage.ts';
import type { ConnectionKey } from '../../src/storage/schema/account-tables.ts';
import type { NewTurn } from '../../src/storage/tables/turn-lifecycle.ts';
import type { TurnRef } from '../../src/turn/turn.ts';
import type { DatabaseConfig } from './contract.ts';
import { ending } from './contract/fixtures.ts';

export type Task =
  | { kind: 'open' }
  | { kind: 'append'; turn: TurnRef; name: string; count: number }
  | { kind: 'hold-lock'; key: ConnectionKey }
  | { kind: 'tell-time'; turn: NewTurn };

/** What a process makes of the time. */
export interface Times {
  wall: number;
  now: number;
  aheadMs: number | null;
  /** The turns that it considers due. */
  due: string[];
  warnings: string[];
}

export interface Order {
  database: DatabaseConfig;
  task: Task;
}

const { database, task } = JSON.parse(process.argv[2] ?? '') as Order;
const report = (message: string) => process.send?.(message);
const warnings: string[] = [];
const logger = pino({ level: 'warn' }, { write: (line) => void warnings.push(line) });
const storage = await openStorage(database, { logger });
switch (task.kind) {
  case 'open':
    await storage.ping();
    report('opened');
    break;
  case 'append':
    for (let index = 0; index < task.count; index++) {
      const key = `${task.name}/${index}`;
      await storage.turnLog.append(task.turn, [
        { key, event: { type: 'text-delta', id: 'part', delta: key } },
      ]);
      report(key);
    }
    break;
  case 'hold-lock':
    await storage.connections.withLock(task.key, 1_000, async () => {
      report('held');
      await new Promise<void>((resolve) => process.once('message', () => resolve()));
    });
    report('released');
    break;
  case 'tell-time': {
    const due = (await storage.turns.claimDue(10, 60_000)).map(({ turnId }) => turnId);
    await storage.turns.prepare(task.turn, ending);
    await storage.turns.begin(task.turn);
    const times: Times = {
      wall: Date.now(),
      now: storage.now(),
      aheadMs: storage.clockAheadMs(),
      due,
      warnings,
    };
    report(JSON.stringify(times));
    break;
  }
}
await storage.close();
process.disconnect?.();
