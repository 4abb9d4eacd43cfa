/** `interlude logout`: ends the kept login, at the issuer too where it lets programs do so. */
import { createKeptLogins, loginsFolder } from '../login/kept-logins.ts';
import { serviceAddress } from '../login/sign-in-server.ts';
import { signOut } from '../login/sign-out.ts';
import { defineCommand, UsageError } from '../command.ts';
import { accountFiles, accountName } from '../try/sign-in/account-file.ts';
import { readService, serviceOption } from './service-option.ts';
import { print } from '../terminal-text.ts';

export const logout = defineCommand({
  arguments: [],
  options: {
    service: serviceOption,
    server: { type: 'string', value: '<url>', description: 'instead: forget the account at this MCP server' },
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
        `Signed out of ${service} on this machine. Its issuer was not told, so the login there runs out by itself.\n`,
      );
  },
});

/** Of `interlude try` and `interlude lint-server`. */
function forgetAccount(server: string): void {
  const url = URL.parse(server);
  if (!url) throw new UsageError(`${server} is not a URL.`);
  const name = accountName(url);
  const kept = accountFiles(process.env);
  const was = kept.read(name) !== null;
  kept.remove(name);
  print(was ? `The account at ${name} is forgotten here.\n` : `There was no account at ${name}.\n`);
}
