/** Audits refusals on the pages. */
import type { FastifyRequest } from 'fastify';
import type { RecordRefusal } from '../../service/authenticate.ts';
import type { Session, Sessions } from './login/session.ts';

export interface Refusals {
  /**
   * Under the tenant of the question, or else of the signed-in person. Without a session, under no tenant, and the same refusal of
   * one address at most once a minute.
   */
  record(request: FastifyRequest, what: string, of?: About): Promise<void>;
}

export interface About {
  elicitationId?: string;
  /** The question's, if it is not that of the person. */
  tenant?: string;
  detail?: string;
  /** May come in large numbers: record the same of one person at most once a minute. */
  isRepeatable?: boolean;
}

interface Parts {
  recordRefusal: RecordRefusal;
  sessions: Pick<Sessions, 'read'>;
}

const windowMs = 60_000;
/** If there are more in a minute, some are recorded twice. */
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
