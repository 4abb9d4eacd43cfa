/**
 * Questions of the old era that are asked while the connection of their call stays open. Without event ids nobody else can
 * resume the call, so the worker that made it holds the connection until people have answered.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import type { Credential } from '../../../credentials/store.ts';
import type { ClosedBecause } from '../../../elicitation/elicitation.ts';
import type { AskUser } from '../../ask-user.ts';
import type { Deadline } from '../../deadline.ts';
import type { RunningCall, ServerQuestion } from '../../input-required.ts';
import { toProgress, toResponse } from './messages.ts';

export interface HeldQuestions {
  open(question: ServerQuestion): void;
  withdraw(key: string): void;
  pageDone(pageId: string): void;
  /** Of those that are open. */
  count(): number;
  /** Each one that was asked has its answer, which is at least on its way. */
  areAnswered(): boolean;
  /** The call is over: nobody waits for answers any more. */
  end(because: ClosedBecause): void;
}

interface Parts {
  askUser: AskUser;
  deadline: Deadline;
  /** The call that is held, where its server keeps sessions. */
  runningCall(): RunningCall | undefined;
  send(message: JSONRPCMessage): Promise<void>;
  setCredential(credential: Credential): void;
  /** Called when the call cannot go on. */
  onStop(message: string): void;
  /** Called when an answer did not get through: what the server makes of the call is not known any more. */
  onLost(): void;
}

/** Often enough for servers that time out after a minute, which stock ones do. */
const progressEveryMs = 15_000;

export function createHeldQuestions(parts: Parts): HeldQuestions {
  const { askUser, deadline, send, onLost } = parts;
  const open = new Map<string, { question: ServerQuestion; withdrawn: AbortController }>();
  const unanswered = new Set<ServerQuestion>();

  async function ask(question: ServerQuestion, signal: AbortSignal): Promise<void> {
    const answered = await askUser.ask(question, signal, parts.runningCall());
    if (signal.aborted) return;
    if (answered.kind === 'refused') return parts.onStop(answered.message);
    if (answered.credential) parts.setCredential(answered.credential);
    unanswered.delete(question);
    await send(toResponse(answered.answer)).catch(onLost);
  }

  return {
    open(question) {
      // Two under one name could not be told apart by their answers.
      if (open.has(question.key)) return;
      const withdrawn = new AbortController();
      open.set(question.key, { question, withdrawn });
      unanswered.add(question);
      deadline.pause();
      const progressTimer = reportProgress(question, send);
      void ask(question, AbortSignal.any([withdrawn.signal, deadline.signal]))
        .catch(() => (withdrawn.signal.aborted || deadline.end ? undefined : onLost()))
        .finally(() => {
          clearInterval(progressTimer);
          open.delete(question.key);
          if (open.size === 0) deadline.resume();
        });
    },
    withdraw: (key) => open.get(key)?.withdrawn.abort('server_gave_up' satisfies ClosedBecause),
    pageDone(pageId) {
      for (const { question } of open.values()) if (question.pageId === pageId) askUser.pageDone(question);
    },
    count: () => open.size,
    areAnswered: () => unanswered.size === 0,
    end(because) {
      for (const { withdrawn } of open.values()) withdrawn.abort(because);
    },
  };
}

/** Keeps the server's timeout from passing while the user thinks. */
function reportProgress(question: ServerQuestion, send: Parts['send']): NodeJS.Timeout {
  let count = 0;
  return setInterval(() => {
    const progress = toProgress(question, ++count);
    // One that gets lost is followed by the next.
    if (progress) send(progress).catch(() => undefined);
  }, progressEveryMs);
}
