import { expect, test } from 'vitest';
import { tooManyRounds } from '../../../src/activities/call-tool/rounds.ts';
import type { InputRequired, ServerQuestion } from '@interlude-ai/core/mcp/input-required.ts';

const server = { title: 'Asking', maxRounds: 3 };
const page = (url: string): ServerQuestion => ({ key: url, request: { mode: 'url', message: 'Open', url } });
const round = (...questions: ServerQuestion[]): InputRequired => ({ questions, resume: { kind: 'retry' } });
const failed = { code: 'too_many_rounds', server: 'Asking' };
const many = { ...server, maxRounds: 100 };

test('as many rounds as allowed are asked, whatever is in them', () => {
  const asked = [round(), round(page('https://a')), round()];
  expect(tooManyRounds(server, asked.slice(0, 2), round())).toBeNull();
  expect(tooManyRounds(server, asked, round())).toEqual({ ...failed, what: 'rounds', limit: 3 });
});

test('one page is shown three times, in whichever rounds', () => {
  const twice = [round(page('https://a'), page('https://b')), round(), round(page('https://a'))];
  expect(tooManyRounds(many, twice, round(page('https://a')))).toBeNull();
  const thrice = [...twice, round(page('https://a'))];
  const again = round(page('https://b'), page('https://a'));
  expect(tooManyRounds(many, thrice, again)).toEqual({ ...failed, what: 'same-page', limit: 3 });
  expect(tooManyRounds(many, thrice, round(page('https://b')))).toBeNull();
  expect(tooManyRounds(many, thrice, round(page('https://a/')))).toBeNull();
});
