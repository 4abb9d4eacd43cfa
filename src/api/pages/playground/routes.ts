/** `/`: the playground of the embedded default. Signs in at the demo's identity provider, and exists only with it. */
import type { FastifyInstance } from 'fastify';
import type { Sessions } from '../login/session.ts';
import { displayName } from '../login/session.ts';
import { scriptRoute } from '../../http/script-route.ts';
import { playgroundHeaders, playgroundPage } from './page.ts';

export interface PlaygroundParts {
  publicUrl: string;
  sessions: Sessions;
  temporalUi: string | null;
  /** By agent. */
  suggestions: Record<string, string[]>;
  /** For the API, in the name of somebody who has signed in. */
  tokenFor(user: string): Promise<string>;
}

export function playgroundRoutes(fastify: FastifyInstance, parts: PlaygroundParts): void {
  const { publicUrl, sessions, temporalUi, suggestions, tokenFor } = parts;
  fastify.get('/', async (request, reply) => {
    const session = sessions.read(request);
    const view = session && {
      user: session.user,
      userName: displayName(session),
      temporalUi,
      suggestions,
    };
    return reply.headers(playgroundHeaders).send(playgroundPage(view ?? null));
  });
  scriptRoute(fastify, 'playground.js');
  fastify.post('/playground/token', async (request, reply) => {
    const session = sessions.read(request);
    if (!session) return reply.code(401).send();
    if (request.headers.origin !== new URL(publicUrl).origin) return reply.code(403).send();
    reply.header('cache-control', 'no-store');
    return { user: session.user, token: await tokenFor(session.user) };
  });
}
