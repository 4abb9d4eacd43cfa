/**
 * What has come of attempts to connect at Nango, whoever gives the hint: the page or a webhook. The store asks Nango
 * itself and records; what it recorded is confirmed here.
 */
import type { Confirmation, Connected } from '../credentials/nango/record.ts';
import type { NangoStore } from '../credentials/nango/store.ts';
import type { ConnectAttempt, ConnectAttempts } from '../storage/ports/connect-attempts.ts';
import type { ConnectionKey } from '../storage/ports/connections.ts';
import type { ConfirmConnection, ConfirmedConnection } from './confirm-connection.ts';

/** All throw `CredentialStoreError` when Nango cannot be asked. `address`: where the hint came from, if a person's. */
export interface NangoAttempts {
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
  store: Pick<NangoStore, 'confirm' | 'look'>;
  connectAttempts: Pick<ConnectAttempts, 'openOf'>;
  confirmConnection: ConfirmConnection;
}

export function createNangoAttempts({ store, connectAttempts, confirmConnection }: Parts): NangoAttempts {
  const look: NangoAttempts['look'] = async (attemptId, address) =>
    pass(confirmConnection, await store.look(attemptId), address);

  return {
    confirm: createConfirmAttempt({ store, confirmConnection }),
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

/** For whoever has no more than a hint about one attempt. */
export function createConfirmAttempt({
  store,
  confirmConnection,
}: {
  store: Pick<NangoStore, 'confirm'>;
  confirmConnection: ConfirmConnection;
}): NangoAttempts['confirm'] {
  return async (attemptId, connectionId, address) =>
    pass(confirmConnection, await store.confirm(attemptId, connectionId), address);
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
  { key, version, actor, elicitationId, isNews: isNew }: Connected,
  address: string | null,
): ConfirmedConnection {
  return { key, version, actor, elicitationId, address, isNew };
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
