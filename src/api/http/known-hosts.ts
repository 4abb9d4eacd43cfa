/** Requests under other names than our own are refused: they come from pages that only pretend to be ours. */
import type { FastifyInstance } from 'fastify';
import type { Config } from '../../config/config.ts';
import { bareHost } from '../../network/addresses.ts';
import { isKnownHost, unknownHostWords } from '../../network/host-names.ts';
import { ProblemError } from './problems.ts';

export function refuseUnknownHosts(
  fastify: FastifyInstance,
  { publicUrl, allowedHosts }: Pick<Config['http'], 'publicUrl' | 'allowedHosts'>,
): void {
  const names = [bareHost(new URL(publicUrl).hostname), ...allowedHosts];
  fastify.addHook('onRequest', async ({ headers }) => {
    if (!isKnownHost(headers.host, names)) throw new ProblemError('unknown_host', unknownHostWords);
  });
}
