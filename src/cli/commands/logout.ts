/** `interlude logout`: ends the kept login, at the issuer too where it lets programs do so. */
import { createKeptLogins, loginsFolder } from '../login/kept-logins.ts';
import { serviceAddress } from '../login/sign-in-server.ts';
import { signOut } from '../login/sign-out.ts';
import { defineCommand } from '../command.ts';
import { readService, serviceOption } from './service-option.ts';

export const logout = defineCommand({
  arguments: [],
  options: { service: serviceOption },
  async run({ service: given }) {
    const service = serviceAddress(readService(given));
    const logins = createKeptLogins(loginsFolder(process.env));
    const ended = await signOut(logins, service);
    if (ended.kind === 'was-not-signed-in') process.stdout.write(`You were not signed in to ${service}.\n`);
    else if (ended.isRevoked) process.stdout.write(`Signed out of ${service}.\n`);
    else
      process.stdout.write(
        `Signed out of ${service} on this machine. Its issuer was not told, so the login there runs out by itself.\n`,
      );
  },
});
