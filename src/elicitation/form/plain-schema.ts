/** The schema of a form as it can be handed to any client: what it shows to people is plain text. */
import { plainText } from '../plain-text.ts';
import { isRecord, quoted, Unsupported } from './schema-keywords.ts';
import type { Schema } from './schema-keywords.ts';

/** A form is flat. What lies deeper is an annotation, and too deep for those who read it recursively. */
const deepest = 12;

/** What goes back to the server must stay as it is: a trick in there is not taken out but refused. */
const sentBack = new Set(['const', 'enum', 'required']);
const readByProgramsOnly = new Set(['pattern', 'format', 'type', '$schema', '$id', '$comment']);

/** Throws `Unsupported`. The schema is one that was read already, so that its size is known. */
export function plainSchema(schema: Schema): Schema {
  return plain(schema, '', 0) as Schema;
}

function plain(value: unknown, keyword: string, depth: number): unknown {
  if (depth > deepest) throw new Unsupported(`The schema is nested more than ${deepest} levels deep.`);
  if (typeof value === 'string') {
    if (sentBack.has(keyword)) return withoutTricks(value);
    return readByProgramsOnly.has(keyword) ? value : plainText(value);
  }
  if (Array.isArray(value)) return value.map((item) => plain(item, keyword, depth + 1));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [withoutTricks(name), plain(member, name, depth + 1)]),
  );
}

function withoutTricks(word: string): string {
  if (plainText(word) === word) return word;
  const what = 'a name or a value with control characters, or with marks that turn the direction of writing';
  throw new Unsupported(`The schema has ${what}: ${quoted(plainText(word))}.`);
}
