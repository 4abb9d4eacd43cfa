/** Checks input against the zod schemas of routes. A mismatch is a 400 that points at each wrong field. */
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { didYouMean, nearestSpelling } from '../../config/nearest-spelling.ts';
import { membersAt } from '../../config/problem-messages.ts';
import { readPresent, isRecord } from '../../elicitation/form/schema-keywords.ts';
import { invalidRequest, ProblemError, toPointer } from './problems.ts';
import type { FieldError } from './problems.ts';

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
  // Schemas of responses are documentation; tests check them.
  fastify.setSerializerCompiler(() => (value) => JSON.stringify(value));
  return fastify.withTypeProvider<ZodTypeProvider>();
}

/** Null may stand for a missing member. `at`: JSON pointer to `input` in the request. */
export function parseInput<T extends z.ZodType>(schema: T, input: unknown, at = ''): z.output<T> {
  const asSent = schema.safeParse(input);
  if (asSent.success) return asSent.data;
  const present = withoutRefusedNulls(input, asSent.error.issues.flatMap(nearestIssues));
  const parsed = schema.safeParse(present, { error: inputMessages });
  if (parsed.success) return parsed.data;
  throw invalidRequest(
    parsed.error.issues
      .flatMap(nearestIssues)
      .flatMap((issue) => toFieldErrors(issue, schema))
      .map(({ pointer, detail }) => ({ pointer: at + pointer, detail })),
  );
}

/** Without the nulls that the schema refuses: only a schema tells null that is data from null for an absent member. */
function withoutRefusedNulls(input: unknown, issues: z.core.$ZodIssue[]): unknown {
  const copies = new Set<unknown>();
  const copyOf = (value: Members) => {
    if (copies.has(value)) return value;
    const copy = (Array.isArray(value) ? [...value] : { ...value }) as Members;
    copies.add(copy);
    return copy;
  };
  const valueAt = (root: unknown, path: PropertyKey[]) =>
    path.reduce<unknown>((at, key) => (at as Members | undefined)?.[key], root);
  let present = readPresent(input);
  for (const { path } of issues) {
    if (!isRecord(valueAt(present, path.slice(0, -1))) || valueAt(present, path) !== null) continue;
    let here = copyOf(present as Members);
    present = here;
    for (const key of path.slice(0, -1)) here = here[key] = copyOf(here[key] as Members);
    delete here[path.at(-1) as PropertyKey];
  }
  return present;
}

type Members = Record<PropertyKey, unknown>;

/** Refuses unknown members that look like a misspelt known one. */
export function refuseMisspelt(schema: z.ZodType, input: unknown): void {
  const errors = misspeltMembers(schema, input).map(({ name, meant }) => ({
    pointer: toPointer([name]),
    detail: `unknown (did you mean ${meant}?)`,
  }));
  if (errors.length > 0) throw invalidRequest(errors);
}

function toFieldErrors(issue: z.core.$ZodIssue, schema: z.ZodType): FieldError[] {
  if (issue.code !== 'unrecognized_keys') return [{ pointer: toPointer(issue.path), detail: issue.message }];
  const known = membersAt(schema, issue.path);
  return issue.keys.map((key) => ({
    pointer: toPointer([...issue.path, key]),
    detail:
      key === 'messages'
        ? 'unknown here; messages go to POST /run/api/chat'
        : `unknown${didYouMean(key, known)}; leave it out`,
  }));
}

type Issue = z.core.$ZodIssue;

/** Says what to send instead. Never repeats a value, which may be a secret. A schema's own messages take precedence. */
const inputMessages: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type':
      return `${issue.input === undefined ? 'missing; ' : ''}send ${kinds[issue.expected] ?? issue.expected}`;
    case 'invalid_value': {
      const values = issue.values.map(String);
      const hint = typeof issue.input === 'string' ? didYouMean(issue.input, values) : '';
      return `${issue.input === undefined ? 'missing; ' : ''}send ${values.length > 1 ? 'one of ' : ''}${values.join(', ')}${hint}`;
    }
    case 'too_small':
      if (issue.origin === 'string' && issue.minimum === 1) return 'send something, or leave it out';
      return `send ${sizeOf(issue.origin, String(issue.minimum), 'at least', 'or more')}`;
    case 'too_big':
      return `send ${sizeOf(issue.origin, String(issue.maximum), 'at most', 'or less')}`;
    case 'invalid_union':
      return 'this has none of the forms that it may have';
    default:
      return undefined;
  }
};

const kinds: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

function sizeOf(origin: string, limit: string, before: string, after: string): string {
  switch (origin) {
    case 'string':
      return `${before} ${limit} characters`;
    case 'array':
    case 'set':
      return `${before} ${limit} of them`;
    default:
      return `${limit} ${after}`;
  }
}

/** For a union, zod only says that no option fits. If the input looks like one of the options, use that option's issues. */
function nearestIssues(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const nearest = issue.errors.find((issues) => issues.length > 0 && issues.every(isInside));
  if (!nearest) return [issue];
  return nearest.flatMap(nearestIssues).map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
}

function isInside({ path }: Issue): boolean {
  return path.length > 0;
}

/** Unknown members that look like a missing one: `agent` for `agentId`. Others are allowed, because clients send their own. */
function misspeltMembers(schema: z.ZodType, input: unknown): { name: string; meant: string }[] {
  const isOpen = schema instanceof z.ZodObject && schema.def.catchall === undefined;
  if (!isOpen || typeof input !== 'object' || input === null) return [];
  const missing = Object.keys(schema.shape).filter((name) => !Object.hasOwn(input, name));
  return Object.keys(input).flatMap((name) => {
    if (Object.hasOwn(schema.shape, name)) return [];
    const meant = nearestSpelling(name, missing);
    return meant === undefined ? [] : [{ name, meant }];
  });
}
