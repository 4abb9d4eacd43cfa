/** An access token for a user of the demo without a browser, for curl and the terminal client. */
import { z } from 'zod';

export const demoGrantType = 'urn:interlude:demo:user';
export const demoTokenClient = 'interlude-demo-terminal';
/** The client of `interlude login` at the demo's provider. */
export const demoProgramClient = 'interlude-demo-program';

const answerSchema = z.object({ access_token: z.string() });
const refusalSchema = z.object({ error_description: z.string() });

/** Throws an error with a remedy when the provider is not running or has no such user. */
export async function demoToken(issuer: string, user: string): Promise<string> {
  const body = new URLSearchParams({ grant_type: demoGrantType, client_id: demoTokenClient, user });
  const response = await fetch(`${issuer}/token`, {
    method: 'POST',
    body,
    signal: AbortSignal.timeout(5_000),
  }).catch((cause: unknown) => {
    throw new Error(
      `The demo's identity provider does not answer at ${issuer}. Start it, in its folder: npx interlude start`,
      {
        cause,
      },
    );
  });
  const answer: unknown = await response.json().catch(() => undefined);
  const granted = answerSchema.safeParse(answer);
  if (granted.success) return granted.data.access_token;
  const refused = refusalSchema.safeParse(answer);
  throw new Error(
    refused.success
      ? refused.data.error_description
      : `${issuer} is not the demo's identity provider (it answered ${response.status}); is its port taken by something else?`,
  );
}
