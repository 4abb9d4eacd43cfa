/**
 * Arguments that a server also wants as HTTP headers, for its routing: a tool marks them in its input schema with
 * `x-mcp-header` (2026-07-28). The SDK sends the headers; this finds tools whose marks break the rules, which must not be
 * offered.
 *
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#custom-headers-from-tool-parameters
 */
import { isRecord } from '../elicitation/form/schema-keywords.ts';

const keyword = 'x-mcp-header';
const headerName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const sendable = new Set<unknown>(['string', 'integer', 'boolean']);
/** The values of these keywords are data, in which the mark means nothing. */
const data = new Set(['const', 'default', 'enum', 'examples']);
const deepest = 50;

interface Mark {
  header: unknown;
  type: unknown;
  /** The path of properties to the mark; undefined where there is none. */
  path: string[] | undefined;
}

/** Why a tool with this schema must not be offered over HTTP; undefined if it may. */
export function faultOfHeaders(inputSchema: Record<string, unknown>): string | undefined {
  const names = new Set<string>();
  for (const { header, type, path } of marks(inputSchema, [])) {
    if (!path?.length) return `${keyword} stands where it belongs to no argument`;
    const field = path.join('.');
    if (typeof header !== 'string' || !headerName.test(header))
      return `${keyword} of "${field}" is not a header name`;
    if (!sendable.has(type)) return `${keyword} of "${field}" needs a string, an integer or a boolean`;
    if (names.has(header.toLowerCase())) return `${keyword} "${header}" is given to two arguments`;
    names.add(header.toLowerCase());
  }
  return undefined;
}

function* marks(schema: unknown, path: string[] | undefined, depth = 0): Generator<Mark> {
  if (!isRecord(schema) || depth > deepest) return;
  if (keyword in schema) yield { header: schema[keyword], type: schema['type'], path };
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'properties' && isRecord(value)) {
      for (const [name, property] of Object.entries(value))
        yield* marks(property, path && [...path, name], depth + 1);
    } else if (!data.has(key)) {
      for (const part of Array.isArray(value) ? value : [value]) yield* marks(part, undefined, depth + 1);
    }
  }
}
