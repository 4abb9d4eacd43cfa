/** `interlude login`: signs in to a service, for every command that speaks to it. */
import { createKeptLogins, loginsFolder } from '../login/kept-logins.ts';
import { signInWithBrowser } from '../login/in-browser.ts';
import { findSignIn, serviceAddress } from '../login/sign-in-server.ts';
import type { SignInService } from '../login/sign-in-server.ts';
import { explainSignIn, toLogin } from '../login/signed-in.ts';
import { signInWithDevice } from '../login/with-device.ts';
import { defineCommand } from '../command.ts';
import { readService, serviceOption } from './service-option.ts';

export const login = defineCommand({
  arguments: [],
  options: {
    service: serviceOption,
    device: { type: 'boolean', description: 'with a code, in a browser of another machine' },
  },
  details:
    'The login is kept in your own configuration folder and renewed by itself; interlude logout ends it. INTERLUDE_TOKEN is used instead where it is set.',
  async run({ service: given, device }) {
    const service = serviceAddress(readService(given));
    const place = await findSignIn(service);
    const say = (text: string) => void process.stderr.write(text);
    const sign = device ? signInWithDevice : signInWithBrowser;
    const signedIn = await sign(place, { say }).catch((error: unknown) => {
      throw explainSignIn(error, place.issuer);
    });
    const made = toLogin(place, signedIn);
    await requireAccepted(place, made.accessToken);
    const logins = createKeptLogins(loginsFolder(process.env));
    await logins.locked(service, async () => logins.write(made));
    process.stdout.write(`Signed in to ${service}${made.name === undefined ? '' : ` as ${made.name}`}.\n`);
  },
});

/** An issuer that gives tokens for something else is found out here, and not by the first command. */
async function requireAccepted({ service, issuer }: SignInService, token: string): Promise<void> {
  const response = await fetch(`${service}/run/v1/conversations?limit=1`, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(10_000),
  });
  if (response.status !== 401) {
    await response.body?.cancel();
    return;
  }
  const { detail } = (await response.json()) as { detail?: string };
  throw new Error(
    `${service} does not take the token that ${issuer} gave: ${detail ?? 'it was refused'} The operator can say how in AUTH_AUDIENCE and AUTH_PROGRAM_SCOPE.`,
  );
}
