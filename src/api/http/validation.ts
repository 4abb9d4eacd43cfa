/** Checks input against the zod schemas of routes. A mismatch is a 400 that points at each wrong field. */
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { didYouMean, nearestSpelling } from '@interlude-ai/core/nearest-spelling.ts';
import { membersAt } from '../../platform/config/problem-messages.ts';
import { readPresent, isRecord } from '@interlude-ai/core/elicitation/form/schema-keywords.ts';
import { invalidRequest, ProblemError, toPointer } from './problems.ts';
import type { FieldError } from './problems.ts';

/** `fastify` with bodies, queries, params and headers typed by the schemas of their routes. */
export type Api = ReturnType<typeof withSchemas>;

export function withSchemas(fastify: FastifyInstance) {
  fastify.setValidatorCompiler<z.ZodType>(({ schema, httpPart }) => (input: unknown) => {
    try {
      const isNamedByCaller = httpPart === 'body' || httpPart === 'querystring';
      return { value: isNamedByCaller ? parseNamed(schema, input) : parseInput(schema, input) };
    } catch (error) {
      if (error instanceof ProblemError) return { error };
      throw error;
    }
  });
  // Schemas of responses are documentation; tests check them.
  fastify.setSerializerCompiler(() => (value) => JSON.stringify(value));
  return fastify.withTypeProvider<ZodTypeProvider>();
}

/**
 * As `parseInput`, and refuses unknown members that look like a misspelt known one. A loose schema accepts them, for clients of
 * others; then they are named only if the input does not fit.
 */
export function parseNamed<T extends z.ZodType>(schema: T, input: unknown): z.output<T> {
  const misspelt = misspeltMembers(schema, input).map(({ name, meant }) => ({
    pointer: toPointer([name]),
    detail: `unknown (did you mean ${meant}?)`,
  }));
  const value = parseInput(schema, input, '', misspelt);
  if (misspelt.length > 0 && !isLoose(schema)) throw invalidRequest(misspelt);
  return value;
}

/**
 * Null may stand for a missing member. `at`: JSON pointer to `input` in the request. `causes`: named first when the input does not
 * fit, because they may be why.
 */
export function parseInput<T extends z.ZodType>(
  schema: T,
  input: unknown,
  at = '',
  causes: FieldError[] = [],
): z.output<T> {
  const asSent = schema.safeParse(input);
  if (asSent.success) return asSent.data;
  const present = withoutRefusedNulls(input, asSent.error.issues.flatMap(nearestIssues));
  const meant = likeliestOption(schema, present);
  const parsed = meant.safeParse(present, { error: inputMessages });
  if (parsed.success) return parsed.data as z.output<T>;
  const errors = parsed.error.issues
    .flatMap(nearestIssues)
    .flatMap((issue) => toFieldErrors(issue, meant))
    .map(({ pointer, detail }) => ({ pointer: at + pointer, detail }));
  throw invalidRequest([...causes, ...errors]);
}

/** Of a union of objects, the one that has most of the input's members, misspelt ones included: the errors are about that one. */
function likeliestOption(schema: z.ZodType, input: unknown): z.ZodType {
  if (!(schema instanceof z.ZodUnion) || !isRecord(input)) return schema;
  const options = schema.options.filter((option) => option instanceof z.ZodObject);
  const shared = ({ shape }: z.ZodObject) =>
    Object.keys(input).filter((name) => nearestSpelling(name, Object.keys(shape)) !== undefined).length;
  return options.toSorted((one, other) => shared(other) - shared(one))[0] ?? schema;
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

/** Of another protocol, which has names of its own that are not unlike ours: `function_call` is no misspelt `functions`. */
const mostEditsIfLoose = 2;

/**
 * Unknown members that look like a missing one: `agent` for `agentId`. Others are allowed, because clients send their own. None of a
 * strict schema, which refuses all unknown members itself.
 */
export function misspeltMembers(schema: z.ZodType, input: unknown): { name: string; meant: string }[] {
  const isStrict = schema instanceof z.ZodObject && schema.def.catchall instanceof z.ZodNever;
  if (!(schema instanceof z.ZodObject) || isStrict || !isRecord(input)) return [];
  const missing = Object.keys(schema.shape).filter((name) => !Object.hasOwn(input, name));
  return Object.keys(input).flatMap((name) => {
    if (Object.hasOwn(schema.shape, name)) return [];
    const meant = nearestSpelling(name, missing, isLoose(schema) ? mostEditsIfLoose : undefined);
    return meant === undefined ? [] : [{ name, meant }];
  });
}

function isLoose(schema: z.ZodType): boolean {
  return schema instanceof z.ZodObject && schema.def.catchall instanceof z.ZodUnknown;
}
