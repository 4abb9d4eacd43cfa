/**
 * A call is a series of attempts, each of which is an activity, until one of them has stored a result for the model. Between
 * attempts the call waits for people, whose answers the next attempt reads, or for a server that wants to be called later.
 */
import { sleep } from '@temporalio/workflow';
import type { AttemptResult, DurableCallPermit, FinishedCall, GivenApproval } from '../turn/tool-call.ts';
import { attemptsBeforeReset } from './failures.ts';
import type { TurnInput } from './messages.ts';
import type { OperatorView } from './operator-view.ts';
import type { Questions } from './questions.ts';

/** A running agent, as its calls share it. */
export interface Agent {
  readonly turn: TurnInput;
  readonly questions: Questions;
  readonly view: OperatorView;
  /** How often its model has called `ask_user`. */
  modelQuestions: number;
}

/** What an attempt is to know of those before it. */
export interface Before {
  execution: number;
  approval?: GivenApproval;
}

/** Exponential backoff for a server that asks nothing but to be called again later. */
const firstPauseMs = 250;
const longestPauseMs = 30_000;

export async function untilFinished(
  { turn, questions, view }: Agent,
  toolCallId: string,
  attempt: (before: Before) => Promise<AttemptResult | DurableCallPermit>,
): Promise<FinishedCall | { kind: 'permitted' }> {
  let before: Before = { execution: 0 };
  for (let pauses = 0; ;) {
    const since = questions.now();
    const execution = before.execution + attemptsBeforeReset(turn);
    const result = await attempt({ ...before, execution });
    view.attemptEnded(toolCallId);
    before = { ...before, execution: before.execution + 1 };
    switch (result.kind) {
      case 'finished':
      case 'permitted':
        return result;
      case 'later':
        await sleep(Math.min(firstPauseMs * 2 ** pauses++, longestPauseMs));
        break;
      case 'asks': {
        const { questions: asked, approval } = result;
        if (approval) before = { ...before, approval };
        await view.whileAsking(toolCallId, asked, () => questions.wait(asked, since));
        break;
      }
      default:
        return result satisfies never;
    }
  }
}
