/** A request that is told 503 is sent again, as its answer says, so that a busy machine measures slowly instead of not at all. */
import { setTimeout as sleep } from 'node:timers/promises';

const unavailable = 503;
/** Somebody would have given up long before; a run has to end. */
const giveUpMs = 300_000;

let repeats = 0;

/** How often anything was sent again so far. */
export const repeatsSoFar = (): number => repeats;

/** Resolves with the last answer, which is a 503 only after five minutes of them. */
export async function sendUntilTaken(
  url: string,
  request: RequestInit,
): Promise<{ response: Response; repeats: number }> {
  const giveUpAt = Date.now() + giveUpMs;
  for (let own = 0; ; own++) {
    const response = await fetch(url, request);
    if (response.status !== unavailable || Date.now() > giveUpAt) return { response, repeats: own };
    await response.arrayBuffer();
    repeats += 1;
    await sleep(1_000 * Number(response.headers.get('retry-after') ?? 1));
  }
}
