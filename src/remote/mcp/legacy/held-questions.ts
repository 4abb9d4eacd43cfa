/**
 * Questions of the old era while the connection of their call stays open. Without event ids nobody can take the call
 * up again, so whoever made it holds the line until people have answered.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import type { Credential } from '../../../credentials/store.ts';
import type { ClosedBecause, Outcome } from '../../../elicitation/elicitation.ts';
import type { Deadline } from '../../deadline.ts';
import { toProgress, toResponse } from './messages.ts';
import type { QuestionAnswer, RunningCall, ServerQuestion } from '../../input-required.ts';

export type HoldAnswer =
  | {
      kind: 'answer';
      answer: QuestionAnswer;
      /** What the server hears as `cancel` may have run out. */
      outcome: Outcome;
      /** What to go on with, as the one the call began with may have run out meanwhile. */
      credential?: Credential;
    }
  | { kind: 'refused'; message: string };

export interface Hold {
  /**
   * Puts a question to the user. Resolves with their answer, or with why the call has to end here. Rejects when
   * `signal` is aborted; its reason says, as `ClosedBecause`, if that is the server's doing.
   */
  ask(question: ServerQuestion, signal: AbortSignal, call?: RunningCall): Promise<HoldAnswer>;
  /** The server says that a page it sent the user to is done. */
  pageDone(question: ServerQuestion): void;
}

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

interface Surroundings {
  hold: Hold;
  /** The call that is held, where its server keeps sessions. */
  call(): RunningCall | undefined;
  deadline: Deadline;
  send(message: JSONRPCMessage): Promise<void>;
  renew(credential: Credential): void;
  /** The call cannot go on. */
  stop(message: string): void;
  /** The answer did not get through: what the server makes of the call is not known any more. */
  lost(): void;
}

/** Often enough for clocks of a minute, which stock servers have. */
const progressEveryMs = 15_000;

export function createHeldQuestions({
  hold,
  call,
  deadline,
  send,
  renew,
  stop,
  lost,
}: Surroundings): HeldQuestions {
  const open = new Map<string, { question: ServerQuestion; withdrawn: AbortController }>();
  const unanswered = new Set<ServerQuestion>();

  async function ask(question: ServerQuestion, signal: AbortSignal): Promise<void> {
    const answered = await hold.ask(question, signal, call());
    if (signal.aborted) return;
    if (answered.kind === 'refused') return stop(answered.message);
    if (answered.credential) renew(answered.credential);
    unanswered.delete(question);
    await send(toResponse(answered.answer)).catch(lost);
  }

  return {
    open(question) {
      // Two under one name could not be told apart by their answers.
      if (open.has(question.key)) return;
      const withdrawn = new AbortController();
      open.set(question.key, { question, withdrawn });
      unanswered.add(question);
      deadline.pause();
      let count = 0;
      const keepWaiting = setInterval(() => {
        const progress = toProgress(question, ++count);
        // One that gets lost is followed by the next.
        if (progress) send(progress).catch(() => undefined);
      }, progressEveryMs);
      void ask(question, AbortSignal.any([withdrawn.signal, deadline.signal]))
        .catch(() => (withdrawn.signal.aborted || deadline.end ? undefined : lost()))
        .finally(() => {
          clearInterval(keepWaiting);
          open.delete(question.key);
          if (open.size === 0) deadline.resume();
        });
    },
    withdraw: (key) => open.get(key)?.withdrawn.abort('server_gave_up' satisfies ClosedBecause),
    pageDone(pageId) {
      for (const { question } of open.values()) if (question.pageId === pageId) hold.pageDone(question);
    },
    count: () => open.size,
    areAnswered: () => unanswered.size === 0,
    end(because) {
      for (const { withdrawn } of open.values()) withdrawn.abort(because);
    },
  };
}
