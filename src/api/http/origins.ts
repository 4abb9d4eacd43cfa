/** Under which names this service may be called, and by which pages. */
import cors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Config } from '../../platform/config/config.ts';
import { isLoopbackHost } from '@interlude-ai/core/elicitation/url-safety.ts';
import { bareHost, isKnownHost, unknownHostWords } from '../../platform/network/addresses.ts';
import { ProblemError } from './problems.ts';

export type OwnNames = Pick<Config['http'], 'publicUrl' | 'allowedHosts' | 'corsOrigins'>;

/** Against DNS rebinding: a request under another name than ours comes from a page that claims to be ours. */
export function refuseUnknownHosts(fastify: FastifyInstance, names: OwnNames): void {
  const known = hostsOf(names);
  fastify.addHook('onRequest', async ({ headers }) => {
    if (!isKnownHost(headers.host, known)) throw new ProblemError('unknown_host', unknownHostWords);
  });
}

/**
 * Refuses pages of other origins, as MCP requires against DNS rebinding, unless the operator allowed them. Here an IP literal
 * does not prove anything: it names the machine that the page came from.
 */
export function refuseForeignPages(fastify: FastifyInstance, names: OwnNames): void {
  const known = hostsOf(names);
  const isOwn = (origin: string) => {
    // "null" is the origin of pages that have none of their own.
    if (!URL.canParse(origin)) return false;
    const host = bareHost(new URL(origin).hostname);
    return known.includes(host) || isLoopbackHost(host);
  };
  fastify.addHook('onRequest', async ({ headers: { origin } }) => {
    if (origin === undefined || names.corsOrigins.includes(origin) || isOwn(origin)) return;
    throw new ProblemError(
      'forbidden',
      'Pages of this origin may not call this service; the operator names those that may in CORS_ORIGINS.',
    );
  });
}

function hostsOf({ publicUrl, allowedHosts }: OwnNames): string[] {
  return [bareHost(new URL(publicUrl).hostname), ...allowedHosts];
}

/** Of which origins a process writes a warning: anyone can send any. */
const mostNamedOrigins = 20;

/** Names the origins whose pages browsers keep from calling us: those pages only see a lost connection. */
export function warnOfForeignPages(app: FastifyInstance, names: OwnNames, logger: Logger): void {
  const known = [...names.corsOrigins, new URL(names.publicUrl).origin];
  const named = new Set<string>();
  app.addHook('onRequest', async ({ method, headers }) => {
    const { origin } = headers;
    if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return;
    if (origin === undefined || origin.length > 100 || known.includes(origin)) return;
    if (named.has(origin) || named.size >= mostNamedOrigins) return;
    named.add(origin);
    logger.warn(`pages of ${origin} may not call this service; CORS_ORIGINS names those that may`);
  });
}

/** How long the browsers with the longest limit remember a preflight. */
const rememberSeconds = 7_200;

/**
 * Allows pages of the origins that the operator named. They send a bearer token and never our cookies. Register it before
 * authentication: preflights have no token, and pages must be able to read refusals.
 */
export async function allowOrigins(api: FastifyInstance, origins: string[]): Promise<void> {
  if (origins.length === 0) return;
  await api.register(cors, {
    origin: origins,
    methods: ['GET', 'POST', 'DELETE'],
    exposedHeaders: [
      'x-conversation-id',
      'x-turn-id',
      'x-interlude-warning',
      'x-interlude-version',
      'retry-after',
      'date',
      'www-authenticate',
      'mcp-session-id',
    ],
    maxAge: rememberSeconds,
    // OPTIONS requests that browsers do not send get no special error.
    strictPreflight: false,
  });
}
