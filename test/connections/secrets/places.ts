/** Where a run leaves traces: what Temporal keeps, decoded, and the files of both databases. */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client, Connection } from '@temporalio/client';
import type { Secrets } from './secrets.ts';

export interface Histories {
  /** Of every run there is: its events, memo, search attributes, and what its activities last reported. */
  text: string;
  runs: number;
  types: Set<string>;
}

export async function readHistories(address: string): Promise<Histories> {
  const connection = await Connection.connect({ address });
  try {
    const { workflow } = new Client({ connection });
    const texts: string[] = [];
    const types = new Set<string>();
    for await (const { workflowId, runId, type } of workflow.list()) {
      const handle = workflow.getHandle(workflowId, runId);
      const [history, described] = await Promise.all([handle.fetchHistory(), handle.describe()]);
      texts.push(readable(history), readable(described.raw));
      types.add(type);
    }
    return { text: texts.join('\n'), runs: texts.length / 2, types };
  } finally {
    await connection.close();
  }
}

/** Every value of it; payloads are bytes, and their bytes are text. */
export function readable(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (value === null || typeof value !== 'object') return String(value);
  return Object.entries(value)
    .map(([name, item]) => `${name}: ${readable(item)}`)
    .join('\n');
}

/** Every byte of the files, those beside them included. */
export async function readFiles(folder: string, prefix: string): Promise<Buffer> {
  const names = (await readdir(folder)).filter((name) => name.startsWith(prefix));
  const contents = await Promise.all(names.map((name) => readFile(path.join(folder, name))));
  return Buffer.concat(contents);
}

/** Which columns hold which secrets: `table.column`, sorted. */
export function columnsWith(file: string, secrets: Secrets): Record<string, string[]> {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const tables = database.prepare("select name from sqlite_schema where type = 'table'").all();
    const found = new Map<string, Set<string>>();
    for (const { name } of tables) {
      for (const row of database.prepare(`select * from "${String(name)}"`).all()) {
        for (const [column, value] of Object.entries(row)) {
          for (const secret of typeof value === 'string' ? secrets.foundIn(value) : []) {
            const place = `${String(name)}.${column}`;
            found.set(secret, (found.get(secret) ?? new Set()).add(place));
          }
        }
      }
    }
    return Object.fromEntries([...found].map(([secret, places]) => [secret, [...places].toSorted()]));
  } finally {
    database.close();
  }
}
