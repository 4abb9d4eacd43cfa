/** Signs in to a service and keeps the login, for the command and for editors. */
import type { KeptLogins, Login } from './kept-logins.ts';
import { findSignIn } from './sign-in-server.ts';
import type { SignInService } from './sign-in-server.ts';
import { explainSignIn, toLogin } from './signed-in.ts';
import type { Say, SignedIn } from './signed-in.ts';

interface Parts {
  service: string;
  logins: KeptLogins;
  /** Where people read where to go. */
  say: Say;
  /** In a browser of this machine, or of another one. */
  sign: (place: SignInService, parts: { say: Say }) => Promise<SignedIn>;
}

export async function signIn({ service, logins, say, sign }: Parts): Promise<Login> {
  const place = await findSignIn(service);
  const signedIn = await sign(place, { say }).catch((error: unknown) => {
    throw explainSignIn(error, place.issuer);
  });
  const login = toLogin(place, signedIn);
  await requireAccepted(place, login.accessToken);
  await logins.locked(service, async () => logins.write(login));
  return login;
}

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
