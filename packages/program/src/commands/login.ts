/** `interlude login | logout | token`. */
import { demoToken } from '../login/demo-token.ts';
import { defineCommand, UsageError } from '@interlude-ai/kit/terminal/command.ts';
import { createKeptLogins, loginsFolder } from '@interlude-ai/kit/terminal/kept-files.ts';
import { serviceAddress } from '../login/sign-in-server.ts';
import { signIn, signInWithBrowser, signInWithDevice, signOut } from '../login/sign-in.ts';
import { ourCommand } from '@interlude-ai/kit/terminal/program-command.ts';
import { print, printAside } from '@interlude-ai/kit/terminal/terminal-text.ts';
import { readService, serviceOption } from '@interlude-ai/kit/terminal/option-values.ts';

export const login = defineCommand({
  arguments: [],
  options: {
    service: serviceOption,
    device: { type: 'boolean', description: 'sign in with a code, in a browser on another machine' },
  },
  details: `The login is kept in your own configuration folder and renewed by itself; ${ourCommand('logout')} ends it. INTERLUDE_TOKEN is used instead where it is set.`,
  async run({ service: given, device }) {
    const service = serviceAddress(readService(given));
    const logins = createKeptLogins(loginsFolder(process.env));
    const sign = device ? signInWithDevice : signInWithBrowser;
    const made = await signIn(service, logins, (place) => sign(place, { say: printAside }));
    print(`Signed in to ${service}${made.name === undefined ? '' : ` as ${made.name}`}.\n`);
  },
});

export const logout = defineCommand({
  arguments: [],
  options: {
    service: serviceOption,
    server: { type: 'string', value: '<url>', description: 'forget the account at this MCP server instead' },
  },
  async run({ service: given, server }) {
    if (server !== undefined) return forgetAccount(server);
    const service = serviceAddress(readService(given));
    const logins = createKeptLogins(loginsFolder(process.env));
    const ended = await signOut(logins, service);
    if (ended.kind === 'was-not-signed-in') print(`You were not signed in to ${service}.\n`);
    else if (ended.isRevoked) print(`Signed out of ${service}.\n`);
    else
      print(
        `Signed out of ${service} on this machine. Its issuer offers no sign-out to programs, or did not answer, so the login there expires by itself.\n`,
      );
  },
});

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

export const token = defineCommand({
  arguments: ['<user>'],
  options: {},
  details: 'Users of the demo are alice and bob. DEMO_IDENTITY_PORT says where its sign-in listens (3001).',
  async run(_, [user = '']) {
    if (process.env['AUTH_ISSUER'])
      throw new Error(
        'AUTH_ISSUER is set, so tokens come from your own issuer; the demo can only make its own.',
      );
    const port = process.env['DEMO_IDENTITY_PORT'] ?? '3001';
    print(`${await demoToken(`http://127.0.0.1:${port}`, user)}\n`);
  },
});
