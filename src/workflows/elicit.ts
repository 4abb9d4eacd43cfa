/**
 * Asking a person, durably: the question opens, waits for what settles it or for its deadline, and its outcome goes to
 * be written down, however the asking ends.
 */
import { CancellationScope, uuid4, workflowInfo } from '@temporalio/workflow';
import { canPresent } from '../elicitation/capabilities.ts';
import type { Elicitation } from '../elicitation/lifecycle.ts';
import { accountOf, askedBy, modeOf } from '../turn/ask.ts';
import type { Ask, AskResult, NewQuestion, Opened } from '../turn/ask.ts';
import { openElicitation } from './activities.ts';
import { createDeadlines } from './deadlines.ts';
import { findLateConnection } from './find-late-connection.ts';
import type { TurnInput } from './messages.ts';
import { aimOf } from './operator-view.ts';
import type { Questions } from './questions.ts';
import type { UnwrittenOutcomes } from './unwritten-outcomes.ts';

export interface Elicit {
  /** `id` unless the question has one already. */
  (ask: Ask, user: string, id?: string): Promise<AskResult>;
}

export interface Elicitations {
  elicit: Elicit;
  /** Whether everything that was asked, and is waited for, is still without an answer. */
  areAllPending(): boolean;
}

export function createElicit(
  turn: TurnInput,
  { questions, unwritten }: { questions: Questions; unwritten: UnwrittenOutcomes },
): Elicitations {
  const deadlines = createDeadlines();
  const awaited = new Set<string>();

  async function elicit(ask: Ask, user: string, id = uuid4()): Promise<AskResult> {
    if (!canPresent(modeOf(ask), turn.capabilities)) return 'unsupported';
    const deadline = Date.now() + turn.limits.elicitationTimeoutMs;
    const asked = { turn, workflowId: workflowInfo().workflowId, elicitationId: id, user, ask, deadline };
    // Known before it is opened, so that an answer which overtakes the opening counts.
    questions.add(toElicitation(asked));
    awaited.add(id);
    try {
      const opened = await CancellationScope.nonCancellable(() => openElicitation(asked));
      switch (opened.kind) {
        case 'too-many-open':
          questions.remove(id);
          return 'too-many-open';
        case 'call-ended':
          questions.remove(id);
          return 'cancel';
        case 'already-connected':
          await settled(asked, opened);
          questions.remove(id);
          return 'accept';
        case 'opened':
          await settled(asked, opened);
          return questions.settlement(id)?.outcome ?? 'expired';
        default:
          return opened satisfies never;
      }
    } catch (error) {
      questions.apply(id, { type: 'abandoned' });
      throw error;
    } finally {
      awaited.delete(id);
      unwritten.add(questions.settlement(id));
    }
  }

  /** Until something settles the question, at the latest its deadline. */
  async function settled({ elicitationId: id, ask, deadline }: NewQuestion, opened: Opened): Promise<void> {
    const connected = (version: number) =>
      questions.apply(id, { type: 'connected', server: askedBy(ask), version });
    if (opened.connectedVersion !== null) connected(opened.connectedVersion);
    const isSettled = () => !questions.isPending(id);
    const account = accountOf(ask);
    const summary = `elicitation: ${aimOf({ mode: modeOf(ask), server: askedBy(ask), isConnection: account !== null })}`;
    if (await deadlines.wait(deadline, isSettled, summary)) return;
    if (account && opened.mayGoUnnoticed) {
      const version = await findLateConnection({ turn, ...account });
      if (version !== null) connected(version);
    }
    questions.apply(id, { type: 'deadline-passed' });
  }

  return { elicit, areAllPending: () => [...awaited].every(questions.isPending) };
}

function toElicitation({ elicitationId, user, ask, deadline }: NewQuestion): Elicitation {
  const account = accountOf(ask);
  return {
    id: elicitationId,
    mode: modeOf(ask),
    user,
    deadline,
    server: askedBy(ask),
    ...(account && { connection: { seenVersion: account.seenVersion } }),
    state: { kind: 'pending' },
  };
}
