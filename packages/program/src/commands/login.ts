/** `interlude login | logout | token`. */
import { Command } from '@commander-js/extra-typings';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { UsageError } from '@interlude-ai/kit/terminal/command.ts';
import { ourCommand } from '@interlude-ai/kit/terminal/program-command.ts';
import { print, printAside } from '@interlude-ai/kit/terminal/terminal-text.ts';
import { readService, serviceOption } from './service-options.ts';

export function login(): CommandUnknownOpts {
  return new Command('login')
    .description('sign in to a service, once for all commands')
    .addOption(serviceOption)
    .option('--device', 'sign in with a code, in a browser on another machine')
    .addHelpText(
      'after',
      `
The login is kept in your own configuration folder and renewed by itself;
${ourCommand('logout')} ends it. INTERLUDE_TOKEN is used instead where it is set.`,
    )
    .action(async ({ service: given, device }) => {
      const { service, logins, signIn, signInWithBrowser, signInWithDevice } = await loginAt(given);
      const sign = device ? signInWithDevice : signInWithBrowser;
      const made = await signIn(service, logins, (place) => sign(place, { say: printAside }));
      print(`Signed in to ${service}${made.name === undefined ? '' : ` as ${made.name}`}.\n`);
    });
}

export function logout(): CommandUnknownOpts {
  return new Command('logout')
    .description('sign out of a service')
    .addOption(serviceOption)
    .option('--server <url>', 'forget the account at this MCP server instead')
    .action(async ({ service: given, server }) => {
      if (server !== undefined) return forgetAccount(server);
      const { service, logins, signOut } = await loginAt(given);
      const ended = await signOut(logins, service);
      if (ended.kind === 'was-not-signed-in') print(`You were not signed in to ${service}.\n`);
      else if (ended.isRevoked) print(`Signed out of ${service}.\n`);
      else
        print(
          `Signed out of ${service} on this machine. Its issuer offers no sign-out to programs, or did not answer, so the login there expires by itself.\n`,
        );
    });
}

async function loginAt(given: string | undefined) {
  const [{ createKeptLogins, loginsFolder }, { serviceAddress }, signIn] = await Promise.all([
    import('@interlude-ai/kit/terminal/kept-files.ts'),
    import('../login/sign-in-server.ts'),
    import('../login/sign-in.ts'),
  ]);
  const service = serviceAddress(readService(given));
  return { ...signIn, service, logins: createKeptLogins(loginsFolder(process.env)) };
}

/** The account of `interlude try` and `interlude lint-server`. */
async function forgetAccount(server: string): Promise<void> {
  const url = URL.parse(server);
  if (!url) throw new UsageError(`${server} is not a URL.`);
  const { accountFiles, accountName } = await import('@interlude-ai/kit/try/server-account.ts');
  const name = accountName(url);
  const kept = accountFiles(process.env);
  const was = kept.read(name) !== null;
  kept.remove(name);
  print(was ? `The account at ${name} is forgotten here.\n` : `There was no account at ${name}.\n`);
}

export function token(): CommandUnknownOpts {
  return new Command('token')
    .description('print an access token for a user of the demo')
    .argument('<user>', 'alice or bob')
    .addHelpText('after', '\nDEMO_IDENTITY_PORT says where the sign-in of the demo listens (3001).')
    .action(async (user) => {
      if (process.env['AUTH_ISSUER'])
        throw new Error(
          'AUTH_ISSUER is set, so tokens come from your own issuer; the demo can only make its own.',
        );
      const { demoToken } = await import('../login/demo-token.ts');
      const port = process.env['DEMO_IDENTITY_PORT'] ?? '3001';
      print(`${await demoToken(`http://127.0.0.1:${port}`, user)}\n`);
    });
}
