/** Sends answers into a session of the old era, each as the response to the server's own request. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { QuestionAnswer } from '../../input-required.ts';
import type { Exchange } from '../exchange.ts';
import type { JoinedSession } from './joined-session.ts';
import { toResponse } from './messages.ts';
import { failureBackoffMs, maxFailures } from './read-call-stream.ts';

/** Null when all were sent, or when what became of them is for the stream to say; otherwise what failed. */
export async function sendAnswers(
  session: JoinedSession,
  answers: QuestionAnswer[],
): Promise<Exchange | null> {
  for (const answer of answers) {
    let exchange = await session.send(toResponse(answer));
    for (let count = 1; !exchange.isSent && count < maxFailures; count++) {
      await sleep(failureBackoffMs);
      exchange = await session.send(toResponse(answer));
    }
    const { status } = exchange;
    const isRefused = status === 401 || status === 403 || status === 404;
    if (!exchange.isSent || isRefused) return exchange;
  }
  return null;
}
