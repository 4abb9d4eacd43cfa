import { expect, test } from 'vitest';
import { readRequestedSchema } from '../../src/elicitation/form/requested-schema.ts';
import { asksForSecret, secretField } from '../../src/elicitation/form/secret-fields.ts';

function secretIn(properties: Record<string, Record<string, unknown>>): string | null {
  const schema = { type: 'object', properties };
  const form = readRequestedSchema(schema);
  if (form.kind === 'unsupported') throw new Error(form.reason);
  return secretField(form.fields, schema);
}

test.each([
  'password',
  'passwd',
  'user_password',
  'newPassword',
  'api_key',
  'API key',
  'apiKey',
  'client-secret',
  'token',
  'access_token',
  'githubToken',
  'pin',
  'PIN code',
  'otp',
  'verificationCode',
  'cvv',
  'Card number',
  'credit_card_number',
  'iban',
  'ssn',
  'private_key',
  'recovery phrase',
  'Passwort',
])('%s is a secret, as a name and as a title', (name) => {
  expect(secretIn({ city: { type: 'string' }, [name]: { type: 'string' } })).toBe(name);
  expect(secretIn({ x: { type: 'string', title: name } })).toBe('x');
});

test.each([
  'city',
  'secretary',
  'pinned',
  'shipping',
  'tokens_per_second',
  'code',
  'country code',
  'postcode',
  'passenger',
  'passport_holder',
  'keyword',
  'authors',
  'card',
  'account',
])('%s is none', (name) => {
  expect(secretIn({ [name]: { type: 'string' } })).toBeNull();
});

test('whatever it is called, a field of format password is one', () => {
  expect(secretIn({ word: { type: 'string', format: 'password' } })).toBe('word');
});

test('a number can be one; a yes or no and a choice cannot', () => {
  expect(secretIn({ pin: { type: 'integer' } })).toBe('pin');
  expect(secretIn({ has_password: { type: 'boolean' } })).toBeNull();
  expect(secretIn({ token: { type: 'string', enum: ['ETH', 'BTC'] } })).toBeNull();
});

test.each([
  'What is your password?',
  'Please enter your GitHub password.',
  'I need the admin API key to go on.',
  'Enter a one-time code',
  'Type your credit card number',
])('"%s" asks for one', (message) => {
  expect(asksForSecret(message)).toBe(true);
});

test.each([
  'Where shall we go?',
  'Should I reset the password policy?',
  'How many tokens do you want to buy?',
  'Which key signature is the song in?',
])('"%s" does not', (message) => {
  expect(asksForSecret(message)).toBe(false);
});
