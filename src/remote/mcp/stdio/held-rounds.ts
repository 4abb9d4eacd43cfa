/**
 * Rounds of a call to a process of ours. It may keep what it needs for the next round in its memory, and nobody but
 * whoever started it can speak to it: so it is kept, and goes on with the answers itself.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerConfig } from '../../../config/config.ts';
import type { ClosedBecause } from '../../../elicitation/elicitation.ts';
import { pageNotOpenedForModel, tooManyRoundsForModel } from '../../../elicitation/wording.ts';
import type { Connection } from '../connect.ts';
import type { Deadline } from '../../deadline.ts';
import type { Hold } from '../legacy/held-questions.ts';
import { describeTrouble, nameOf } from '../failure-message.ts';
import type { Pause, QuestionAnswer, Resume } from '../../input-required.ts';

export type HeldRound =
  | { kind: 'go-on'; goOn: { resume: Resume; answers: QuestionAnswer[] } }
  /** The reason is complete, and made for the model. */
  | { kind: 'stopped'; message: string };

interface Parts {
  server: ServerConfig;
  connection: Connection;
  deadline: Deadline;
  hold: Hold;
}

const restMs = 1_000;
const longestRestMs = 15_000;

/** To be called with each pause of the call, in their order. */
export function holdRounds({
  server,
  connection,
  deadline,
  hold,
}: Parts): (pause: Pause) => Promise<HeldRound> {
  const gone = new AbortController();
  connection.client.onclose = () => gone.abort('server_gone' satisfies ClosedBecause);
  const signal = AbortSignal.any([gone.signal, deadline.signal]);
  let count = 0;

  return async ({ questions, resume }) => {
    if (++count > server.maxRounds)
      return { kind: 'stopped', message: tooManyRoundsForModel(server.title, 'rounds', server.maxRounds) };
    deadline.pause();
    try {
      if (questions.length === 0)
        await sleep(Math.min(restMs * 2 ** (count - 1), longestRestMs), undefined, { signal });
      const given = await Promise.all(questions.map((question) => hold.ask(question, signal)));
      const refused = given.find((one) => one.kind === 'refused');
      if (refused) return { kind: 'stopped', message: refused.message };
      const answered = given.filter((one) => one.kind === 'answer');
      const closed = answered.map(({ outcome }) => outcome).find((outcome) => outcome !== 'accept');
      if (resume.kind === 'again' && closed)
        return { kind: 'stopped', message: pageNotOpenedForModel(closed, server.title) };
      return { kind: 'go-on', goOn: { resume, answers: answered.map(({ answer }) => answer) } };
    } catch (error) {
      if (!signal.aborted) throw error;
      if (deadline.end) return { kind: 'stopped', message: describeTrouble(server, undefined, deadline.end) };
      const message = `${nameOf(server)} ended while the user was asked. The call did not complete.`;
      return { kind: 'stopped', message };
    } finally {
      deadline.resume();
    }
  };
}
