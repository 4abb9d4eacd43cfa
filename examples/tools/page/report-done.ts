/** For the page's own server: reports that the user is done there. */
import { signCompletion } from '@interlude-ai/tools';

export async function reportDone(elicitationId: string, secret: string): Promise<Response> {
  const signature = await signCompletion({ elicitationId, secret });
  return fetch(`https://interlude.example/run/v1/elicitations/${elicitationId}/complete`, {
    method: 'POST',
    headers: { 'interlude-signature': signature },
  });
}
