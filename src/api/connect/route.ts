/**
 * The hosted pages: where a person gives an account to a question, and where they look after the accounts they gave.
 * A link carries no right of its own; only the signed-in person who was asked sees the question or can act on it,
 * every refusal is audited, and reading a page changes nothing, so link previews may fetch it.
 */
import cookies from '@fastify/cookie';
import forms from '@fastify/formbody';
import type { FastifyInstance } from 'fastify';
import { clientMetadata } from '../../credentials/mcp-oauth/registration.ts';
import { explainDatabaseTrouble } from '../database-trouble.ts';
import { problemFor } from '../errors.ts';
import { authorizationRoutes } from './authorization.ts';
import type { ConnectDeps } from './deps.ts';
import { sendPage } from './layout.ts';
import { loginRoutes } from './login.ts';
import { notice } from './outcome-pages.ts';
import { questionRoutes } from './question-routes.ts';
import { createSessions } from './session.ts';
import { settingsRoutes } from './settings-routes.ts';

export type { ConnectDeps } from './deps.ts';

/** A Fastify plugin: `fastify.register(connectPages, deps)`. */
export async function connectPages(fastify: FastifyInstance, deps: ConnectDeps): Promise<void> {
  const { publicUrl } = deps.config.http;
  await fastify.register(cookies);
  await fastify.register(forms, { bodyLimit: 10_000 });
  fastify.setErrorHandler((error, request, reply) => {
    const { statusCode, code, headers } = problemFor(error, request);
    const [heading, explanation] = troubleWords[code] ?? ['Something went wrong', 'Try again in a moment.'];
    return sendPage(reply.headers(headers), notice(statusCode, heading, explanation));
  });

  await fastify.register(async (pages) => {
    explainDatabaseTrouble(pages, deps.storage);
    const sessions = createSessions(deps.keys, publicUrl);
    loginRoutes(pages, deps, sessions);
    questionRoutes(pages, deps, sessions);
    authorizationRoutes(pages, deps, sessions);
    settingsRoutes(pages, deps, sessions);
    pages.get('/auth/client.json', () => clientMetadata(publicUrl));
  });
}

const troubleWords: Record<string, [heading: string, explanation: string]> = {
  rate_limited: ['Too many tries', 'Wait a minute, then open the page again.'],
  unavailable: ['Not available right now', 'Nothing was changed. Try again in a moment.'],
  unsupported_media_type: ['This form is not understood', 'Open the page you came from again.'],
};
