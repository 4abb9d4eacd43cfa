/**
 * Pages of other origins are refused, as the specification requires against DNS rebinding, unless the operator named them.
 * An IP literal proves nothing here: it names the machine that the page came from.
 */
import type { FastifyInstance } from 'fastify';
import type { Config } from '../../config/config.ts';
import { isLoopbackHost } from '../../elicitation/url-safety.ts';
import { bareHost } from '../../network/addresses.ts';
import { ProblemError } from '../http/problems.ts';

export type OwnNames = Pick<Config['http'], 'publicUrl' | 'allowedHosts' | 'corsOrigins'>;

export function refuseForeignPages(
  fastify: FastifyInstance,
  { publicUrl, allowedHosts, corsOrigins }: OwnNames,
): void {
  const names = [bareHost(new URL(publicUrl).hostname), ...allowedHosts];
  const isOwn = (origin: string) => {
    // "null" is the origin of pages that have none of their own.
    if (!URL.canParse(origin)) return false;
    const host = bareHost(new URL(origin).hostname);
    return names.includes(host) || isLoopbackHost(host);
  };
  fastify.addHook('onRequest', async ({ headers: { origin } }) => {
    if (origin === undefined || corsOrigins.includes(origin) || isOwn(origin)) return;
    throw new ProblemError(
      'forbidden',
      'Pages of this origin may not call this service; the operator names those that may in CORS_ORIGINS.',
    );
  });
}
