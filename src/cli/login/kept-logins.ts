/**
 * The logins of whoever runs the program, one for each service: a file of theirs alone, replaced as a whole. Whoever
 * changes one holds its lock, because a refresh token that two processes use is taken for a stolen one.
 */
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';

const LoginSchema = z.object({
  service: z.string(),
  issuer: z.string(),
  clientId: z.string(),
  accessToken: z.string(),
  refreshToken: z.string().optional(),
  /** Epoch milliseconds; absent where the issuer does not say. */
  expiresAt: z.number().optional(),
  name: z.string().optional(),
});

export type Login = z.infer<typeof LoginSchema>;

export interface KeptLogins {
  /** Null when there is none, or none that can be understood. */
  read(service: string): Login | null;
  write(login: Login): void;
  remove(service: string): void;
  /** Runs `work` while no other process changes the login of this service. The lock ends with the process. */
  locked<T>(service: string, work: () => Promise<T>): Promise<T>;
}

const lockPollMs = 50;
const lockTimeoutMs = 60_000;

/** Where this system keeps what a user has configured. */
export function loginsFolder(environment: NodeJS.ProcessEnv, platform = process.platform): string {
  const ofUser = () => {
    if (environment['XDG_CONFIG_HOME']) return environment['XDG_CONFIG_HOME'];
    if (platform === 'win32') return environment['APPDATA'] ?? path.join(homedir(), 'AppData', 'Roaming');
    if (platform === 'darwin') return path.join(homedir(), 'Library', 'Application Support');
    return path.join(homedir(), '.config');
  };
  return path.join(ofUser(), 'interlude', 'logins');
}

export function createKeptLogins(folder: string): KeptLogins {
  const fileOf = (service: string) => path.join(folder, `${encodeURIComponent(service)}.json`);
  const prepare = () => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
  };
  return {
    read(service) {
      try {
        const { data } = LoginSchema.safeParse(JSON.parse(readFileSync(fileOf(service), 'utf8')));
        return data?.service === service ? data : null;
      } catch {
        return null;
      }
    },
    write(login) {
      prepare();
      const file = fileOf(login.service);
      const next = `${file}.${randomUUID()}`;
      try {
        writeFileSync(next, JSON.stringify(login, null, 2), { mode: 0o600, flush: true });
        renameSync(next, file);
      } finally {
        rmSync(next, { force: true });
      }
    },
    remove: (service) => rmSync(fileOf(service), { force: true }),
    async locked(service, work) {
      prepare();
      using _ = await lock(`${fileOf(service)}.lock`);
      return await work();
    },
  };
}

/** SQLite's lock on a file: the system lets go of it when the process ends, however it ends. */
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
