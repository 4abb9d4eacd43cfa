/**
 * Whether a form asks for something that must not be typed into a conversation: passwords, tokens, card numbers (MCP
 * 2025-11-25, elicitation: "servers MUST NOT use form mode to request sensitive information"). Judged by words, also in
 * letters that only look like theirs; a form that hides its purpose passes.
 */
import type { ElicitationRequest } from '../elicitation.ts';
import type { Field } from './field.ts';
import { asLatin } from './look-alikes.ts';
import { readRequestedSchema } from './requested-schema.ts';

/** How a letter is written by those who hope that it is not noticed. */
const shapes: Record<string, string> = {
  a: '[a4@]',
  e: '[e3]',
  i: '[il1]',
  l: '[il1]',
  o: '[o0]',
  s: '[s5$]',
  w: '(?:w|vv)',
};

/** Separators between words are gone: `api_key`, `apiKey` and "API key" read alike. */
const secretWords = [
  'passw(or)?d',
  'pwd',
  'passphrase',
  'passcode',
  'passwort',
  'kennwort',
  'contrasena',
  'motdepasse',
  '^senha',
  'wachtwoord',
  'secret(?!ary)',
  'apikey',
  'privatekey',
  'accesskey',
  'token$',
  'credential',
  'pin(code|number)',
  '(security|verification|authentication|onetime|2fa|mfa|sms)code',
  '^otp$',
  'cvv|cvc',
  '(card|creditcard|debitcard|iban|account)number',
  '^iban$',
  '(social|national)(security|insurance)(number|no)',
  '^ssn$',
  'seedphrase',
  'recovery(code|phrase|key)',
].map((word) => new RegExp(word.replaceAll(/[aeilosw]/g, (letter) => shapes[letter] ?? letter)));

/** The name of the first field that asks for a secret, or `null`. */
export function secretField(fields: Field[], requestedSchema: Record<string, unknown>): string | null {
  return secretFields(fields, requestedSchema)[0] ?? null;
}

/** The names of all fields that ask for a secret, by their words or by their mark. */
export function secretFields(fields: Field[], requestedSchema: Record<string, unknown>): string[] {
  const properties = (requestedSchema['properties'] ?? {}) as Record<
    string,
    { format?: unknown; writeOnly?: unknown }
  >;
  const found = fields.filter(({ name, title, kind }) => {
    // A yes or no, or one of given choices, gives nothing away.
    if (kind !== 'text' && kind !== 'number') return false;
    const { format, writeOnly } = properties[name] ?? {};
    return format === 'password' || writeOnly === true || [name, title].some(isSecretName);
  });
  return found.map(({ name }) => name);
}

/** Whether a question wants a secret, by its fields or by its words: no model and no conversation may carry the answer. */
export function wantsSecret(question: ElicitationRequest): boolean {
  if (question.mode === 'url') return false;
  const form = readRequestedSchema(question.requestedSchema);
  const fields = form.kind === 'form' ? form.fields : [];
  if (secretField(fields, question.requestedSchema) !== null) return true;
  const isTyped = fields.some(({ kind }) => kind === 'text' || kind === 'number');
  return isTyped && asksForSecret(question.message);
}

const request = /\b(what is|what's|what are|enter|type|give|provide|tell|send|share|need)\b/i;
const secret =
  /\b(password|passphrase|passcode|pin code|api[ -]?key|secret key|private key|access token|card number|cvv|cvc|security code|one-time code|seed phrase)\b/i;

/** Whether a sentence of the message asks for a secret: "What is your GitHub password?". */
export function asksForSecret(message: string): boolean {
  return asLatin(message)
    .split(/[.?!\n]/)
    .some((sentence) => request.test(sentence) && secret.test(sentence));
}

export function isSecretName(name: string): boolean {
  const joined = asLatin(name).replaceAll(/[^\p{L}\p{N}@$]+/gu, '');
  // In the shapes of its letters, it would be the currency PLN.
  return joined === 'pin' || secretWords.some((word) => word.test(joined));
}
