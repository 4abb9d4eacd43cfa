/** `interlude try` as a program: what goes to which stream, and with which code it ends. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startScriptedMcpServer } from '../../../../test/servers/scripted-mcp-server.ts';
import type { ScriptedMcpServer } from '../../../../test/servers/scripted-mcp-server.ts';
import { startRuleBreakingServer } from '../../../../test/servers/rule-breaking-server.ts';
import { testFolder } from '../../../../test/test-folder.ts';
import { startCommand } from '../../../../test/cli/start-command.ts';
import { runTryCommand } from './in-process.ts';

const stdioServer = [
  '--',
  process.execPath,
  path.resolve(import.meta.dirname, '../../../../test/servers/stdio-server.ts'),
];

let playing: ScriptedMcpServer;
beforeAll(async () => {
  playing = await startScriptedMcpServer();
});
afterAll(() => playing.stop());

test('a server on stdio: the result on one stream, its story on the other', async () => {
  const answers = path.join(testFolder(), 'answers.yaml');
  writeFileSync(answers, 'fields: { nights: 3 }\n');
  const words = ['try', '--tool', 'book', '--args', 'city=Rome', '--answers', answers, ...stdioServer];
  const { code, output, errors } = await startCommand(words, {});
  expect([code, output]).toEqual([0, 'booked Rome for 3\n']);
  for (const line of [
    'stdio 1 · MCP 2026-07-28',
    '⚙ book city=Rome',
    '● How many nights in Rome?',
    '✓ nights=3  (answers.yaml)',
    '✓ done',
  ])
    expect(errors).toContain(line);
});

test('without a tool it lists them, and prints the command that calls one', async () => {
  const { code, output, errors } = await runTryCommand([playing.url]);
  expect([code, output]).toEqual([0, '  ask\n\n']);
  expect(stripVTControlCharacters(errors)).toContain(
    `  Call one: npx interlude try --tool ask --args key=value ${playing.url}\n`,
  );
});

test('a tool that asks in the way of the other era is named as that, with the option that shows its question', async () => {
  const server = await startRuleBreakingServer('modern');
  const { errors } = await runTryCommand(['--tool', 'asks-in-other-era.bad', server.config.url]);
  expect(errors).toContain('The tool asks in the way of the other protocol era');
  expect(errors).toContain('--era legacy');
  await server.stop();
});

const question = {
  resultType: 'input_required',
  inputRequests: {
    a: {
      method: 'elicitation/create',
      params: {
        message: 'Which city?',
        requestedSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      },
    },
  },
};

test.each<[string, object[], string[], number, string]>([
  [
    'a tool that fails',
    [{ resultType: 'complete', isError: true, content: [{ type: 'text', text: 'no' }] }],
    [],
    1,
    'the tool failed',
  ],
  ['a question that nothing answers', [question], [], 3, 'accept: { "city": "…" }'],
  ['a server that breaks the protocol', [{ inputRequests: [] }], [], 4, 'The rule: inputRequests is a map'],
  ['a server that says nothing', [() => undefined], ['--timeout', '100ms'], 5, 'said nothing for 0.1 s'],
])('%s has its own exit code', async (_, moves, words, code, said) => {
  playing.play(...moves);
  const end = await runTryCommand([playing.url, '--tool', 'ask', ...words]);
  expect([end.code, end.errors]).toEqual([code, expect.stringContaining(said)]);
});

test.each([
  ['an option that there is not', ['--tol', 'x'], "unknown option '--tol' (did you mean --tool?)"],
  ['a tool that there is not', ['--tool', 'aks'], 'There is no tool "aks" (did you mean ask?)'],
  ['a file that is not there', ['--answers', 'nowhere.yaml'], 'nowhere.yaml does not exist'],
  ['a time that is none', ['--timeout', 'soon'], "'--timeout <duration>' argument 'soon' is invalid"],
  ['an era that is none', ['--era', 'iron'], "'--era <era>' argument 'iron' is invalid"],
  [
    'arguments that are none',
    ['--tool', 'ask', '--args', 'x'],
    '--args x is neither a JSON object nor key=value',
  ],
])('%s is a wrong command line', async (_, words, said) => {
  await expect(runTryCommand([playing.url, ...words])).rejects.toMatchObject({
    name: expect.stringMatching(/^(?:UsageError|CommanderError)$/),
    message: expect.stringContaining(said),
  });
});

test('an address without its scheme is a wrong command line, and no command', async () => {
  await expect(runTryCommand(['127.0.0.1:3003/mcp'])).rejects.toMatchObject({
    name: 'UsageError',
    message: '127.0.0.1:3003/mcp is not a URL; it begins with https:// or http://.',
  });
});

test('lines of a pipe answer questions, and what does not fit is asked again', async () => {
  playing.play(question);
  const { code, errors } = await runTryCommand([playing.url, '--tool', 'ask', '--prompt'], ['', 'Rome']);
  expect([code, playing.calls[1]?.params.inputResponses]).toEqual([
    0,
    { a: { action: 'accept', content: { city: 'Rome' } } },
  ]);
  for (const words of ['● Which city?', 'Please fill this in.', '✓ city=Rome  (you)'])
    expect(errors).toContain(words);
});

describe('at a terminal', () => {
  const enter = '\r';
  const down = '\u001B[B';
  const fields = {
    city: { type: 'string', title: 'City\u001B[2J\u202E', minLength: 3 },
    class: { type: 'string', enum: ['economy', 'business'] },
    extras: { type: 'array', items: { enum: ['wifi', 'meal', 'bed'] }, minItems: 1 },
    window: { type: 'boolean' },
    api_key: { type: 'string' },
    note: { type: 'string' },
  };
  const required = Object.keys(fields).filter((name) => name !== 'note');
  const form = structuredClone(question);
  Object.assign(form.inputRequests.a.params, {
    requestedSchema: { type: 'object', properties: fields, required },
  });

  test('a tool is chosen from the list, and its form is filled in with prompts', async () => {
    playing.play(form);
    const { code, errors } = await runTryCommand(
      [playing.url],
      [],
      {},
      {
        dialogue: [
          ['Call which?', `ask${enter}`],
          ['Your answer', enter],
          ['1/6 City', `Ro${enter}`],
          ['\n  At least 3 characters.', `me${enter}`],
          ['2/6 ', down + enter],
          ['3/6 ', enter],
          ['3/6 ', ` ${down}${down} ${enter}`],
          ['4/6 ', down + enter],
          ['5/6 ', `hunter2${enter}`],
          ['6/6 ', enter],
          ['Send it?', enter],
        ],
      },
    );
    expect([code, playing.calls.at(-1)?.params.inputResponses]).toEqual([
      0,
      {
        a: {
          action: 'accept',
          content: {
            city: 'Rome',
            class: 'business',
            extras: ['wifi', 'bed'],
            window: false,
            api_key: 'hunter2',
          },
        },
      },
    ]);
    expect(errors).toContain('It asks for a secret');
    expect(errors).not.toContain('hunter2');
    expect(errors).not.toContain('\u202E');
    expect(errors).not.toContain('\u001B[2J');
  });

  test('a question can be left for later, or dismissed', async () => {
    for (const [keys, action] of [
      [down + enter, 'decline'],
      [down + down + enter, 'cancel'],
    ] as const) {
      playing.play(form);
      await runTryCommand([playing.url, '--tool', 'ask'], [], {}, { dialogue: [['Your answer', keys]] });
      expect(playing.calls.at(-1)?.params.inputResponses).toEqual({ a: { action } });
    }
  });
});

test('without a terminal, --prompt leaves the questions to the file', async () => {
  const answers = path.join(testFolder(), 'answers.yaml');
  writeFileSync(answers, 'fields: { city: Oslo }\n');
  playing.play(question);
  const { code } = await runTryCommand([playing.url, '--tool', 'ask', '--prompt', '--answers', answers], []);
  expect([code, playing.calls[1]?.params.inputResponses]).toEqual([
    0,
    { a: { action: 'accept', content: { city: 'Oslo' } } },
  ]);
});

test('--json prints one object, and nothing else', async () => {
  playing.play(question);
  const { code, output, errors } = await startCommand(
    ['try', playing.url, '--tool', 'ask', '--decline', '--json'],
    {},
  );
  expect([code, errors]).toEqual([0, '']);
  expect(JSON.parse(output)).toMatchObject({
    server: { name: expect.any(String), era: 'modern', protocolVersion: '2026-07-28' },
    tool: 'ask',
    rounds: [
      {
        round: 1,
        questions: [{ key: 'a', message: 'Which city?', answer: { action: 'decline', by: 'decline' } }],
      },
    ],
    end: { kind: 'result' },
    exitCode: 0,
  });
});
