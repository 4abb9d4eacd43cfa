/** Keeps databases and their folders readable by their owner only, also in folders that were created with other modes. */
import { chmodSync, mkdirSync, statSync } from 'node:fs';

const sticky = 0o1000;

/** Creates the folder if needed, and makes it private, unless it is a shared one like /tmp. */
export function makePrivateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { mode, uid } = statSync(folder);
  if (uid === process.getuid?.() && (mode & sticky) === 0) chmodSync(folder, 0o700);
}

/** The database file, and the files that SQLite keeps beside it. */
export function makePrivate(file: string): void {
  for (const name of ['', '-wal', '-shm', '-journal'].map((end) => file + end)) {
    const found = statSync(name, { throwIfNoEntry: false });
    if (found && found.uid === process.getuid?.()) chmodSync(name, 0o600);
  }
}
