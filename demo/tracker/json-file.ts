/** Data of the demo in one JSON file: read at start, written whole and atomically on every change. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';

export interface JsonFile<T> {
  data: T;
  save(): void;
}

export function openJsonFile<T>(file: string, initial: () => T): JsonFile<T> {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const data = read<T>(file) ?? initial();
  return {
    data,
    save() {
      const draft = `${file}.${randomUUID()}`;
      writeFileSync(draft, JSON.stringify(data, null, 1), { mode: 0o600 });
      renameSync(draft, file);
    },
  };
}

function read<T>(file: string): T | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new Error(`${file} is damaged; delete it and start again`, { cause: error });
  }
}
