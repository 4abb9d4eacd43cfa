/** `interlude logout`: ends the kept login, at the issuer too where it lets programs do so. */
import * as openid from 'openid-client';
import { createKeptLogins, loginsFolder } from '../login/kept-logins.ts';
import type { Login } from '../login/kept-logins.ts';
import { programAt, serviceAddress } from '../login/sign-in-server.ts';
import { defineCommand } from '../command.ts';
import { readService, serviceOption } from './service-option.ts';

export const logout = defineCommand({
  arguments: [],
  options: { service: serviceOption },
  async run({ service: given }) {
    const service = serviceAddress(readService(given));
    const logins = createKeptLogins(loginsFolder(process.env));
    const ended = await logins.locked(service, async () => {
      const kept = logins.read(service);
      logins.remove(service);
      return kept && { isRevoked: await revoke(kept) };
    });
    if (!ended) process.stdout.write(`You were not signed in to ${service}.\n`);
    else if (ended.isRevoked) process.stdout.write(`Signed out of ${service}.\n`);
    else
      process.stdout.write(
        `Signed out of ${service} on this machine. Its issuer was not told, so the login there runs out by itself.\n`,
      );
  },
});

/** False where it cannot be done. */
async function revoke({ service, issuer, clientId, refreshToken, accessToken }: Login): Promise<boolean> {
  try {
    const { at } = await programAt({ service, issuer, clientId, scope: undefined });
    if (at.serverMetadata().revocation_endpoint === undefined) return false;
    await openid.tokenRevocation(at, refreshToken ?? accessToken);
    return true;
  } catch {
    return false;
  }
}
