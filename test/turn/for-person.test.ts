/** What people read of a failed tool call is written to them, and not for the model. */
import { describe, expect, test } from 'vitest';
import type { Context } from '@interlude-ai/core/elicitation/elicitation.ts';
import { languageOf, preferredLanguage } from '@interlude-ai/core/elicitation/language.ts';
import type { Language } from '@interlude-ai/core/elicitation/language.ts';
import type { CallFailure, MissingAccount } from '../../src/turn/call-failure.ts';
import { failureForModel } from '../../src/turn/for-model.ts';
import { failureEvent, inWords, missingAccountInWords } from '../../src/turn/for-person.ts';
import { everyFailure, everyTrouble, everyTurnFailure } from './every-failure.ts';

const call = { type: 'tool-output-error', toolCallId: 'c1', toolName: 'tracker__list_issues' } as const;
const eventOf = (failure: CallFailure) => ({ ...call, errorText: failureForModel(failure), failure });

function said(failure: CallFailure, language: Language): string {
  const event = inWords(eventOf(failure), language);
  return event.type === 'tool-output-error' ? event.errorText : '';
}

describe.each(['en', 'de'] as const)('in %s', (language) => {
  test.each(everyFailure)('%o is said to the person', (failure) => {
    const text = said(failure, language);
    expect(text).toMatch(/\.$/);
    expect(text).not.toMatch(/\bthe user\b|\btheir\b|Respect|Offer|Tell|undefined|null|\[object/);
  });
});

test.each(everyTrouble)('of %o people read what happened, and not what an operator should do', (trouble) => {
  const failure = { code: 'server_trouble', trouble } as const;
  expect(said(failure, 'en')).not.toMatch(/operator|author should|should name/);
  expect(failureForModel(failure)).toContain(said(failure, 'en'));
  expect(said(failure, 'de')).not.toBe(said(failure, 'en'));
  expect(said(failure, 'de')).not.toMatch(/undefined|\[object/);
});

test.each(everyFailure)('%o is not the same in German', (failure) => {
  expect(said(failure, 'de')).not.toBe(said(failure, 'en'));
});

test.each([
  [
    { code: 'account', why: 'decline', server: 'Tracker', address: 'https://a.example/connections' },
    'You were asked to connect your Tracker account and chose not to. The tool did not run. You can connect it at any time at https://a.example/connections.',
    'Sie wurden gebeten, Ihr Konto bei Tracker zu verbinden, und haben abgelehnt. Das Werkzeug wurde nicht ausgeführt. Verbinden können Sie es jederzeit unter https://a.example/connections.',
  ],
  [
    { code: 'unknown_outcome', server: 'Tracker' },
    'Tracker was called, but its answer never arrived. It is unknown whether the action took place. It was not repeated. Check the state in Tracker before trying again.',
    'Tracker wurde aufgerufen, aber die Antwort kam nie an. Ob die Aktion stattgefunden hat, ist nicht bekannt. Sie wurde nicht wiederholt. Sehen Sie in Tracker nach, bevor Sie es noch einmal versuchen.',
  ],
] satisfies [CallFailure, string, string][])('%o in both languages', (failure, english, german) => {
  expect(said(failure, 'en')).toBe(english);
  expect(said(failure, 'de')).toBe(german);
});

test.each(everyTurnFailure)('%o ends a turn in German, too', (failure) => {
  const { event } = failureEvent(failure);
  const german = inWords(event, 'de');
  const english = { type: 'error', code: failure.code, errorText: expect.stringMatching(/\.$/) };
  expect(inWords(event, null)).toEqual(english);
  expect(inWords(event, 'en')).toEqual(inWords(event, null));
  expect(german).toEqual(english);
  expect(german).not.toEqual(inWords(event, 'en'));
});

test('a failure of another release keeps its sentence', () => {
  const { event } = failureEvent({ code: 'Unheard', message: 'It went wrong.' });
  expect(inWords(event, 'de')).toEqual({ type: 'error', code: 'Unheard', errorText: 'It went wrong.' });
});

test('for a model the sentence stays, and the code is not sent', () => {
  const failure = { code: 'call_ended' } as const;
  expect(inWords(eventOf(failure), null)).toEqual({ ...call, errorText: 'The call has ended.' });
});

const notice = {
  type: 'tool-auth-required',
  toolCallId: 'c1',
  toolName: 'tracker__list_issues',
  server: 'tracker',
  serverTitle: 'Tracker',
  url: 'https://a.example/connections',
} as const;

test.each<[MissingAccount, string, string]>([
  [
    { code: 'account', tool: 'list_issues' },
    'Tracker needs your account to list issues. The client you use cannot show the link to connect it: ask again in one that can, or connect it at https://a.example/connections and ask again here.',
    'Tracker braucht für „list issues“ Ihr Konto. Ihr Programm kann den Link dafür nicht zeigen. Fragen Sie noch einmal in einem, das es kann, oder stellen Sie die Verbindung unter https://a.example/connections her, und fragen Sie hier noch einmal.',
  ],
  [
    { code: 'shared_account', reason: 'missing', contact: 'Ada' },
    'Tracker is used with one account for everybody here, and it is not connected. Ask Ada to connect it.',
    'Tracker wird hier von allen mit einem gemeinsamen Konto benutzt, und es ist nicht verbunden. Bitten Sie Ada, es zu verbinden.',
  ],
])('%o is said to a person who could not be asked', (account, english, german) => {
  const { serverTitle, url } = notice;
  const event = { ...notice, account, message: missingAccountInWords({ serverTitle, account, url }) };
  expect(inWords(event, null)).toEqual({ ...notice, message: english });
  expect(inWords(event, 'en')).toEqual({ ...notice, message: english });
  expect(inWords(event, 'de')).toEqual({ ...notice, message: german });
});

const asked = {
  type: 'elicitation-request',
  elicitationId: 'e1',
  message: 'In English?',
  status: 'pending',
  expiresAt: '2026-11-21T10:10:00.000Z',
  mode: 'form',
  requestedSchema: {},
} as const;

test.each<[Context, string]>([
  [
    { trigger: 'approval', agent: 'Assistant', serverTitle: 'Tracker', toolName: 'admin/delete_all' },
    'Assistant möchte „admin delete all“ in Tracker ausführen. Stimmen Sie zu?',
  ],
  [
    { trigger: 'approval', agent: 'Assistant', toolName: 'delete_all' },
    'Assistant möchte „delete all“ ausführen. Stimmen Sie zu?',
  ],
  [
    { trigger: 'credential_required', reason: 'missing', serverTitle: 'Tracker', toolName: 'list_issues' },
    'Tracker braucht Ihren Zugang für „list issues“.',
  ],
  [
    { trigger: 'credential_required', reason: 'revoked', server: 'tracker' },
    'Ihr Zugang zu tracker wurde widerrufen. Richten Sie ihn neu ein.',
  ],
  [{ trigger: 'mcp_elicitation', serverTitle: 'Tracker', toolName: 'list_issues' }, 'In English?'],
])('the question of %o is said in German, unless its words are of others', (context, message) => {
  expect(inWords({ ...asked, context }, 'de')).toEqual({ ...asked, context, message });
  expect(inWords({ ...asked, context }, 'en')).toEqual({ ...asked, context });
});

test("a tool's own error is the same for people and models", () => {
  const event = { ...call, errorText: 'Tell the user that there is no issue 4.' };
  expect(inWords(event, 'de')).toEqual(event);
});

test.each([
  ['de', 'de'],
  ['DE-at', 'de'],
  ['en-GB', 'en'],
  ['fr', 'en'],
  ['constructor', 'en'],
  ['', 'en'],
])('the language "%s" is read as %s', (tag, language) => {
  expect(languageOf(tag)).toBe(language);
});

test.each([
  [undefined, 'en'],
  ['de', 'de'],
  ['de-AT,de;q=0.9,en;q=0.8', 'de'],
  ['en-GB, de;q=0.9', 'en'],
  ['fr;q=0.9, en;q=0.1, de;q=0.2', 'de'],
  ['de;q=0, en', 'en'],
  ['fr', 'en'],
  ['*', 'en'],
  [';;,q=,de;q=x', 'en'],
])('of the languages "%s", %s is preferred', (accepted, language) => {
  expect(preferredLanguage(accepted)).toBe(language);
});
