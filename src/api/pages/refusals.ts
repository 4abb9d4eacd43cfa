/** Refusals on the pages enter the audit: who was refused what, and from where. */
import type { FastifyRequest } from 'fastify';
import type { RecordRefusal } from '../../service/record-refusal.ts';
import type { Session, Sessions } from './login/session.ts';

export interface Refusals {
  /**
   * Under the tenant of the question, or else of whoever is signed in. Of somebody who is not signed in nothing is
   * known but their address: that stands under no tenant, and the same from one address once a minute at most.
   */
  record(request: FastifyRequest, what: string, of?: About): Promise<void>;
}

export interface About {
  elicitationId?: string;
  /** The question's, where that is not the tenant of whoever asks. */
  tenant?: string;
  /** Added to what was refused. */
  detail?: string;
  /** Comes in masses: the same of one person, too, enters once a minute at most. */
  isRepeatable?: boolean;
}

interface Parts {
  recordRefusal: RecordRefusal;
  sessions: Pick<Sessions, 'read'>;
}

const windowMs = 60_000;
/** With more in a minute they are forgotten, and some are recorded twice. */
const maxRecent = 10_000;

export function createRefusals({ recordRefusal, sessions }: Parts): Refusals {
  const recent = new Map<string, number>();

  function isRepeated(what: string): boolean {
    const at = Date.now();
    const last = recent.get(what);
    if (last !== undefined && at - last < windowMs) return true;
    if (recent.size >= maxRecent) recent.clear();
    recent.set(what, at);
    return false;
  }

  return {
    async record(request, what, { elicitationId = '', tenant: of, detail, isRepeatable = false } = {}) {
      const session = sessions.read(request);
      const address = request.ip;
      const who = session ? [session.tenant, session.user] : [address];
      if ((!session || isRepeatable) && isRepeated(JSON.stringify([what, ...who]))) return;
      const tenant = of ?? session?.tenant ?? '';
      await recordRefusal({
        tenant,
        elicitationId,
        actor: session ? actorIn(tenant, session) : null,
        detail: detail === undefined ? what : `${what}: ${detail}`,
        address,
      });
    },
  };
}

function actorIn(tenant: string, { tenant: own, user }: Session): string {
  return own === tenant ? user : `${own}/${user}`;
}
