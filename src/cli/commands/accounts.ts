/**
 * `interlude accounts list | connect | disconnect`, for operators: the accounts that all users of a tenant share. An
 * API key is read from stdin; other accounts are connected in a browser, within fifteen minutes, by the user that
 * `--as` names.
 */
import { text } from 'node:stream/consumers';
import { Command } from '@commander-js/extra-typings';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Config, ServerConfig } from '../../platform/config/config.ts';
import type { VaultStore } from '../../credentials/vault.ts';
import type { Dependencies } from '../../platform/processes/dependencies.ts';
import { group } from '@interlude-ai/kit/terminal/command.ts';
import { ourCommand } from '@interlude-ai/kit/terminal/program-command.ts';
import { printFromService } from './open-service.ts';

/** In the audit, instead of a user's id. */
const operatorName = '(command line)';
const permitMs = 15 * 60_000;

const tenantOption = ['--tenant <tenant>', 'the tenant whose accounts these are'] as const;

export function accounts(): CommandUnknownOpts {
  return group('accounts', 'the accounts that all users of a tenant share: list, connect, disconnect', [
    new Command('list')
      .description('list the accounts that all users of a tenant share')
      .requiredOption(...tenantOption)
      .action(({ tenant }) => printFromService((parts) => listShared(parts, tenant))),
    new Command('connect')
      .description('connect a shared account')
      .argument('<server>')
      .requiredOption(...tenantOption)
      .option(
        '--as <user>',
        'the user who signs in to connect it, within fifteen minutes; not with store: vault',
      )
      .addHelpText(
        'after',
        `\nWith store: vault, the API key is read from stdin: ${ourCommand('accounts connect billing --tenant acme < key.txt')}`,
      )
      .action((name, { tenant, as }) =>
        printFromService(async (parts) => {
          const { storeOf } = await import('../../credentials/stores.ts');
          const server = sharedServer(parts.config, name);
          const store = storeOf(parts.stores, server);
          return store.connectedBy === 'key'
            ? keepGivenKey(parts, tenant, server, store)
            : givePermit(parts, { tenant, server: server.name, user: as });
        }),
      ),
    new Command('disconnect')
      .description('disconnect a shared account')
      .argument('<server>')
      .requiredOption(...tenantOption)
      .action((name, { tenant }) => printFromService((parts) => disconnectShared(parts, tenant, name))),
  ]);
}

async function listShared(parts: Dependencies, tenant: string): Promise<string> {
  const all = await (await connectionsOf(parts)).list(operatorOf(tenant));
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
  return lines.length === 0 ? 'No server has an account that all users share.' : lines.join('\n');
}

async function disconnectShared(parts: Dependencies, tenant: string, name: string): Promise<string> {
  const { wasThere, revokedAtProvider } = await (
    await connectionsOf(parts)
  ).disconnect(operatorOf(tenant), { server: name, scope: 'project' }, 'command line');
  if (!wasThere) return `${name} was not connected.`;
  return `${name} is disconnected${revokedAtProvider === false ? '; its provider could not be notified' : ''}.`;
}

async function connectionsOf(parts: Dependencies) {
  const [{ createOwnConnections }, { createMayChange }] = await Promise.all([
    import('../../service/connections.ts'),
    import('../../service/accounts.ts'),
  ]);
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
  if (kept.kind !== 'kept') {
    const { en } = await import('../../turn/words/en.ts');
    throw new Error(en.keyProblem(server.title, kept.problem));
  }
  const { createConfirmConnection } = await import('../../service/confirm-connection.ts');
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
