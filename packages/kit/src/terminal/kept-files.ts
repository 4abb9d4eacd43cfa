/**
 * Files that the program keeps for its user, one for each address: private, and replaced as a whole. Writers hold a lock, because a
 * refresh token that two processes use counts as stolen.
 */
import { hash, randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';

export interface KeptFiles<Kept> {
  /** Null when there is no file, or an unreadable one. */
  read(address: string): Kept | null;
  write(address: string, kept: Kept): void;
  remove(address: string): void;
  /** Runs `work` while no other process changes the file of this address. The lock ends with the process. */
  locked<T>(address: string, work: () => Promise<T>): Promise<T>;
}

const lockPollMs = 50;
const lockTimeoutMs = 60_000;
const maximalNameLength = 200;

/** The system's folder for a user's settings. */
export function userFolder(environment: NodeJS.ProcessEnv, platform = process.platform): string {
  const ofUser = () => {
    if (environment['XDG_CONFIG_HOME']) return environment['XDG_CONFIG_HOME'];
    if (platform === 'win32') return environment['APPDATA'] ?? path.join(homedir(), 'AppData', 'Roaming');
    if (platform === 'darwin') return path.join(homedir(), 'Library', 'Application Support');
    return path.join(homedir(), '.config');
  };
  return path.join(ofUser(), 'interlude');
}

/** `parse`: undefined for unreadable content. */
export function createKeptFiles<Kept>(
  folder: string,
  parse: (value: unknown) => Kept | undefined,
): KeptFiles<Kept> {
  const fileOf = (address: string) => path.join(folder, `${nameOf(address)}.json`);
  const prepare = () => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
  };
  return {
    read(address) {
      try {
        return parse(JSON.parse(readFileSync(fileOf(address), 'utf8'))) ?? null;
      } catch {
        return null;
      }
    },
    write(address, kept) {
      prepare();
      const file = fileOf(address);
      const next = `${file}.${randomUUID()}`;
      try {
        writeFileSync(next, JSON.stringify(kept, null, 2), { mode: 0o600, flush: true });
        renameSync(next, file);
      } finally {
        rmSync(next, { force: true });
      }
    },
    remove: (address) => rmSync(fileOf(address), { force: true }),
    async locked(address, work) {
      prepare();
      using _ = await lock(`${fileOf(address)}.lock`);
      return await work();
    },
  };
}

/** The address itself, or a hash if it is too long. */
function nameOf(address: string): string {
  const name = encodeURIComponent(address);
  return name.length <= maximalNameLength ? name : hash('sha256', address);
}

/** SQLite's lock on a file: the system releases it when the process ends for any reason. */
async function lock(file: string): Promise<Disposable> {
  const { DatabaseSync } = await import('node:sqlite');
  const database = new DatabaseSync(file, { timeout: 0 });
  const release = () => database.close();
  const givesUpAt = Date.now() + lockTimeoutMs;
  try {
    chmodSync(file, 0o600);
    for (;;) {
      try {
        database.exec('BEGIN EXCLUSIVE');
        return { [Symbol.dispose]: release };
      } catch (cause) {
        if (Date.now() > givesUpAt)
          throw new Error(`Another process has held ${file} for a minute. End it, then try again.`, {
            cause,
          });
        await wait(lockPollMs);
      }
    }
  } catch (error) {
    release();
    throw error;
  }
}

const LoginSchema = z.object({
  service: z.string(),
  issuer: z.string(),
  clientId: z.string(),
  accessToken: z.string(),
  refreshToken: z.string().optional(),
  /** Epoch milliseconds; absent if the issuer does not say. */
  expiresAt: z.number().optional(),
  name: z.string().optional(),
});

export type Login = z.infer<typeof LoginSchema>;

export interface KeptLogins extends Omit<KeptFiles<Login>, 'write'> {
  write(login: Login): void;
}

export function loginsFolder(environment: NodeJS.ProcessEnv, platform = process.platform): string {
  return path.join(userFolder(environment, platform), 'logins');
}

export function createKeptLogins(folder: string): KeptLogins {
  const files = createKeptFiles(folder, (value) => LoginSchema.safeParse(value).data);
  return {
    ...files,
    read(service) {
      const login = files.read(service);
      return login?.service === service ? login : null;
    },
    write: (login) => files.write(login.service, login),
  };
}
