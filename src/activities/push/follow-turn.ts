/** A turn's news for one target: what its log says from a position on, and what comes while somebody waits for it. */
import { createNewsFeed } from '../../a2a/push-news.ts';
import type { News } from '../../a2a/push-news.ts';
import { createTaskView, isInterrupted, isTerminal } from '../../a2a/task-view.ts';
import { answerAddress } from '../../elicitation/account-pages.ts';
import type { PushConfig } from '../../storage/ports/push-configs.ts';
import { turnEntries } from '../../storage/log/turn-entries.ts';
import { unloggedEnd } from '../../storage/log/unlogged-end.ts';
import type { Storage } from '../../storage/storage.ts';

export interface TurnNews {
  /** What is known by now and was not told up to the position. */
  known: News[];
  /** `waiting`: for a person, and nothing comes until somebody acts. */
  state(): 'working' | 'waiting' | 'ended';
  /** What comes, until the turn has ended or `signal` aborts. */
  coming(signal: AbortSignal): AsyncGenerator<News[]>;
}

/** `after`: up to where the target has been told; null before the first notification. Null: the turn was withdrawn. */
export async function followNews(
  storage: Pick<Storage, 'turnLog' | 'turns'>,
  config: Pick<PushConfig, 'turn' | 'isStructured' | 'position'>,
  { after, publicUrl }: { after: number | null; publicUrl: string },
): Promise<TurnNews | null> {
  const { turnLog, turns } = storage;
  const { turn, isStructured } = config;
  const row = await turns.get(turn);
  if (!row) return null;
  const facts = {
    turn,
    given: await turns.given(row),
    clientMessageId: row.clientMessageId,
    createdAt: row.createdAt,
    // The log says when it began and ended, and so at which position.
    status: 'starting' as const,
  };
  const view = createTaskView(facts, { isStructured, pageOf: (id) => answerAddress(publicUrl, id) });
  const feed = createNewsFeed(view);
  let position = await turnLog.latest(turn);
  const entries = await turnEntries(turnLog, turn, position);
  const told = after ?? config.position;
  view.add(entries.filter(({ seq }) => seq <= config.position));
  const known = [feed.first(config.position)];
  known.push(...feed.next(entries.filter(({ seq }) => seq > config.position)));
  // The log will not go on from where the target was told.
  const unlogged = entries.length === 0 && (await unloggedEnd(storage, turn, told + 1));
  if (unlogged) known.push(...feed.next([unlogged]));
  const isNew = ({ position: at }: News) => at > told;
  return {
    known: after === null ? known : known.slice(1).filter(isNew),
    state() {
      if (isTerminal(view.state())) return 'ended';
      return isInterrupted(view.state()) ? 'waiting' : 'working';
    },
    async *coming(signal) {
      for await (const batch of turnLog.follow(turn, position, signal)) {
        position = batch.at(-1)?.seq ?? position;
        yield feed.next(batch.filter(({ turnId }) => turnId === turn.turnId));
        if (isTerminal(view.state())) return;
      }
    },
  };
}
