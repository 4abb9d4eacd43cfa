/**
 * Whether this process may start the servers that are to run as another user, and whether that user can enter their
 * folders. Checked by whoever starts them, at start: other processes read the same agents file with fewer rights.
 */
import { statSync } from 'node:fs';
import path from 'node:path';
import { ConfigError } from '../../../config/config-error.ts';
import type { ServerConfig, ServerProcess } from '../../../config/agents-file/server-config.ts';

export type RunAs = NonNullable<ServerProcess['runAs']>;

interface Own {
  platform: NodeJS.Platform;
  /** Undefined where there are no such numbers. */
  uid: number | undefined;
}

/** Throws a `ConfigError` that names each server it cannot start. */
export function checkRunAs(
  servers: Iterable<ServerConfig>,
  { platform, uid }: Own = { platform: process.platform, uid: process.geteuid?.() },
): void {
  const problems = [...servers].flatMap(({ name, process: given }) => {
    if (!given?.runAs) return [];
    const at = `servers.${name}.uid`;
    if (platform === 'win32')
      return [`${at}: programs cannot be started as another user on Windows; remove uid and gid`];
    if (uid !== 0)
      return [
        `${at}: only root may start programs as another user, and this worker runs as user ${uid}; run it as root, or remove uid and gid`,
      ];
    const closed = closedFolder(given.cwd, given.runAs);
    if (closed === undefined) return [];
    return [
      `servers.${name}.cwd: user ${given.runAs.uid} may not enter ${closed}; change its permissions, or write another folder`,
    ];
  });
  if (problems.length > 0) throw new ConfigError(problems);
}

/** The first folder on the way to `folder` that the user may not enter. */
function closedFolder(folder: string, { uid, gid }: RunAs): string | undefined {
  const parent = path.dirname(folder);
  const before = parent === folder ? undefined : closedFolder(parent, { uid, gid });
  if (before !== undefined) return before;
  const stats = statSync(folder);
  const shift = stats.uid === uid ? 6 : stats.gid === gid ? 3 : 0;
  return (stats.mode >> shift) & 1 ? undefined : folder;
}
