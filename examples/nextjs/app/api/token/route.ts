/** The token of the signed-in user, for their page. Other origins cannot read it. */
import { signedIn } from '../../../lib/session.ts';
import { tokenFor } from '../../../lib/tokens.ts';

export async function GET(): Promise<Response> {
  const user = await signedIn();
  if (!user) return new Response('Sign in first.', { status: 401 });
  return new Response(await tokenFor(user), { headers: { 'cache-control': 'no-store' } });
}
