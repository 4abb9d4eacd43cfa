/**
 * Removes secrets from a recording: values of secret fields, wherever else they appear; values that were named
 * beforehand; and everything shaped like a key, a token or a credential. The server's state is kept, except for secrets
 * in plain text. Headers are never recorded.
 */
import { isRecord } from '@interlude-ai/core/elicitation/form/schema-keywords.ts';
import { isSecretName } from '@interlude-ai/core/elicitation/form/secret-fields.ts';
import { hideSecrets } from '@interlude-ai/core/elicitation/secret-shapes.ts';
import { redacted } from './cassette.ts';
import type { Cassette } from './cassette.ts';

/** Shorter ones would match by chance. */
const shortest = 4;

/** Names of the protocol that sound like secrets. */
const ofProtocol = new Set(['progressToken', 'nextCursor', 'cursor', 'requestState']);

/** Headers that some servers repeat in messages. */
const ofHeaders = /^(?:(?:proxy-)?authorization|(?:set-)?cookie|x-api-key)$/i;

/** In the query and fragment of an address. */
const parameter = /([?&#])([^?=&#\s"]{1,100})=([^&#\s"]+)/g;
const secretParameter = /token|secret|password|passwd|apikey|api_key|signature|sig|code|credential/i;

/** `known`: secret values, like the token that was sent. */
export function redactCassette(cassette: Cassette, known: Iterable<string> = []): Cassette {
  const names = markedFields(cassette);
  const found = new Set(known);
  walk(cassette, (name, member) => {
    if (isSecretMember(names, name, member) && member !== redacted) found.add(String(member));
  });
  const secrets = [...found].filter(({ length }) => length >= shortest).flatMap(spellings);
  // Longer ones first, because a secret may be part of another.
  const longestFirst = [...new Set(secrets)].toSorted((one, other) => other.length - one.length);
  return redact(cassette, '', { names, secrets: longestFirst }) as Cassette;
}

interface Secrets {
  /** Names of secret fields. */
  names: ReadonlySet<string>;
  secrets: readonly string[];
}

/** In JSON and in addresses. */
function spellings(secret: string): string[] {
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];
}

/** Fields that their form marks as secret, by a format or by their title. */
function markedFields(cassette: Cassette): Set<string> {
  const names = new Set<string>();
  walk(cassette, (name, member) => {
    if (!isRecord(member) || typeof member['type'] !== 'string') return;
    const { format, writeOnly, title } = member;
    if (format === 'password' || writeOnly === true || (typeof title === 'string' && isSecretName(title)))
      names.add(name);
  });
  return names;
}

function isSecretMember(
  names: ReadonlySet<string>,
  name: string,
  member: unknown,
): member is string | number {
  const isValue = typeof member === 'string' || typeof member === 'number';
  const isSecret = names.has(name) || isSecretName(name) || ofHeaders.test(name);
  return isValue && !ofProtocol.has(name) && isSecret;
}

function walk(value: unknown, visit: (name: string, member: unknown) => void): void {
  if (Array.isArray(value)) for (const item of value) walk(item, visit);
  if (!isRecord(value)) return;
  for (const [name, member] of Object.entries(value)) {
    for (const one of Array.isArray(member) ? member : [member]) visit(name, one);
    walk(member, visit);
  }
}

function redact(value: unknown, name: string, given: Secrets): unknown {
  const { names, secrets } = given;
  if (typeof value === 'string')
    return name === 'requestState' ? withoutKnown(value, secrets) : withoutSecrets(value, secrets);
  if (typeof value === 'number') return secrets.includes(String(value)) ? redacted : value;
  if (Array.isArray(value))
    return value.map((item) => (isSecretMember(names, name, item) ? redacted : redact(item, name, given)));
  if (!isRecord(value)) return value;
  const members = Object.entries(value).map(([key, member]) => [
    key,
    isSecretMember(names, key, member) ? redacted : redact(member, key, given),
  ]);
  return Object.fromEntries(members) as unknown;
}

function withoutKnown(text: string, secrets: readonly string[]): string {
  return secrets.reduce((left, secret) => left.replaceAll(secret, redacted), text);
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  const open = withoutKnown(text, secrets).replaceAll(parameter, (whole, mark: string, name: string) =>
    secretParameter.test(name) ? `${mark}${name}=${redacted}` : whole,
  );
  return hideSecrets(open, redacted);
}
