/** Pages of other origins are refused, as the specification wants it against DNS rebinding, unless the operator named them. */
import type { FastifyInstance } from 'fastify';
import type { Config } from '../../config/config.ts';
import { bareHost } from '../../network/addresses.ts';
import { isKnownHost } from '../../network/host-names.ts';
import { ProblemError } from '../http/problems.ts';

export type OwnNames = Pick<Config['http'], 'publicUrl' | 'allowedHosts' | 'corsOrigins'>;

export function refuseForeignPages(
  fastify: FastifyInstance,
  { publicUrl, allowedHosts, corsOrigins }: OwnNames,
): void {
  const names = [bareHost(new URL(publicUrl).hostname), ...allowedHosts];
  fastify.addHook('onRequest', async ({ headers: { origin } }) => {
    if (origin === undefined || corsOrigins.includes(origin)) return;
    // "null" is the origin of pages that have none of their own.
    if (URL.canParse(origin) && isKnownHost(new URL(origin).host, names)) return;
    throw new ProblemError(
      'forbidden',
      'Pages of this origin may not call this service; the operator names those that may in CORS_ORIGINS.',
    );
  });
}
