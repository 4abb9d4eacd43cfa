/** A turn's log, read from its beginning and followed from there. */
import type { SlackDelivery } from '../../storage/ports/slack-deliveries.ts';
import { turnEntries } from '../../storage/log/turn-entries.ts';
import { unloggedEnd } from '../../storage/log/unlogged-end.ts';
import type { Storage } from '../../storage/storage.ts';
import type { LogEntry } from '../../turn/event.ts';

export interface OpenTurn extends AsyncDisposable {
  /** What the log says by now of this turn. */
  entries: LogEntry[];
  position(): number;
  /** Resolves when there is more, or nothing comes any more. */
  after(position: number): Promise<void>;
}

export async function openTurn(
  storage: Pick<Storage, 'turnLog' | 'turns'>,
  turn: SlackDelivery['turn'],
  until: AbortSignal,
): Promise<OpenTurn> {
  const { turnLog } = storage;
  const closing = new AbortController();
  let position = await turnLog.latest(turn);
  const entries = await turnEntries(turnLog, turn, position);
  const unlogged = entries.length === 0 && (await unloggedEnd(storage, turn, position));
  if (unlogged) entries.push(unlogged);
  const add = (batch: LogEntry[]) => {
    position = batch.at(-1)?.seq ?? position;
    entries.push(...batch.filter(({ turnId }) => turnId === turn.turnId));
  };
  let isOver = false;
  let failure: unknown;
  let wake: () => void = () => undefined;
  const following = (async () => {
    try {
      for await (const batch of turnLog.follow(turn, position, AbortSignal.any([until, closing.signal]))) {
        add(batch);
        wake();
      }
    } catch (error) {
      failure = error;
    } finally {
      isOver = true;
      wake();
    }
  })();
  return {
    entries,
    position: () => position,
    async after(seen) {
      while (!isOver && position <= seen) {
        const woken = Promise.withResolvers<void>();
        wake = woken.resolve;
        await woken.promise;
      }
      if (failure !== undefined) throw failure;
    },
    async [Symbol.asyncDispose]() {
      closing.abort();
      await following;
    },
  };
}
