/** The document at `/openapi.json`, as its tests go through it. */
import type { FastifyInstance } from 'fastify';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ErrorObject } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

export interface Schema {
  $ref?: string;
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: boolean | Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  enum?: unknown[];
  description?: string;
  examples?: unknown[];
  [keyword: string]: unknown;
}

export interface Parameter {
  in: 'path' | 'query' | 'header';
  name: string;
  required?: boolean;
  description?: string;
  example?: unknown;
  schema: Schema;
}

interface Media {
  schema: Schema;
}

export interface Response {
  description: string;
  headers?: Record<string, { description?: string }>;
  content?: Record<string, Media>;
}

interface DescribedOperation {
  operationId: string;
  summary: string;
  tags: string[];
  security?: object[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, Response>;
}

export interface Operation extends Required<Pick<DescribedOperation, 'parameters'>> {
  id: string;
  method: 'DELETE' | 'GET' | 'POST' | 'PUT';
  path: string;
  isPublic: boolean;
  body: { schema: Schema; examples: unknown[] } | null;
  responses: Record<string, Response>;
  described: DescribedOperation;
}

export interface Document {
  openapi: string;
  info: { title: string; version: string };
  components: { schemas: Record<string, Schema> };
  paths: Record<string, Record<string, DescribedOperation>>;
}

export async function readDocument(app: FastifyInstance): Promise<Document> {
  return (await app.inject('/openapi.json')).json();
}

export function operationsOf(document: Document): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => {
      const { operationId, parameters = [], requestBody, responses, security } = described;
      const media = requestBody?.content['application/json'];
      const schema = media && resolve(document, media.schema);
      return {
        id: operationId,
        method: method.toUpperCase() as Operation['method'],
        path,
        isPublic: security?.length === 0,
        parameters,
        body: schema ? { schema, examples: schema.examples ?? [] } : null,
        responses,
        described,
      };
    }),
  );
}

const components = '#/components/schemas/';

export function resolve(document: Document, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const found = document.components.schemas[schema.$ref.slice(components.length)];
  if (!found) throw new Error(`${schema.$ref} is not in the document`);
  return found;
}

/** What is wrong with a value by one of the document's schemas; empty when nothing is. */
export type Check = (schema: Schema, value: unknown) => string[];

export function createCheck(document: Document): Check {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(document, 'document', undefined, false);
  const compiled = new WeakMap<Schema, ReturnType<typeof ajv.compile>>();
  return (schema, value) => {
    const validate = compiled.get(schema) ?? ajv.compile(withBase(schema));
    compiled.set(schema, validate);
    return validate(value) ? [] : (validate.errors ?? []).map(toText);
  };
}

function withBase(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    key === '$ref' ? `document${String(value)}` : value,
  ) as Schema;
}

function toText({ instancePath, message }: ErrorObject): string {
  return `${instancePath} ${message}`;
}

/** Every route that is registered, as `METHOD /path/{parameter}`. `HEAD` comes with `GET` and is left out. */
export function routesOf(app: FastifyInstance): string[] {
  const found: string[] = [];
  const above: string[] = [];
  for (const line of app.printRoutes({ commonPrefix: false }).split('\n')) {
    const [, indent, segment, methods] = /^([│ ]*)[├└]── (\S+)(?: \(([A-Z, ]+)\))?$/.exec(line) ?? [];
    if (indent === undefined || segment === undefined) continue;
    const depth = indent.length / 4;
    above.splice(depth, Infinity, segment);
    const path = above.join('').replaceAll(/:(\w+)/g, '{$1}');
    for (const method of methods?.split(', ') ?? []) if (method !== 'HEAD') found.push(`${method} ${path}`);
  }
  return found;
}
