/** Modals and homes: within Slack's limits for any foreign text, with nothing cut and no mentions. */
import { expect, test } from 'vitest';
import type { Context, ElicitationRequest } from '@interlude-ai/core/elicitation/elicitation.ts';
import { shownArguments } from '@interlude-ai/core/elicitation/approval.ts';
import { readRequestedSchema } from '@interlude-ai/core/elicitation/form/requested-schema.ts';
import { askedInSlack, fieldBlock, questionModal } from '../../../src/api/slack/blocks/modals.ts';
import { typedIn } from '../../../src/api/slack/blocks/fields.ts';
import { de } from '../../../src/api/slack/vocabulary/words/de.ts';
import { en } from '../../../src/api/slack/vocabulary/words/en.ts';
import { homeView } from '../../../src/api/slack/blocks/home-view.ts';
import { questionMessage } from '../../../src/api/slack/vocabulary/blocks/question-message.ts';
import { problemsOfBlocks, problemsOfView } from '../../servers/slack/check-view.ts';
import type { Block, View } from '../../servers/slack/check-view.ts';
import { inputsOf, valuesOf } from '../../servers/slack/entered.ts';
import type { Entered } from '../../servers/slack/entered.ts';

const page = 'https://agents.example.com/auth/answer?e=q1';
const question = (request: ElicitationRequest) => ({
  id: 'q1',
  request,
  deadline: Date.UTC(2026, 0, 1),
  isAboutAccount: false,
});
const windowOf = (request: ElicitationRequest, askedBy = ['Assistant'], words = en) =>
  questionModal({ words, question: question(request), askedBy, page }) as unknown as View;

function formOf(properties: object, required: string[] = [], message = 'Fill it in'): ElicitationRequest {
  const requestedSchema = { type: 'object', properties, required };
  return {
    mode: 'form',
    message,
    requestedSchema,
    context: { trigger: 'mcp_elicitation', serverTitle: 'Wiki' },
  };
}

const hostile = [
  '<!channel> <@U1> <#C1|general> *bold* `code` ```fence``` :warning: https://evil.example',
  '&'.repeat(6_000),
  '<&>'.repeat(40_000),
  'x'.repeat(3_001),
  `${'long word'.repeat(700)}\n\n\n${'😀'.repeat(2_000)}`,
  '\u202eright to left\u0000 and \u2066isolates',
];

test('a question of several lines is a quotation, of which no line passes for a message of ours', () => {
  const message = `Which city?\n\n\n<@U2> *Tracker* asks: your password, please\n${'more\n'.repeat(100)}`;
  const request = formOf({ city: { type: 'string' } }, [], message);
  const event = {
    type: 'elicitation-request',
    elicitationId: 'q1',
    status: 'pending',
    expiresAt: '',
  } as const;
  const { text } = questionMessage(en, { ...event, ...request }, { slackUser: 'U9', isElsewhere: false });
  const [head, ...lines] = text.split('\n');
  expect(head).toBe('<@U9> *Wiki* asks: ');
  expect(lines).toHaveLength(21);
  expect(lines.slice(0, 3)).toEqual([
    '> Which city?',
    '> ',
    '> &lt;@U2&gt; *Tracker* asks: your password, please',
  ]);
  expect(lines.filter((line) => !line.startsWith('> '))).toEqual([]);
});

test.each<[who: string, context: Context]>([
  ['Assistant', { trigger: 'model_question', agent: 'Assistant', toolName: 'ask_user' }],
  ['The agent', { trigger: 'model_question', toolName: 'ask_user' }],
  ['Deploy', { trigger: 'tool_elicitation', agent: 'Assistant', toolName: 'deploy', toolTitle: 'Deploy' }],
  ['Wiki', { trigger: 'mcp_elicitation', agent: 'Assistant', toolName: 'edit', serverTitle: 'Wiki' }],
])('%s asks, in a thread, a window and the home', (who, context) => {
  const request: ElicitationRequest = { ...formOf({ city: { type: 'string' } }), context };
  const event = { type: 'elicitation-request', elicitationId: 'q1', expiresAt: '', ...request } as const;
  const whose = { slackUser: 'U9', isElsewhere: false };
  expect(questionMessage(en, { ...event, status: 'pending' }, whose).text).toBe(
    `<@U9> *${who}* asks: Fill it in`,
  );
  expect(questionMessage(en, { ...event, status: 'accept' }, whose).text).toBe(`*${who}*: Answered.`);
  expect(JSON.stringify(windowOf(request, []))).toContain(`"*${who}* asks:"`);
  const home = { questions: [{ question: question(request), askedBy: [] }], connections: [] };
  expect(JSON.stringify(homeView(en, { ...home, publicUrl: 'https://agents.example.com' }))).toContain(
    `"*${who}* asks: Fill it in"`,
  );
});

test('an approval of a tool without a title is called by the name of the tool', () => {
  const context: Context = { trigger: 'approval', agent: 'Assistant', toolName: 'deploy' };
  const event = { type: 'elicitation-request', elicitationId: 'q1', expiresAt: '' } as const;
  const { text } = questionMessage(
    en,
    { ...event, ...formOf({}), context, status: 'accept' },
    { slackUser: 'U9', isElsewhere: false },
  );
  expect(text).toBe('*deploy*: Approved.');
});

test.each(hostile.flatMap((text) => [en, de].map((words) => ({ text, words, language: words.language }))))(
  'Slack takes what a stranger writes, in $language, and no one is mentioned: %#',
  ({ text, words }) => {
    const context: Context = { trigger: 'mcp_elicitation', serverTitle: text, agent: text, path: [text] };
    const field = { type: 'string', title: text.slice(0, 1_900), description: text.slice(0, 1_900) };
    const requests: ElicitationRequest[] = [
      { ...formOf({ a: field }, [], text), context },
      {
        mode: 'form',
        message: text,
        requestedSchema: { type: 'object', properties: {} },
        context: {
          ...context,
          trigger: 'approval',
          toolName: text,
          arguments: shownArguments({ text: text.slice(0, 31_000) }),
        },
      },
      {
        mode: 'url',
        message: text,
        url: 'https://example.com/?a=<@U1>&b=`',
        context: { ...context, warnings: ['punycode'] },
      },
    ];
    for (const request of requests) {
      const window = windowOf(request, [text], words);
      expect(problemsOfView(window)).toEqual([]);
      const message = questionMessage(
        words,
        { type: 'elicitation-request', elicitationId: 'q1', status: 'pending', expiresAt: '', ...request },
        { slackUser: 'U9', isElsewhere: false },
      );
      expect(problemsOfBlocks(message.blocks as unknown as Block[])).toEqual([]);
      expect(message.text.length).toBeLessThan(4_000);
      const home = homeView(words, {
        questions: Array.from({ length: 100 }, () => ({ question: question(request), askedBy: [text] })),
        connections: Array.from({ length: 100 }, () => ({ title: text, status: 'broken', isShared: true })),
        publicUrl: 'https://agents.example.com',
      }) as unknown as View;
      expect(problemsOfView(home)).toEqual([]);
      for (const blocks of [window.blocks, message.blocks as unknown as Block[], home.blocks])
        expect(markupIn(blocks)).not.toMatch(/<(?!!date\^|https:\/\/agents\.example\.com\/|@U9>)/);
    }
  },
);

/** Only what Slack reads as markup: plain text is nothing but text, unless names of emoji are read in it. */
function markupIn(blocks: Block[]): string {
  const found: string[] = [];
  JSON.stringify(blocks, (_, value: unknown) => {
    const { type, text, emoji } = (value ?? {}) as { type?: unknown; text?: string; emoji?: boolean };
    if (type === 'mrkdwn' || (type === 'plain_text' && emoji !== false)) found.push(text ?? '');
    return value;
  });
  return found.join('\n');
}

const many = (count: number) => Array.from({ length: count }, (_, index) => `c${index}`);

test.each([
  ['text', { type: 'string', maxLength: 20, default: 'Lisbon' }, 'plain_text_input', undefined, 'Lisbon'],
  ['long text', { type: 'string', maxLength: 9_000 }, 'plain_text_input', 'a\nb', 'a\nb'],
  ['left alone', { type: 'string' }, 'plain_text_input', undefined, undefined],
  ['email', { type: 'string', format: 'email' }, 'email_text_input', 'a@b.example', 'a@b.example'],
  ['address', { type: 'string', format: 'uri' }, 'url_text_input', 'https://b.example', 'https://b.example'],
  ['day', { type: 'string', format: 'date', default: '2026-02-01' }, 'datepicker', undefined, '2026-02-01'],
  [
    'moment',
    { type: 'string', format: 'date-time', default: '2026-02-01T10:30:00+01:00' },
    'datetimepicker',
    undefined,
    '2026-02-01T09:30:00Z',
  ],
  ['number', { type: 'number', minimum: -1.5, default: 0.25 }, 'number_input', undefined, '0.25'],
  ['whole number', { type: 'integer', minimum: 0.5, maximum: 9.5 }, 'number_input', '7', '7'],
  ['huge number', { type: 'number', default: 1e21 }, 'plain_text_input', undefined, '1e+21'],
  ['yes or no', { type: 'boolean' }, 'radio_buttons', 'No', 'false'],
  ['yes or no, left open', { type: 'boolean' }, 'radio_buttons', undefined, undefined],
  ['choice', { type: 'string', enum: ['1', '0'], default: '0' }, 'radio_buttons', undefined, '0'],
  ['choice of many', { type: 'string', enum: many(99) }, 'static_select', 'c98', 'c98'],
  [
    'choices',
    { type: 'array', items: { type: 'string', enum: many(10) } },
    'checkboxes',
    ['c1', 'c9'],
    ['c1', 'c9'],
  ],
  [
    'no choices',
    { type: 'array', items: { type: 'string', enum: many(10) }, default: ['c2'] },
    'checkboxes',
    [],
    [],
  ],
  [
    'choices of many',
    { type: 'array', items: { type: 'string', enum: many(100) }, maxItems: 2, default: ['c3'] },
    'multi_static_select',
    undefined,
    ['c3'],
  ],
] as const)('a field and what is entered: %s', (_name, schema, element, entered, typed) => {
  const request = formOf({ it: { title: 'It', ...schema } });
  const window = windowOf(request);
  expect(problemsOfView(window)).toEqual([]);
  expect(inputsOf(window).map((input) => input.element.type)).toEqual([element]);
  const given: Entered = entered === undefined ? {} : { It: entered as Entered[string] };
  const form = readRequestedSchema((request as { requestedSchema?: object }).requestedSchema);
  const fields = form.kind === 'form' ? form.fields : [];
  expect(typedIn(fields, valuesOf(window, given) as never, fieldBlock)).toEqual(
    typed === undefined ? {} : { it: typed },
  );
});

test.each([
  ['a secret', { key: { type: 'string', title: 'API key' } }],
  ['more choices than Slack lists', { c: { type: 'string', enum: many(101) } }],
  ['a choice that would be cut', { c: { type: 'string', enum: ['x'.repeat(76)] } }],
  ['a label that would be cut', { c: { type: 'string', title: 'x'.repeat(2_001) } }],
  ['a label without anything to see', { c: { type: 'string', title: '\u200b' } }],
  ['a hint that would be cut', { c: { type: 'string', description: 'x'.repeat(2_001) } }],
  ['a text longer than an input', { c: { type: 'string', minLength: 3_001 } }],
  ['a moment with seconds', { c: { type: 'string', format: 'date-time', default: '2026-02-01T10:30:01Z' } }],
])('a form with %s is for our page', (_name, properties) => {
  const request = formOf(properties);
  expect(askedInSlack(question(request))).toEqual({ kind: 'page' });
  const window = windowOf(request);
  expect(problemsOfView(window)).toEqual([]);
  expect(inputsOf(window)).toEqual([]);
  expect(JSON.stringify(window)).toContain(`"url":"${page}"`);
});

test.each([
  ['https://pay.example/x', 'link'],
  ['http://pay.example/x', 'page'],
  ['vscode://localhost/x', 'page'],
])('a page at %s is opened from Slack as a %s', (url, kind) => {
  const context = { trigger: 'mcp_elicitation', serverTitle: 'Wiki' } as const;
  expect(askedInSlack(question({ mode: 'url', message: 'Pay', url, context })).kind).toBe(kind);
});

test('the largest form that there is fits into a window', () => {
  const fields = Object.fromEntries(
    many(64).map((name) => [name, { type: 'string', title: 'x'.repeat(500) }]),
  );
  const window = windowOf(formOf(fields, [], 'y'.repeat(60_000)));
  expect(problemsOfView(window)).toEqual([]);
  expect(inputsOf(window)).toHaveLength(64);
});
