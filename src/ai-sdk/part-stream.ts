import type { AgentPart } from './agent-part.ts';
import type { OpenTurn } from './open-turn.ts';

/** What the SDK does with an error is decided by then. */
const decideWithinMs = 250;

/** Read as fast as the consumer reads. A consumer that cancels it leaves the turn alone. */
export function toPartStream(
  parts: AsyncGenerator<AgentPart, void>,
  { reader, comesAgain }: Pick<OpenTurn, 'reader' | 'comesAgain'>,
): ReadableStream<AgentPart> {
  let failure: unknown;
  let isDecided = Promise.resolve();
  let decide = () => {};
  let isLeft = false;

  return new ReadableStream<AgentPart>(
    {
      async pull(controller) {
        await isDecided;
        if (isLeft) return;
        const { done, value } = await parts.next();
        if (isLeft) return;
        if (done) return controller.close();
        if (value.type === 'error') {
          failure = value.error;
          // A stream that has ended cannot be cancelled, and that is how the SDK says that it makes the call again.
          isDecided = new Promise((resolve) => {
            const timer = setTimeout(resolve, decideWithinMs);
            decide = () => {
              clearTimeout(timer);
              resolve();
            };
          });
        }
        controller.enqueue(value);
      },
      cancel(reason) {
        isLeft = true;
        if (failure !== undefined && reason === failure) comesAgain();
        decide();
        reader.leave();
      },
    },
    { highWaterMark: 0 },
  );
}
