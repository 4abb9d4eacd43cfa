/** What people said and what servers know stays its owner's, also in folders that were made with other rights. */
import { chmodSync, mkdirSync, statSync } from 'node:fs';

const sticky = 0o1000;

/** Makes the folder if need be, and its owner's alone; but never one that is everybody's, like /tmp. */
export function makePrivateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { mode, uid } = statSync(folder);
  if (uid === process.getuid?.() && (mode & sticky) === 0) chmodSync(folder, 0o700);
}

/** The database file, and those that SQLite keeps beside it. */
export function makePrivate(file: string): void {
  for (const name of ['', '-wal', '-shm', '-journal'].map((end) => file + end)) {
    const found = statSync(name, { throwIfNoEntry: false });
    if (found && found.uid === process.getuid?.()) chmodSync(name, 0o600);
  }
}
