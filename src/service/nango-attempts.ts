/**
 * What has come of attempts to connect at Nango, whoever gives the hint: the page or a webhook. The store asks Nango
 * itself and records; what it recorded is confirmed here.
 */
import type { NangoAttempt, NangoBegin } from '../credentials/nango/begin.ts';
import { attemptIn } from '../credentials/nango/link.ts';
import type { Confirmation, Connected } from '../credentials/nango/record.ts';
import type { NangoStore } from '../credentials/nango/store.ts';
import type { ConnectAttempt, ConnectAttempts } from '../storage/ports/connect-attempts.ts';
import type { ConnectionKey } from '../storage/ports/connections.ts';
import type { ConfirmConnection, ConfirmedConnection } from './confirm-connection.ts';

export type { NangoBegin };

/** Throw `CredentialStoreError` when Nango cannot be asked. `address`: where the hint came from, if a person's. */
export interface NangoAttempts {
  /** Lets somebody go there. The attempt that a question has already is taken up again. */
  begin(input: NangoBegin): Promise<NangoAttempt>;
  /** Null when it is not known, or not any more. */
  find(attemptId: string): Promise<ConnectAttempt | null>;
  /** Whether this person has begun something that may still bring an account. */
  isUnderway(by: { tenant: string; actor: string }): Promise<boolean>;
  /** The id of our attempt among the tags that Nango keeps with a connection. */
  attemptIn(tags: Record<string, string>): string | null;
  /** Ends a connection that came of an attempt nobody knows (any more), if it is ours. */
  discard(integration: string, connectionId: string): Promise<void>;
  confirm(attemptId: string, connectionId: string, address: string | null): Promise<Confirmation>;
  /** May repeat what was found a moment ago. */
  look(attemptId: string, address: string | null): Promise<Confirmation>;
  /**
   * Looks whether somebody has finished what they began before: they may have closed the window, or loaded the page
   * again. Answers with what they began.
   */
  lookBack(key: ConnectionKey, elicitationId: string | null, address: string): Promise<ConnectAttempt[]>;
}

interface Parts {
  store: Pick<NangoStore, 'begin' | 'confirm' | 'look' | 'discard'>;
  connectAttempts: Pick<ConnectAttempts, 'get' | 'isUnderway' | 'openOf'>;
  confirmConnection: ConfirmConnection;
}

export function createNangoAttempts({ store, connectAttempts, confirmConnection }: Parts): NangoAttempts {
  const look: NangoAttempts['look'] = async (attemptId, address) =>
    pass(confirmConnection, await store.look(attemptId), address);

  return {
    begin: (input) => store.begin(input),
    find: (attemptId) => connectAttempts.get(attemptId),
    isUnderway: (by) => connectAttempts.isUnderway(by),
    attemptIn,
    discard: (integration, connectionId) => store.discard(integration, connectionId),
    confirm: async (attemptId, connectionId, address) =>
      pass(confirmConnection, await store.confirm(attemptId, connectionId), address),
    look: throttled(look),
    async lookBack(key, elicitationId, address) {
      const open = await connectAttempts.openOf(key);
      const own = open.filter((attempt) => attempt.elicitationId === elicitationId);
      const [latest] = own;
      if (latest) await look(latest.id, address);
      return own;
    },
  };
}

async function pass(
  confirmConnection: ConfirmConnection,
  found: Confirmation,
  address: string | null,
): Promise<Confirmation> {
  if (found.kind === 'connected') await confirmConnection(toConfirmed(found, address));
  return found;
}

export function toConfirmed(
  { key, actor, elicitationId, isNew }: Connected,
  address: string | null,
): ConfirmedConnection {
  return { key, actor, elicitationId, address, isNew };
}

const everyMs = 3_000;
/** With more at a time the oldest are forgotten, and may be looked for sooner. */
const maxRemembered = 1_000;

/**
 * For pages that ask again and again: Nango takes only so many requests a minute. Each attempt is looked for once in a
 * while; until then its last answer, or failure, is repeated.
 */
function throttled(look: NangoAttempts['look']): NangoAttempts['look'] {
  const last = new Map<string, { at: number; answer: Promise<Confirmation> }>();
  return (attemptId, address) => {
    const known = last.get(attemptId);
    if (known && performance.now() - known.at < everyMs) return known.answer;
    const answer = look(attemptId, address);
    last.delete(attemptId);
    last.set(attemptId, { at: performance.now(), answer });
    const [oldest] = last.keys();
    if (last.size > maxRemembered && oldest !== undefined) last.delete(oldest);
    return answer;
  };
}
