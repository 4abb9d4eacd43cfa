/**
 * `interlude accounts list | connect | disconnect`, for operators: the accounts that all users of a tenant share. An
 * API key is read from stdin; other accounts are connected in a browser, within fifteen minutes, by the user that
 * `--as` names.
 */
import { text } from 'node:stream/consumers';
import type { Config, ServerConfig } from '../../platform/config/config.ts';
import { storeOf } from '../../credentials/stores.ts';
import type { VaultStore } from '../../credentials/vault.ts';
import { onServiceDatabase } from '../../platform/processes/dependencies.ts';
import type { Dependencies } from '../../platform/processes/dependencies.ts';
import { readConfig } from '../../platform/processes/read-config.ts';
import { createMayChange } from '../../service/accounts.ts';
import { createConfirmConnection } from '../../service/confirm-connection.ts';
import { createOwnConnections } from '../../service/connections.ts';
import { en } from '../../turn/words/en.ts';
import { defineCommand } from '@interlude-ai/kit/terminal/command.ts';
import { ourCommand } from '@interlude-ai/kit/terminal/program-command.ts';
import { print } from '@interlude-ai/kit/terminal/terminal-text.ts';

/** In the audit, instead of a user's id. */
const operatorName = '(command line)';
const permitMs = 15 * 60_000;

const options = {
  tenant: {
    type: 'string',
    value: '<tenant>',
    description: 'the tenant whose accounts these are',
    required: true,
  },
} as const;

export const list = defineCommand({
  arguments: [],
  options,
  run: ({ tenant }) =>
    printFrom(async (parts) => {
      const all = await connectionsOf(parts).list(operatorOf(tenant));
      const lines = all
        .filter(({ scope }) => scope === 'project')
        .map(({ server, state }) => {
          const account = state.status === 'missing' ? null : state.row.account;
          return [
            server,
            state.status,
            ...(state.status === 'broken' ? [state.reason] : []),
            ...(account === null ? [] : [account]),
          ].join('\t');
        });
      return lines.length === 0 ? 'No server has an account that everybody shares.' : lines.join('\n');
    }),
});

export const disconnect = defineCommand({
  arguments: ['<server>'],
  options,
  run: ({ tenant }, [name = '']) =>
    printFrom(async (parts) => {
      const { wasThere, revokedAtProvider } = await connectionsOf(parts).disconnect(
        operatorOf(tenant),
        { server: name, scope: 'project' },
        'command line',
      );
      if (!wasThere) return `${name} was not connected.`;
      return `${name} is disconnected${revokedAtProvider === false ? '; its provider could not be notified' : ''}.`;
    }),
});

export const connect = defineCommand({
  arguments: ['<server>'],
  options: {
    ...options,
    as: {
      type: 'string',
      value: '<user>',
      description: 'the user who signs in to connect it, within fifteen minutes; not with store: vault',
    },
  },
  details: `With store: vault, the API key is read from stdin: ${ourCommand('accounts connect billing --tenant acme < key.txt')}`,
  run: ({ tenant, as }, [name = '']) =>
    printFrom((parts) => {
      const server = sharedServer(parts.config, name);
      const store = storeOf(parts.stores, server);
      return store.connectedBy === 'key'
        ? keepGivenKey(parts, tenant, server, store)
        : givePermit(parts, { tenant, server: server.name, user: as });
    }),
});

async function printFrom(work: (parts: Dependencies) => Promise<string>): Promise<void> {
  print(`${await onServiceDatabase(readConfig(), work)}\n`);
}

function connectionsOf(parts: Dependencies) {
  return createOwnConnections({ ...parts, mayChange: createMayChange(parts.storage) });
}

/** There is no role to check: commands have the keys of the database. */
function operatorOf(tenant: string) {
  return { kind: 'user', tenant, user: operatorName, isOperator: true } as const;
}

function sharedServer({ servers }: Config, wanted: string): ServerConfig {
  const server = servers.get(wanted);
  if (server?.credentialScope === 'project') return server;
  const shared = [...servers.values()].filter((one) => one.credentialScope === 'project');
  const names = shared.map((one) => one.name).join(', ') || 'none';
  throw new Error(`Name a server with credentialScope: project; there is: ${names}`);
}

async function keepGivenKey(
  { storage }: Dependencies,
  tenant: string,
  server: ServerConfig,
  store: Pick<VaultStore, 'keep'>,
): Promise<string> {
  if (process.stdin.isTTY)
    throw new Error(
      `Write the key on stdin: ${ourCommand(`accounts connect ${server.name} --tenant ${tenant} < key.txt`)}`,
    );
  const key = { tenant, server: server.name, user: null };
  const kept = await store.keep(server, key, (await text(process.stdin)).trim());
  if (kept.kind !== 'kept') throw new Error(en.keyProblem(server.title, kept.problem));
  const confirm = createConfirmConnection(storage);
  const by = { actor: operatorName, address: 'command line', elicitationId: null };
  await confirm({ key, ...by, isNew: true });
  return `${server.name} is connected for everybody in ${tenant}${kept.account === null ? '' : ` as ${kept.account}`}.`;
}

async function givePermit(
  { config, storage }: Dependencies,
  { tenant, server, user }: { tenant: string; server: string; user: string | undefined },
): Promise<string> {
  if (user === undefined)
    throw new Error(
      `Say who signs in to connect it: ${ourCommand(`accounts connect ${server} --tenant ${tenant} --as <user>`)}`,
    );
  await storage.accountPermits.give({ tenant, server, user, expiresAt: Date.now() + permitMs });
  const address = new URLSearchParams({ server, scope: 'project' }).toString();
  return `Within 15 minutes, ${user} signs in and connects it at\n${config.http.publicUrl}/connections/connect?${address}`;
}
