/** Arguments of a tool from the command line: JSON, or `key=value`, where the tool's schema says what a value means. */
import { UsageError } from '../command.ts';
import { didYouMean } from '../../config/nearest-spelling.ts';
import { isRecord } from '../../elicitation/form/schema-keywords.ts';

type Schema = Record<string, unknown>;

/** Later ones replace earlier ones. Throws `UsageError`. */
export function readToolArguments(given: readonly string[], inputSchema: Schema): Schema {
  return Object.assign({}, ...given.map((text) => readOne(text, inputSchema))) as Schema;
}

function readOne(text: string, inputSchema: Schema): Schema {
  if (text.trimStart().startsWith('{')) return readJson(text);
  const [, key, value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (key === undefined) throw new UsageError(`--args ${text} is neither a JSON object nor key=value.`);
  return { [key]: readValue(key, value, propertiesOf(inputSchema)) };
}

function readJson(text: string): Schema {
  try {
    // It begins with a brace, so that it is an object or no JSON.
    return JSON.parse(text) as Schema;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(`--args is no JSON object: ${why}.`, { cause });
  }
}

function readValue(key: string, text: string, properties: Schema): unknown {
  const schema = properties[key];
  const type: unknown = isRecord(schema) ? schema['type'] : undefined;
  const types = new Set([type].flat());
  if (types.has('string')) return text;
  if ((types.has('number') || types.has('integer')) && text.trim() !== '' && Number.isFinite(Number(text)))
    return Number(text);
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

export function propertiesOf({ properties }: Schema): Schema {
  return isRecord(properties) ? properties : {};
}

export function requiredOf({ required }: Schema): string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
}

/** Throws `UsageError` for what the tool needs and did not get, and for names that are probably misspelt. */
export function checkToolArguments(tool: string, given: Schema, inputSchema: Schema): void {
  const missing = requiredOf(inputSchema).filter((name) => !Object.hasOwn(given, name));
  const known = Object.keys(propertiesOf(inputSchema));
  const unknown = Object.keys(given).find(
    (name) => inputSchema['additionalProperties'] === false && !known.includes(name),
  );
  if (unknown !== undefined)
    throw new UsageError(`${tool} has no argument "${unknown}"${didYouMean(unknown, known)}.`);
  const [first] = missing;
  if (first === undefined) return;
  const near = Object.keys(given).find((name) => !known.includes(name));
  const hint = near === undefined ? '' : `; "${near}" is none of its arguments${didYouMean(near, known)}`;
  throw new UsageError(`${tool} needs --args ${first}=…${hint}.`);
}
