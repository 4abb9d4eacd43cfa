/**
 * `npm run shared-account -- list | connect <server> | disconnect <server>, --tenant <tenant>`: looks after the accounts
 * that everybody in a tenant shares, for operators. Says what it did on stdout. An API key is read from stdin; any other
 * account is connected in a browser, by the user that `--as` names, who may do that for fifteen minutes.
 */
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { createMayChange } from '../service/account-rights.ts';
import { createOwnConnections } from '../service/connections.ts';
import { readConfig } from '../config/config.ts';
import type { ServerConfig } from '../config/config.ts';
import { openParts } from '../processes/parts.ts';
import type { Parts } from '../processes/parts.ts';

/** Stands in the audit, where a user's id would. */
const nobody = '(command line)';
const permitMs = 15 * 60_000;
const usage =
  'Write one of: list --tenant demo · connect <server> --tenant demo [--as <user>] · disconnect <server> --tenant demo';

try {
  const { values, positionals } = parseArgs({
    options: { tenant: { type: 'string' }, as: { type: 'string' } },
    allowPositionals: true,
  });
  const { tenant, as } = values;
  const [action, name] = positionals;
  if (tenant === undefined) throw new Error(usage);
  const parts = await openParts(readConfig(), pino({ level: 'silent' }));
  try {
    process.stdout.write(`${await run(parts, { action, name, tenant, as })}\n`);
  } finally {
    await parts.storage.close();
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

interface Asked {
  action: string | undefined;
  name: string | undefined;
  tenant: string;
  as: string | undefined;
}

async function run(parts: Parts, { action, name, tenant, as }: Asked): Promise<string> {
  const { config, storage, stores } = parts;
  // Whoever runs this has the keys of the database: nobody is there to be asked.
  const operator = { kind: 'user', tenant, user: nobody, isOperator: true } as const;
  const connections = createOwnConnections({ ...parts, mayChange: createMayChange(storage) });
  switch (action) {
    case 'list': {
      const all = await connections.list(operator);
      const lines = all
        .filter(({ scope }) => scope === 'project')
        .map(({ server, state }) => {
          const whom = state.status === 'missing' ? null : state.row.account;
          return [
            server,
            state.status,
            ...(state.status === 'broken' ? [state.reason] : []),
            ...(whom === null ? [] : [whom]),
          ].join('\t');
        });
      return lines.length === 0 ? 'No server has an account that everybody shares.' : lines.join('\n');
    }
    case 'disconnect': {
      if (name === undefined) throw new Error(usage);
      const which = { server: name, scope: 'project' } as const;
      const { wasThere, revokedAtProvider } = await connections.disconnect(operator, which, 'command line');
      if (!wasThere) return `${name} was not connected.`;
      return `${name} is disconnected${revokedAtProvider === false ? '; its provider could not be told' : ''}.`;
    }
    case 'connect': {
      const server = sharedServer(name);
      const key = { tenant, server: server.name, user: null };
      if (server.store !== 'vault') return permit(server);
      if (process.stdin.isTTY) throw new Error(`Write the key on stdin: … connect ${server.name} < key.txt`);
      const kept = await stores.vault.keep(server, key, (await text(process.stdin)).trim());
      if (kept.kind !== 'kept') throw new Error(kept.message);
      await storage.audit.record({
        at: Date.now(),
        tenant,
        elicitationId: '',
        actor: nobody,
        action: 'connected',
        detail: server.name,
        address: 'command line',
      });
      return `${server.name} is connected for everybody in ${tenant}${kept.account === null ? '' : ` as ${kept.account}`}.`;
    }
    default:
      throw new Error(usage);
  }

  function sharedServer(wanted: string | undefined): ServerConfig {
    const server = wanted === undefined ? undefined : config.servers.get(wanted);
    if (server?.credentialScope === 'project') return server;
    const shared = [...config.servers.values()].filter((one) => one.credentialScope === 'project');
    const names = shared.map((one) => one.name).join(', ') || 'none';
    throw new Error(`Name a server with credentialScope: project; there is: ${names}`);
  }

  async function permit({ name: server }: ServerConfig): Promise<string> {
    if (as === undefined) throw new Error(`Say who signs in to connect it: … connect ${server} --as <user>`);
    await storage.accountPermits.give({ tenant, server, user: as, expiresAt: Date.now() + permitMs });
    const address = new URLSearchParams({ server, scope: 'project' }).toString();
    return `Within 15 minutes, ${as} signs in and connects it at\n${config.http.publicUrl}/connections/connect?${address}`;
  }
}
