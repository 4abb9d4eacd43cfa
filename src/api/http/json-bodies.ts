/** Like Fastify's JSON parser, but the error has the line and column, and never the text, which may contain secrets. */
import type { FastifyInstance } from 'fastify';
import { ProblemError } from './problems.ts';

export function readJsonBodies(fastify: FastifyInstance): void {
  const parse = fastify.getDefaultJsonParser('error', 'error');
  fastify.removeContentTypeParser('application/json');
  fastify.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    const text = body.toString();
    void parse(request, text, (error, parsed) => done(error ? refusalOf(text, error) : null, parsed));
  });
}

function refusalOf(text: string, error: Error): Error {
  if (text === '') return error;
  const offset = endOfJson(text);
  if (offset === null)
    return new ProblemError(
      'invalid_request',
      'The body has a key that is refused everywhere: __proto__ or constructor.',
    );
  const before = text.slice(0, offset).split('\n');
  const place = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
  return new ProblemError(
    'invalid_request',
    offset === text.length
      ? `The body is not JSON: it ends too early, at ${place}.`
      : `The body is not JSON: what is at ${place} is not expected there.`,
  );
}

const blanks = /[ \t\n\r]*/y;
const token =
  /([{}[\],:])|("(?:[ !#-[\]-\u{10ffff}]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*")|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/uy;

type Expected = 'a value' | 'a value or ]' | 'a key' | 'a key or }' | 'a colon' | 'a comma or the end';

/** The offset at which a text stops being JSON; null if it is JSON. */
export function endOfJson(text: string): number | null {
  const open: string[] = [];
  let expected: Expected = 'a value';
  for (let offset = 0; ; offset = token.lastIndex) {
    blanks.lastIndex = offset;
    blanks.test(text);
    token.lastIndex = blanks.lastIndex;
    const at = token.lastIndex;
    const found = token.exec(text);
    if (!found)
      return at === text.length && open.length === 0 && expected === 'a comma or the end' ? null : at;
    const [, mark, string] = found;
    const isValue = expected === 'a value' || expected === 'a value or ]';
    const isKey = expected === 'a key' || expected === 'a key or }';
    const closes = mark === '}' ? '{' : '[';
    if (isValue && (mark === '{' || mark === '[')) {
      open.push(mark);
      expected = mark === '{' ? 'a key or }' : 'a value or ]';
    } else if (isValue && mark === undefined) expected = 'a comma or the end';
    else if (isKey && string !== undefined) expected = 'a colon';
    else if (expected === 'a colon' && mark === ':') expected = 'a value';
    else if (expected === 'a comma or the end' && mark === ',' && open.length > 0)
      expected = open.at(-1) === '{' ? 'a key' : 'a value';
    else if (
      (mark === '}' || mark === ']') &&
      open.at(-1) === closes &&
      (expected === 'a comma or the end' || expected === `a ${mark === '}' ? 'key' : 'value'} or ${mark}`)
    ) {
      open.pop();
      expected = 'a comma or the end';
    } else return at;
  }
}
