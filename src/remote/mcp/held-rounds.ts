/**
 * Rounds of a call to a stdio server. Its process may keep state for the next round in memory, so it is kept running, and
 * the call goes on in the same process with the answers.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerConfig } from '../../platform/config/config.ts';
import type { ClosedBecause } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { CallFailure } from '../../turn/call-failure.ts';
import type { AskUser, Continuation } from '../remote-servers.ts';
import type { Deadline } from '../deadline.ts';
import type { InputRequired } from '@interlude-ai/core/mcp/input-required.ts';
import { nameOf } from '../server-name.ts';
import type { Connection } from './connection.ts';
import { troubleOf } from './server-trouble.ts';

type HeldRound = { kind: 'go-on'; continuation: Continuation } | { kind: 'stopped'; failure: CallFailure };

interface Parts {
  server: ServerConfig;
  connection: Connection;
  deadline: Deadline;
  askUser: AskUser;
}

/** Exponential backoff before a server is called again that has asked nothing. */
const firstBackoffMs = 1_000;
const longestBackoffMs = 15_000;

/** The returned function is called with each pause of the call, in order. */
export function holdRounds(parts: Parts): (pause: InputRequired) => Promise<HeldRound> {
  const { server, connection, deadline } = parts;
  const gone = new AbortController();
  connection.client.onclose = () => gone.abort('server_gone' satisfies ClosedBecause);
  const signal = AbortSignal.any([gone.signal, deadline.signal]);
  let count = 0;

  return async (pause) => {
    if (++count > server.maxRounds)
      return stopped({
        code: 'too_many_rounds',
        what: 'rounds',
        limit: server.maxRounds,
        server: server.title,
      });
    deadline.pause();
    try {
      if (pause.questions.length === 0) {
        const backoffMs = Math.min(firstBackoffMs * 2 ** (count - 1), longestBackoffMs);
        await sleep(backoffMs, undefined, { signal });
      }
      return await askAll(parts, pause, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      return stopped(
        deadline.end
          ? { code: 'server_trouble', trouble: troubleOf(server, undefined, deadline.end) }
          : { code: 'ended_while_asking', server: nameOf(server) },
      );
    } finally {
      deadline.resume();
    }
  };
}

function stopped(failure: CallFailure): HeldRound {
  return { kind: 'stopped', failure };
}

async function askAll(
  { server, askUser }: Parts,
  { questions, resume }: InputRequired,
  signal: AbortSignal,
): Promise<HeldRound> {
  const given = await Promise.all(questions.map((question) => askUser.ask(question, signal)));
  const refused = given.find((one) => one.kind === 'refused');
  if (refused) return stopped(refused.failure);
  const answered = given.filter((one) => one.kind === 'answer');
  const closed = answered.map(({ outcome }) => outcome).find((outcome) => outcome !== 'accept');
  if (resume.kind === 'again' && closed)
    return stopped({ code: 'page_not_opened', why: closed, server: server.title });
  return { kind: 'go-on', continuation: { resume, answers: answered.map(({ answer }) => answer) } };
}
