/**
 * Asks a person one question, durably: opens it, waits until something settles it or its deadline passes, and hands its
 * outcome to `unwritten`, also when asking fails or is cancelled.
 */
import { CancellationScope, condition, uuid4, workflowInfo } from '@temporalio/workflow';
import { canPresent } from '../elicitation/capabilities.ts';
import type { Elicitation } from '../elicitation/lifecycle.ts';
import { accountOf, askedBy, expiresAtOf, isReported, modeOf } from '../turn/ask.ts';
import type { Ask, AskResult, NewQuestion, Opened, ToolRequest } from '../turn/ask.ts';
import { openElicitation } from './activities.ts';
import { createDeadlines } from './deadlines.ts';
import { findLateConnection } from './find-late-connection.ts';
import type { TurnInput } from './messages.ts';
import { requestedAction } from './operator-view.ts';
import type { Questions } from './questions.ts';
import type { UnwrittenOutcomes } from './unwritten-outcomes.ts';

export interface Elicit {
  /** `id`: the question's id; a new one by default. */
  (ask: Ask, user: string, id?: string, own?: OwnQuestion): Promise<AskResult>;
}

/** What only a tool in TypeScript says of its question. */
export interface OwnQuestion {
  request: ToolRequest;
  /** At most what the turn allows. */
  timeoutMs?: number | undefined;
}

export interface Elicitations {
  elicit: Elicit;
  /** Whether none of the questions that are waited for has been settled. */
  areAllPending(): boolean;
}

export function createElicit(
  turn: TurnInput,
  { questions, unwritten }: { questions: Questions; unwritten: UnwrittenOutcomes },
): Elicitations {
  const deadlines = createDeadlines();
  const awaited = new Set<string>();

  async function elicit(ask: Ask, user: string, id = uuid4(), own?: OwnQuestion): Promise<AskResult> {
    if (!canPresent(modeOf(ask), turn.capabilities)) return 'unsupported';
    const { elicitationTimeoutMs: longest } = turn.limits;
    const ours = Date.now() + Math.min(own?.timeoutMs ?? longest, longest);
    const deadline = Math.min(ours, expiresAtOf(ask) ?? ours);
    const asked: NewQuestion = {
      turn,
      workflowId: workflowInfo().workflowId,
      elicitationId: id,
      user,
      ask,
      ...(own && { request: own.request }),
      deadline,
    };
    // Known before it is opened, so that an answer which overtakes the opening counts.
    questions.add(toElicitation(asked));
    awaited.add(id);
    try {
      const opened = await CancellationScope.nonCancellable(() => openElicitation(asked));
      switch (opened.kind) {
        case 'too-many-open':
          questions.remove(id);
          return opened.of === 'turn' ? 'too-many-in-turn' : 'too-many-open';
        case 'call-ended':
          questions.remove(id);
          return 'cancel';
        case 'page-cannot-report':
          questions.remove(id);
          throw new PageCannotReport();
        case 'already-connected':
          await waitUntilSettled(asked, opened);
          questions.remove(id);
          return 'accept';
        case 'opened':
          await waitUntilSettled(asked, opened);
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

  /** At the latest, the deadline settles it. */
  async function waitUntilSettled(
    { elicitationId: id, ask, deadline }: NewQuestion,
    opened: Opened,
  ): Promise<void> {
    const connected = (version: number) =>
      questions.apply(id, { type: 'connected', server: askedBy(ask), version });
    if (opened.connectedVersion !== null) connected(opened.connectedVersion);
    const isSettled = () => !questions.isPending(id);
    const account = accountOf(ask);
    const summary = `elicitation: ${requestedAction({ mode: modeOf(ask), server: askedBy(ask), isConnection: account !== null })}`;
    if (await deadlines.wait(deadline, isSettled, summary)) return;
    // An answer that came in time is held.
    if (questions.held.holds(id)) await condition(() => !questions.held.holds(id));
    if (isSettled()) return;
    if (account && opened.mayGoUnnoticed) {
      const version = await findLateConnection({ turn, ...account });
      if (version !== null) connected(version);
    }
    questions.apply(id, { type: 'deadline-passed' });
  }

  return { elicit, areAllPending: () => [...awaited].every(questions.isPending) };
}

/** Only a tool in TypeScript sends people to such pages. */
export class PageCannotReport extends Error {
  override name = 'PageCannotReport';

  constructor() {
    super(
      'nobody was sent to its page, because that page could never report that it is done: the agents file names no secret for it (tools.completionSecretEnv). An operator has to add one.',
    );
  }
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
    ...(isReported(ask) && { page: 'reports' as const }),
    state: { kind: 'pending' },
  };
}
