/** Turns zod's issues with the environment or the agents file into messages that say what to write instead. */
import { z } from 'zod';
import { didYouMean } from '@interlude-ai/core/nearest-spelling.ts';

export interface FileProblem {
  path: PropertyKey[];
  message: string;
}

/** For `safeParse`. Values are not repeated, because they may be secrets. */
export const remedyMessages: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type':
      return `${stateOf(issue.input)}write ${kinds[issue.expected] ?? issue.expected}${inQuotes(issue)}`;
    case 'invalid_value': {
      const values = issue.values.map(String);
      return `write one of ${values.join(', ')}${typeof issue.input === 'string' ? didYouMean(issue.input, values) : ''}`;
    }
    case 'too_small':
      if (issue.origin === 'string') return 'write something, or leave it out';
      if (issue.origin === 'array') return `name at least ${String(issue.minimum)}`;
      return `write ${issue.inclusive === false ? 'more than ' : ''}${String(issue.minimum)}${issue.inclusive === false ? '' : ' or more'}`;
    case 'too_big':
      return issue.origin === 'string'
        ? `write at most ${String(issue.maximum)} characters`
        : `write ${String(issue.maximum)} or less`;
    case 'invalid_format':
      return issue.format === 'url' ? addressWords(issue.input) : undefined;
    default:
      return undefined;
  }
};

/** `members`: the allowed members at a path. */
export function problemsOf(
  issue: z.core.$ZodIssue,
  members: (path: PropertyKey[]) => string[],
): FileProblem[] {
  switch (issue.code) {
    case 'unrecognized_keys': {
      const allowed = members(issue.path);
      return issue.keys.map((key) => ({
        path: [...issue.path, key],
        message: `unknown${didYouMean(key, allowed)}; allowed here: ${allowed.join(', ')}`,
      }));
    }
    case 'invalid_key': {
      const rule = issue.issues[0]?.message ?? issue.message;
      return [{ path: issue.path, message: `${rule}${exampleFor(String(issue.path.at(-1)))}` }];
    }
    case 'invalid_union': {
      const meant = issue.errors.find((inner) => !inner.some(isOfAnotherKind)) ?? [];
      if (meant.length === 0) return [{ path: issue.path, message: issue.message }];
      return meant.flatMap((inner) =>
        problemsOf({ ...inner, path: [...issue.path, ...inner.path] }, members),
      );
    }
    default:
      return [{ path: issue.path, message: issue.message }];
  }
}

function isOfAnotherKind({ code, path }: z.core.$ZodIssue): boolean {
  return code === 'invalid_type' && path.length === 0;
}

/** The allowed members at a path, if it leads to an object. */
export function membersAt(schema: z.core.$ZodType, path: PropertyKey[]): string[] {
  let here = withoutWrapping(schema);
  for (const key of path) {
    if (here instanceof z.ZodObject) here = withoutWrapping(here.shape[String(key)] ?? z.never());
    else if (here instanceof z.ZodRecord) here = withoutWrapping(here.valueType);
    else if (here instanceof z.ZodArray) here = withoutWrapping(here.element);
    if (here instanceof z.ZodUnion)
      here = here.options.map(withoutWrapping).find((option) => option instanceof z.ZodObject) ?? here;
  }
  return here instanceof z.ZodObject ? Object.keys(here.shape) : [];
}

function withoutWrapping(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault)
    return withoutWrapping(schema.unwrap());
  return schema instanceof z.ZodPipe ? withoutWrapping(schema.in) : schema;
}

const kinds: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list, like [one, two]',
  object: 'members, like name: value',
  record: 'members, like name: value',
};

/** YAML reads `title: 42` and `title: yes` as other types. */
function inQuotes({ expected, input }: { expected: string; input: unknown }): string {
  return expected === 'string' && ['number', 'boolean'].includes(typeof input) ? ' in quotes' : '';
}

function stateOf(input: unknown): string {
  if (input === undefined) return 'missing; ';
  return input === null ? 'empty; ' : '';
}

/** `tracker.example/mcp`, or `localhost:3002/mcp`, whose scheme would be `localhost`. */
function addressWords(input: unknown): string {
  const hasNoScheme = typeof input === 'string' && !/^[a-z][a-z0-9+.-]*:\/\//i.test(input);
  return hasNoScheme
    ? 'write http://… or https://…: an address begins with its scheme'
    : 'write an address that begins with http:// or https://';
}

/** A valid name near the written one. */
function exampleFor(name: string): string {
  const near = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]/g, '-')
    .replaceAll(/(?<=[_-])[_-]|^[^a-z]/g, '')
    .slice(0, 32)
    .replace(/_$/, '');
  return /^[a-z]/.test(near) && near !== name ? `; write for example ${near}` : '';
}
