/** Messages whose delivery no caller waits for, such as the cancellation of a call. A process that stops waits for them. */
import { withTimeout } from '@interlude-ai/core/with-timeout.ts';

const timeoutMs = 2_000;
const underWay = new Set<Promise<void>>();

/** Resolves when it was sent or has taken too long. Failures are ignored. */
export function sendBestEffort(message: Promise<unknown>): Promise<void> {
  const ended = message.catch(() => undefined);
  const sent = withTimeout(ended, timeoutMs, undefined, { ref: false }).then(
    () => void underWay.delete(sent),
  );
  underWay.add(sent);
  return sent;
}

/** Resolves when all such messages of this process were sent or given up. */
export async function bestEffortSettled(): Promise<void> {
  while (underWay.size > 0) await Promise.all(underWay);
}
