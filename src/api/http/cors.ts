/**
 * Pages of other origins, where the operator named them: they bring a bearer token, never a cookie of ours. To be
 * registered before whoever asks for that token: browsers ask first, without it, and have to be able to read a refusal.
 */
import cors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';

/** As long as the most patient browser remembers. */
const rememberSeconds = 7_200;

export async function allowOrigins(api: FastifyInstance, origins: string[]): Promise<void> {
  if (origins.length === 0) return;
  await api.register(cors, {
    origin: origins,
    methods: ['GET', 'POST', 'DELETE'],
    // What clients go by; anything else stays hidden from pages.
    exposedHeaders: [
      'x-conversation-id',
      'x-turn-id',
      'retry-after',
      'date',
      'www-authenticate',
      'mcp-session-id',
    ],
    maxAge: rememberSeconds,
    // An OPTIONS request that no browser sends is not worth words of its own.
    strictPreflight: false,
  });
}
