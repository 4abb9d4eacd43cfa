/** The contract at `/openapi.json`, from the same schemas that check what comes in. */
import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';

/** To be called before any route is registered: only later ones are described. */
export function describeApi(fastify: FastifyInstance, publicUrl: string): void {
  fastify.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Interlude',
        version: '0.1.0',
        description: 'Agent turns that can stop, ask a person, and go on.',
      },
      servers: [{ url: publicUrl }],
      components: {
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description: "An access token of the configured issuer, or a service's API key",
          },
        },
      },
      security: [{ bearer: [] }],
      tags: [
        { name: 'chat', description: 'For `useChat` and everybody who speaks its stream' },
        { name: 'openai', description: 'For OpenAI clients' },
        { name: 'conversations', description: 'What was said, and the neutral feed' },
        { name: 'elicitations', description: 'Questions to a person, and their answers' },
        { name: 'service', description: 'For operators' },
      ],
    },
    hideUntagged: true,
    transform: jsonSchemaTransform,
    transformObject: jsonSchemaTransformObject,
  });
  fastify.register(async (service) => {
    service.get('/openapi.json', { exposeHeadRoute: false }, async () => fastify.swagger());
  });
}
