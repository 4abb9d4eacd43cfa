/** `/openapi.json`, generated from the schemas that check input. */
import swagger from '@fastify/swagger';
import type { SwaggerTransform } from '@fastify/swagger';
import type { FastifyInstance, FastifySchema } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { userHeader } from '../../service/authenticate.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import { describeRoute, json } from './describe-route.ts';
import { limitAddresses } from './limits.ts';
import { withSchemas } from './validation.ts';

/** Call it before any route is registered: only later ones are described. */
export function describeApi(
  fastify: FastifyInstance,
  { publicUrl, perMinute }: { publicUrl: string; perMinute: number },
): void {
  fastify.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Interlude',
        version: packageJson.version,
        description: `${packageJson.description}. In a request, null means that an optional member is left out.`,
        license: { name: packageJson.license, identifier: packageJson.license },
      },
      servers: [{ url: publicUrl }],
      components: {
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description: "An access token of the configured issuer, or a service's API key",
          },
          actingForUser: {
            type: 'apiKey',
            in: 'header',
            name: userHeader,
            description:
              'With an API key that may act for users: the id of the user it acts for. Visible ASCII, without `,` and `%`',
          },
        },
      },
      security: [{ bearer: [] }, { bearer: [], actingForUser: [] }],
      tags: [
        { name: 'chat', description: 'For `useChat` and other clients of its stream' },
        { name: 'openai', description: 'For OpenAI clients' },
        { name: 'ag-ui', description: 'For clients of AG-UI' },
        { name: 'conversations', description: 'What was said, and the neutral feed' },
        { name: 'elicitations', description: 'Questions to a person, and their answers' },
        { name: 'connections', description: 'Accounts at servers, and their end' },
        { name: 'operators', description: 'For operators: turns and questions of everyone in a tenant' },
        { name: 'service', description: 'For operators of the service' },
      ],
    },
    // The pages have no tag.
    hideUntagged: true,
    convertConstToEnum: false,
    transform,
    transformObject: (given) => tidyComponents(jsonSchemaTransformObject(given)),
  });

  const describe = describeRoute({
    tag: 'service',
    id: 'getContract',
    summary: 'This document',
    response: { 200: json('An OpenAPI 3.1 document', z.looseObject({ openapi: z.string() })) },
    isPublic: true,
  });
  fastify.register(async (service) => {
    limitAddresses(service, perMinute);
    let document: string | undefined;
    withSchemas(service).get(
      '/openapi.json',
      { schema: describe, exposeHeadRoute: false },
      async (_, reply) => {
        document ??= JSON.stringify(service.swagger());
        return reply.type('application/json').send(document);
      },
    );
  });
}

/** The library's transform drops the headers of responses; this keeps them. */
const transform: SwaggerTransform = (given) => {
  const transformed = jsonSchemaTransform(given);
  const after = responsesOf(transformed.schema);
  for (const [status, { headers }] of Object.entries(responsesOf(given.schema))) {
    const response = after[status];
    if (headers && response) response.headers = headers;
  }
  return transformed;
};

function responsesOf(schema: FastifySchema | undefined): Record<string, { headers?: object }> {
  return (schema?.response ?? {}) as Record<string, { headers?: object }>;
}

type Schemas = Record<string, unknown>;

const prefix = '#/components/schemas/';
const inputSuffix = /Input$/;

/**
 * The generator writes each schema twice, as `X` for responses and `XInput` for requests. Drops unused ones, and the suffix of
 * those whose twin was dropped.
 */
function tidyComponents<Document extends object>(document: Document): Document {
  const { components = {}, ...rest }: { components?: { schemas?: Schemas } } = document;
  const { schemas = {} } = components;
  const used = reachable(rest, schemas);
  const nameOf = (name: string) => {
    const base = name.replace(inputSuffix, '');
    return used.has(base) ? name : base;
  };
  const kept = Object.fromEntries([...used].toSorted().map((name) => [nameOf(name), schemas[name]]));
  const tidy = { ...document, components: { ...components, schemas: kept } };
  return JSON.parse(JSON.stringify(tidy), (key, value: unknown) => {
    const name = key === '$ref' ? referred(value) : undefined;
    return name === undefined ? value : prefix + nameOf(name);
  }) as Document;
}

function reachable(from: unknown, schemas: Schemas, found = new Set<string>()): Set<string> {
  JSON.stringify(from, (key, value: unknown) => {
    const name = key === '$ref' ? referred(value) : undefined;
    if (name !== undefined && name in schemas && !found.has(name)) {
      found.add(name);
      reachable(schemas[name], schemas, found);
    }
    return value;
  });
  return found;
}

function referred(value: unknown): string | undefined {
  return typeof value === 'string' && value.startsWith(prefix) ? value.slice(prefix.length) : undefined;
}
