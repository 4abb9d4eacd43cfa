/** How often the pages may be asked for: by one address, and by one signed-in person wherever they are. */
import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance } from 'fastify';
import { ProblemError } from '../http/problems.ts';
import { rateLimitKey } from '../../service/principal.ts';
import type { Refusals } from './refusals.ts';
import type { Sessions } from './login/session.ts';

interface Limits {
  /** Of requests. Each process counts for itself. */
  perMinute: number;
  sessions: Pick<Sessions, 'read'>;
  refusals: Refusals;
}

const tooMany = 'too many requests';

export async function limitPages(
  pages: FastifyInstance,
  { perMinute, sessions, refusals }: Limits,
): Promise<void> {
  const limit = { max: perMinute, timeWindow: 60_000 };
  await pages.register(rateLimit, {
    ...limit,
    onExceeded: (request) =>
      void refusals
        .record(request, tooMany, { isRepeatable: true })
        .catch((error: unknown) => request.log.warn({ err: error }, 'a refusal could not be recorded')),
  });
  const ofPerson = pages.createRateLimit({
    ...limit,
    keyGenerator(request) {
      const session = sessions.read(request);
      if (!session) return '';
      const { tenant, user } = session;
      return rateLimitKey({ kind: 'user', tenant, user });
    },
  });
  pages.addHook('preHandler', async (request) => {
    if (!sessions.read(request)) return;
    const counted = await ofPerson(request);
    if (counted.isAllowed || !counted.isExceeded) return;
    await refusals.record(request, tooMany, { isRepeatable: true });
    throw new ProblemError('rate_limited', 'Wait as long as Retry-After says, then try again.', {
      headers: { 'retry-after': String(counted.ttlInSeconds) },
    });
  });
}
