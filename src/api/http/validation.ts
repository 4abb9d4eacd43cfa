/** Routes declare zod schemas; what does not fit is a 400 that points at each wrong field. */
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import { parseInput, ProblemError, refuseMisspelt } from './problems.ts';

/** `fastify` with bodies, queries, params and headers typed by the schemas of their routes. */
export type Api = ReturnType<typeof withSchemas>;

export function withSchemas(fastify: FastifyInstance) {
  fastify.setValidatorCompiler<z.ZodType>(({ schema, httpPart }) => (input: unknown) => {
    try {
      const value = parseInput(schema, input);
      if (httpPart === 'body' || httpPart === 'querystring') refuseMisspelt(schema, input);
      return { value };
    } catch (error) {
      if (error instanceof ProblemError) return { error };
      throw error;
    }
  });
  // Responses are ours: their schemas describe them, and tests hold them to it.
  fastify.setSerializerCompiler(() => (value) => JSON.stringify(value));
  return fastify.withTypeProvider<ZodTypeProvider>();
}
