/**
 * How a question is settled. A pure reducer, which only runs in the transaction that has locked the question's row: the
 * first event that settles the question wins, later ones change nothing.
 *
 * `accept` of a url is only consent if a fact can be known: that the account is connected, or that the tool's page is done.
 * The consent is stored, but the fact settles the question, with or without consent before.
 */
import type { Action, ClosedBecause, ElicitationRequest, Mode, Outcome, Status } from './elicitation.ts';

export interface Elicitation {
  id: string;
  mode: Mode;
  /** The only person who may answer. */
  user: string;
  /** In epoch milliseconds, by the database's clock. */
  deadline: number;
  /** The server that asks, or whose account is missing; empty if there is none. */
  server: string;
  /** For a connection question: the connection version that turned out not to work (0 = none). */
  connection?: { seenVersion: number };
  /** The question is a page that reports that it is done. */
  page?: 'reports';
  state:
    | { kind: 'pending'; consent?: string }
    /** `responseId`: the answer that won; absent if a fact or the deadline settled the question. */
    | { kind: 'settled'; outcome: Outcome; responseId?: string; because?: ClosedBecause };
}

/** A question as it is stored. */
interface StoredQuestion extends Pick<Elicitation, 'id' | 'user' | 'deadline'> {
  request: ElicitationRequest;
  server: string | null;
  seenVersion: number | null;
  isReported: boolean;
  status: Status;
  consent: string | null;
  responseId: string | null;
  because: ClosedBecause | null;
}

export function toLifecycle(stored: StoredQuestion): Elicitation {
  const { id, user, deadline, request, server, seenVersion, isReported, status } = stored;
  const { consent, responseId, because } = stored;
  return {
    id,
    mode: request.mode,
    user,
    deadline,
    server: server ?? '',
    ...(server !== null && { connection: { seenVersion: seenVersion ?? 0 } }),
    ...(isReported && { page: 'reports' as const }),
    state:
      status === 'pending'
        ? { kind: 'pending', ...(consent !== null && { consent }) }
        : {
            kind: 'settled',
            outcome: status,
            ...(responseId !== null && { responseId }),
            ...(because !== null && { because }),
          },
  };
}

export type LifecycleEvent =
  | { type: 'answered'; responseId: string; action: Action; user: string }
  | { type: 'connected'; server: string; version: number }
  | { type: 'deadline-passed' }
  /** An operator ends the wait, as if the time were up. */
  | { type: 'expired-by-operator' }
  /** The asker no longer waits. */
  | { type: 'withdrawn'; because: ClosedBecause }
  /** The server reports that its page is done. */
  | { type: 'page-done' }
  /** The turn was cancelled or superseded, or the call that asked was given up. */
  | { type: 'abandoned' };

export function advance(elicitation: Elicitation, event: LifecycleEvent): Elicitation {
  const { state } = elicitation;
  if (state.kind === 'settled') return attachLateConsent(elicitation, event);
  switch (event.type) {
    case 'answered': {
      if (event.user !== elicitation.user) return elicitation;
      if ((elicitation.connection || elicitation.page) && event.action === 'accept') {
        return { ...elicitation, state: { kind: 'pending', consent: state.consent ?? event.responseId } };
      }
      return settled(elicitation, event.action, event.responseId);
    }
    case 'connected': {
      const { connection, server } = elicitation;
      const isNewer = connection && server === event.server && event.version > connection.seenVersion;
      return isNewer ? settled(elicitation, 'accept', state.consent) : elicitation;
    }
    case 'deadline-passed':
    case 'expired-by-operator':
      return settled(elicitation, 'expired');
    case 'withdrawn':
      return withdrawn(elicitation, event.because);
    case 'page-done':
      return elicitation.mode === 'url' && !elicitation.connection
        ? settled(elicitation, 'accept', state.consent)
        : elicitation;
    case 'abandoned':
      return settled(elicitation, 'cancel');
    default:
      return event satisfies never;
  }
}

/** If the account was connected before the person's "yes" arrived, that "yes" is recorded as the answer. */
function attachLateConsent(elicitation: Elicitation, event: LifecycleEvent): Elicitation {
  const { state } = elicitation;
  if (state.kind !== 'settled' || state.outcome !== 'accept' || state.responseId !== undefined)
    return elicitation;
  if (event.type !== 'answered' || event.action !== 'accept' || event.user !== elicitation.user)
    return elicitation;
  return { ...elicitation, state: { ...state, responseId: event.responseId } };
}

function settled(elicitation: Elicitation, outcome: Outcome, responseId?: string): Elicitation {
  return {
    ...elicitation,
    state: { kind: 'settled', outcome, ...(responseId !== undefined && { responseId }) },
  };
}

/** A server that gave up counts as a deadline that has passed; one that is gone leaves the question undecided. */
function withdrawn(elicitation: Elicitation, because: ClosedBecause): Elicitation {
  const outcome = because === 'server_gave_up' ? 'expired' : 'cancel';
  return { ...elicitation, state: { kind: 'settled', outcome, because } };
}

/** What one particular answer did. The HTTP edge turns this into a status code. */
type Receipt =
  | { kind: 'recorded'; outcome: Outcome }
  | { kind: 'awaiting-connection' }
  | { kind: 'awaiting-page' }
  | { kind: 'already-answered'; outcome: Outcome }
  | { kind: 'expired' }
  /** The asker did not wait for the answer. */
  | { kind: 'withdrawn'; because: ClosedBecause }
  | { kind: 'not-counted' };

export function receiptFor(elicitation: Elicitation, responseId: string, action: Action): Receipt {
  const { state } = elicitation;
  if (state.kind === 'pending') {
    if (state.consent === undefined || action !== 'accept') return { kind: 'not-counted' };
    return { kind: elicitation.page ? 'awaiting-page' : 'awaiting-connection' };
  }
  if (state.responseId === responseId) return { kind: 'recorded', outcome: state.outcome };
  // Two accepts of one url mean the same, so both are recorded; so is one after the page is done.
  if (elicitation.mode === 'url' && state.outcome === 'accept' && action === 'accept') {
    return { kind: 'recorded', outcome: state.outcome };
  }
  if (state.because) return { kind: 'withdrawn', because: state.because };
  return state.outcome === 'expired'
    ? { kind: 'expired' }
    : { kind: 'already-answered', outcome: state.outcome };
}
