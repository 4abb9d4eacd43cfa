/**
 * The token of the signed-in user, for their page. Other origins cannot read it. A page that is still open after another
 * person has signed in here gets none.
 */
import { signedIn } from '../../../lib/session.ts';
import { tokenFor } from '../../../lib/tokens.ts';

export async function GET(request: Request): Promise<Response> {
  const user = await signedIn();
  if (!user || user !== new URL(request.url).searchParams.get('user'))
    return new Response('Sign in first.', { status: 401 });
  return new Response(await tokenFor(user), { headers: { 'cache-control': 'no-store' } });
}
