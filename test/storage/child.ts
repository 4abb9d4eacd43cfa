/** Another process on the same database, told what to do and reporting by messages. */
import { openStorage } from '../../src/storage/open-storage.ts';
import type { ConnectionKey } from '../../src/storage/ports/connections.ts';
import type { TurnRef } from '../../src/turn/turn.ts';
import type { DatabaseConfig } from './contract.ts';

export type Task =
  | { kind: 'open' }
  | { kind: 'append'; turn: TurnRef; name: string; count: number }
  | { kind: 'hold-lock'; key: ConnectionKey };

export interface Order {
  database: DatabaseConfig;
  task: Task;
}

const { database, task } = JSON.parse(process.argv[2] ?? '') as Order;
const report = (message: string) => process.send?.(message);
const storage = await openStorage(database);
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
}
await storage.close();
process.disconnect?.();
