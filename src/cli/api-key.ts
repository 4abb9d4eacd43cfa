/**
 * `npm run api-key` (in the image `node src/cli/api-key.ts`): keys of services. `-- --tenant <tenant> [--by <name>]` makes one and
 * prints it, nothing else, on stdout; `-- list [--tenant <tenant>]` shows them; `-- revoke <id>` ends one at once.
 */
import { userInfo } from 'node:os';
import { parseArgs } from 'node:util';
import { createApiKey } from '../api/http/api-keys.ts';
import { readConfig } from '../config/config.ts';
import { openStorage } from '../storage/open-storage.ts';
import type { ApiKey } from '../storage/ports/api-keys.ts';
import type { Storage } from '../storage/storage.ts';

const usage =
  'Say what to do: npm run api-key -- --tenant demo, npm run api-key -- list, or npm run api-key -- revoke <id>';

try {
  const { values, positionals } = parseArgs({
    options: { tenant: { type: 'string' }, by: { type: 'string' } },
    allowPositionals: true,
  });
  const storage = await openStorage(readConfig().database);
  try {
    process.stdout.write(`${await run(storage, positionals, values)}\n`);
  } finally {
    await storage.close();
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

async function run(
  storage: Storage,
  [command = 'create', ...given]: string[],
  { tenant, by }: { tenant?: string | undefined; by?: string | undefined },
): Promise<string> {
  const [id = ''] = given;
  if (command === 'create' && tenant !== undefined)
    return createApiKey(storage, tenant, by ?? userInfo().username);
  if (command === 'list') {
    const keys = await storage.apiKeys.list(tenant ?? null);
    return keys.length === 0 ? 'There are no keys.' : keys.map(describe).join('\n');
  }
  if (command === 'revoke' && id !== '') {
    const word = await storage.apiKeys.revoke(toId(id));
    if (!word) throw new Error(`There is no key ${toId(id)}; npm run api-key -- list shows them.`);
    return `The key ${toId(id)} is refused from now on.`;
  }
  throw new Error(usage);
}

/** Whoever has the whole key may name it by that; its secret is not repeated. */
function toId(given: string): string {
  return /^ilk_([0-9a-f]{16})(_|$)/.exec(given)?.[1] ?? given;
}

function describe({ id, tenant, createdBy, createdAt, lastUsedAt, revokedAt }: ApiKey): string {
  return [
    id,
    tenant,
    `made ${timeOf(createdAt)}${createdBy === null ? '' : ` by ${createdBy}`}`,
    lastUsedAt === null ? 'not used' : `used ${timeOf(lastUsedAt)}`,
    revokedAt === null ? 'valid' : `revoked ${timeOf(revokedAt)}`,
  ].join('  ');
}

function timeOf(at: number): string {
  return new Date(at).toISOString().slice(0, 16).replace('T', ' ');
}
