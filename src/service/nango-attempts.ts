/**
 * What has come of attempts to connect accounts at Nango. A page or a webhook gives the hint; the store asks Nango itself and
 * records the result, which is confirmed here.
 */
import type { NangoBegin } from '../credentials/nango/begin.ts';
import { attemptIn } from '../credentials/nango/link.ts';
import type { Confirmation } from '../credentials/nango/record.ts';
import type { Connected } from '../credentials/nango/parts.ts';
import type { NangoStore } from '../credentials/nango/nango-store.ts';
import type { ConnectAttempt, ConnectAttempts } from '../storage/tables/connecting.ts';
import type { ConnectionKey } from '../storage/schema/account-tables.ts';
import type { ConfirmConnection, ConfirmedConnection } from './confirm-connection.ts';

export type { NangoBegin };

interface Parts {
  store: Pick<NangoStore, 'begin' | 'confirm' | 'look' | 'discard'>;
  connectAttempts: Pick<ConnectAttempts, 'get' | 'isUnderway' | 'openOf'>;
  confirmConnection: ConfirmConnection;
}

/** These throw `CredentialStoreError` when Nango cannot be reached. `address`: of the person who gave the hint, if one did. */
export type NangoAttempts = ReturnType<typeof createNangoAttempts>;

export function createNangoAttempts({ store, connectAttempts, confirmConnection }: Parts) {
  const look = async (attemptId: string, address: string | null): Promise<Confirmation> =>
    pass(confirmConnection, await store.look(attemptId), address);

  return {
    /** Sends a person to Nango. If the question has an attempt already, it is resumed. */
    begin: store.begin,
    /** Null when it is unknown or expired. */
    find: connectAttempts.get,
    /** Whether this person has an open attempt. */
    isUnderway: connectAttempts.isUnderway,
    /** The id of our attempt, from the tags that Nango keeps with a connection. */
    attemptIn,
    /** Deletes a connection at Nango that came from an unknown attempt, if we made it. */
    discard: store.discard,
    confirm: async (attemptId: string, connectionId: string, address: string | null): Promise<Confirmation> =>
      pass(confirmConnection, await store.confirm(attemptId, connectionId), address),
    /** May return a result that is up to three seconds old. */
    look: throttled(look),
    /**
     * Checks whether the person has finished an earlier attempt: they may have closed the window, or reloaded the page. Returns
     * the open attempts.
     */
    async lookBack(
      key: ConnectionKey,
      elicitationId: string | null,
      address: string,
    ): Promise<ConnectAttempt[]> {
      const open = await connectAttempts.openOf(key);
      const own = open.filter((attempt) => attempt.elicitationId === elicitationId);
      const [latest] = own;
      if (latest) await look(latest.id, address);
      return own;
    },
  };
}

type Look = (attemptId: string, address: string | null) => Promise<Confirmation>;

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
/** Beyond this number the oldest are forgotten, and may be checked sooner. */
const maxRemembered = 1_000;

/**
 * Pages poll, and Nango limits requests per minute. Each attempt is checked at most every three seconds; in between, its last
 * result or failure is repeated.
 */
function throttled(look: Look): Look {
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
