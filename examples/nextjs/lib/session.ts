/** Takes the place of your sign-in: everyone may be Alice or Bob. */
import { cookies } from 'next/headers';
import { appUrl, sessionFor, userOfSession } from './tokens.ts';

const name = 'session';

export async function signedIn(): Promise<string | null> {
  const session = (await cookies()).get(name)?.value;
  return session ? userOfSession(session) : null;
}

export async function signIn(user: string): Promise<void> {
  const secure = appUrl.startsWith('https:');
  (await cookies()).set(name, await sessionFor(user), { httpOnly: true, sameSite: 'lax', secure, path: '/' });
}

export async function signOut(): Promise<void> {
  (await cookies()).delete(name);
}
