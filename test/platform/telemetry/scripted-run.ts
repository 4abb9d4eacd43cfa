/**
 * What people do while metrics and logs are watched: accounts that are connected, refused, renewed and revoked, questions that end in each way, and
 * a model that only talks.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Tracker } from '../../../demo/tracker/tracker.ts';
import { callOf, nthQuestion, respond } from '../../service/asking.ts';
import type { ChatStream } from '../../service/chat-stream.ts';
import { connectAccount } from '../../service/connect-account.ts';
import type { Caller } from '../../service/user.ts';

interface Stage {
  as(user: 'alice' | 'bob'): Promise<Caller>;
  tracker: Tracker;
  /** Lets the deadline of this turn's open question pass. */
  untilExpired(turn: { conversation: string; stream: ChatStream }): Promise<void>;
}

/** How often things happen in the run, to compare figures with. */
export const inTheRun = {
  accountQuestions: { accept: 2, decline: 1, expired: 1 },
  forms: { accept: 1, cancel: 1 },
  /** A 401 that another token cured, and one after which the account had to be connected again. */
  refusals: { renewed: 1, connection_required: 1 },
  turns: 8,
};

/** Of the first token of the run. */
const tokenSeconds = 12;

/** What is said in it, and must be in no line and no label. */
export const said = ['Lisbon-that-is-said', 'my-own-words', 'nights', 'open issues'];

export async function playScript({ as, tracker, untilExpired }: Stage): Promise<void> {
  const [alice, bob] = [await as('alice'), await as('bob')];
  const list = async (caller: Caller) => {
    const conversation = randomUUID();
    return { conversation, stream: await caller.chat('list my open issues', { conversation }) };
  };
  const connect = async () => {
    const { stream } = await list(alice);
    await connectAccount('alice', (await stream.question('pending')).url);
    await stream.finished();
  };

  tracker.accessTokenSeconds = tokenSeconds;
  await connect();
  tracker.accessTokenSeconds = 3_600;
  const connectedAt = performance.now();
  await (await alice.chat(`answer exactly: ${said[1]}`)).finished();

  // A token that was only just given is not renewed.
  await sleep((tokenSeconds / 3) * 1_000 + 100 - (performance.now() - connectedAt));
  refuseOnce(tracker);
  await (await list(alice)).stream.finished();

  tracker.revoke('alice');
  await connect();

  const declined = await list(bob);
  await respond(bob, declined.conversation, await declined.stream.question('pending'), { action: 'decline' });
  await declined.stream.finished();

  const expired = await list(bob);
  await expired.stream.question('pending');
  await untilExpired(expired);
  await expired.stream.finished();

  for (const action of ['accept', 'cancel']) {
    const conversation = randomUUID();
    const book = callOf(['book', { city: said[0] }]).replace('asking__', 'rounds__');
    const stream = await alice.chat(book, { conversation, agentId: 'asked' });
    const content = { nights: 3 };
    await respond(alice, conversation, await nthQuestion(stream, 0), {
      action,
      ...(action === 'accept' && { content }),
    });
    await stream.finished();
  }
}

/** The next request that is let in by its token is refused all the same. */
function refuseOnce({ faults }: Tracker): void {
  let reads = 0;
  Object.defineProperty(faults, 'refuseWith', {
    configurable: true,
    // Read twice for each request.
    get: () => (++reads <= 2 ? 401 : null),
  });
}
