/** `interlude try` at servers that break off, flood, never end, or write control characters. */
import path from 'node:path';
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runLintCommand, runTryCommand } from './in-process.ts';
import { tricky } from '../../../../test/servers/noisy-server.ts';
import { asks, done, form, startScriptedMcpServer } from '../../../../test/servers/scripted-mcp-server.ts';
import type { ScriptedMcpServer } from '../../../../test/servers/scripted-mcp-server.ts';
import {
  answerError,
  sendEvent,
  startRawMcpServer,
  startStream,
} from '../../../../test/servers/raw-mcp-server.ts';
import { testFolder } from '../../../../test/test-folder.ts';

const onStdio = (habit: string) => [
  '--',
  process.execPath,
  path.resolve(import.meta.dirname, '../../../../test/servers/hostile-stdio.ts'),
  habit,
];

/** But for line breaks and tabs: control codes, and marks that turn the direction of writing. */
const rewritesTheScreen = /(?![\n\t])\p{Cc}|[\u202A-\u202E\u2066-\u2069]/u;

let server: ScriptedMcpServer;
beforeAll(async () => {
  server = await startScriptedMcpServer();
});
afterAll(() => server.stop());
const ask = (words: string[]) => runTryCommand([server.url, '--tool', 'ask', ...words]);

describe('a server on stdio that', () => {
  test.each([
    ['exits', [], 2, /┊ the key is missing\n[^]* ended before it answered \(exit code 1\)/],
    ['exits', ['--era', 'legacy'], 2, / ended before it answered \(exit code 1\)/],
    ['dies', ['--tool', 'ask'], 4, /It gave no answer to the call: it ended \(exit code 1\)/],
    ['floods', ['--tool', 'ask'], 4, /more than 10 MB came of it/],
    ['logs', ['--tool', 'ask'], 0, /no message: “Server started”\. Logs belong on standard error/],
    ['silent', ['--timeout', '300ms'], 5, /said nothing for 0\.3 s/],
  ])('%s %j: %i', async (habit, words, expected, said) => {
    const { code, errors } = await runTryCommand([...words, ...onStdio(habit)]);
    expect([code, errors]).toEqual([expected, expect.stringMatching(said)]);
  });

  test('logs on its standard output: that is said once, and an error to the linter', async () => {
    const { errors } = await runTryCommand(onStdio('logs'));
    expect(errors.match(/what is no message/g)).toHaveLength(1);
    const { code, output } = await runLintCommand(onStdio('logs'));
    expect([code, output]).toEqual([
      1,
      expect.stringMatching(/stray-output +the server\n.*“Server started”/),
    ]);
  });
});

describe('words that would rewrite the screen are shown without what does it:', () => {
  const property = { type: tricky, format: tricky, default: tricky, enum: undefined, description: tricky };
  const tool = {
    name: `ask${tricky}`,
    title: tricky,
    description: tricky,
    inputSchema: { type: 'object', properties: { [tricky]: property }, required: [tricky] },
  };
  let tricking: ScriptedMcpServer;
  beforeAll(async () => {
    tricking = await startScriptedMcpServer({ tools: [tool, tool] });
  });
  afterAll(() => tricking.stop());

  test('in the list of tools, and in what is said of them', async () => {
    const { code, output, errors } = await runTryCommand([tricking.url]);
    expect([code, output, errors]).toEqual([
      0,
      expect.stringContaining('  ask[2J'),
      expect.stringContaining('is listed twice'),
    ]);
    expect(output + errors).not.toMatch(rewritesTheScreen);
  });

  test.each([
    ['--tool', 'aks'],
    ['--tool', tool.name],
  ])('in what is wrong with a command line: %s', async (...words) => {
    const wrong = await runTryCommand([tricking.url, ...words]).catch((error: unknown) => error as Error);
    expect(wrong).toMatchObject({ name: 'UsageError', message: expect.stringContaining('[2J') });
    expect((wrong as Error).message).not.toMatch(rewritesTheScreen);
  });

  test('in a list with a tool that breaks the protocol', async () => {
    const wrong = await startScriptedMcpServer({ tools: [{ ...tool, inputSchema: { type: tricky } }] });
    const { code, errors } = await runTryCommand([wrong.url]);
    await wrong.stop();
    expect([code, errors]).toEqual([
      0,
      expect.stringContaining('its inputSchema is not of "type": "object"'),
    ]);
    expect(errors).not.toMatch(rewritesTheScreen);
  });

  test('in a result with structured content, which programs read unchanged', async () => {
    const structuredContent = { [tricky]: [tricky] };
    const result = { resultType: 'complete', content: [{ type: 'text', text: 'ok' }], structuredContent };
    server.play(result, result);
    const { code, output, errors } = await ask([]);
    expect([code, output]).toEqual([0, expect.stringContaining('\\u009b31m\\u202egnp.exe')]);
    expect(output + errors).not.toMatch(rewritesTheScreen);
    const forPrograms = await ask(['--json']);
    expect(forPrograms.output).not.toMatch(rewritesTheScreen);
    expect(JSON.parse(forPrograms.output)).toMatchObject({ end: { result: { structuredContent } } });
  });

  test('in a handshake that is refused', async () => {
    const refusing = await startScriptedMcpServer({
      on: {
        'server/discover': (message, response) => answerError(message, response, -32000, tricky),
        initialize: (message, response) => answerError(message, response, -32000, tricky),
      },
    });
    const { code, errors } = await runTryCommand([refusing.url]);
    await refusing.stop();
    expect([code, errors]).toEqual([4, expect.stringContaining('did not shake hands')]);
    expect(errors).not.toMatch(rewritesTheScreen);
  });
});

test('a call that reports progress for ever ends after its time', async () => {
  server.play(({ params }, response) => {
    startStream(response);
    const progressToken = params._meta?.['progressToken'];
    const timer = setInterval(
      () => sendEvent(response, { method: 'notifications/progress', params: { progressToken, progress: 1 } }),
      20,
    );
    response.once('close', () => clearInterval(timer));
  });
  const { code, errors } = await ask(['--max-time', '700ms']);
  expect([code, errors]).toEqual([5, expect.stringContaining('came to no result within 0.7 s (--max-time)')]);
});

test('the time of a call stands still while somebody answers', async () => {
  server.play(asks({ city: form('Which city?') }));
  const answers = path.join(testFolder(), 'answers.yaml');
  writeFileSync(answers, 'questions: [{ accept: { city: Rome }, delay: 3s }]');
  const { code } = await ask(['--max-time', '2500ms', '--answers', answers]);
  expect(code).toBe(0);
});

test('more questions than people are asked are no breach of the protocol', async () => {
  server.play(asks(Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`q${at}`, form('Who?')]))));
  const { code, errors } = await ask(['--decline']);
  expect([code, errors]).toEqual([
    4,
    expect.stringContaining('asks what cannot be asked here: It asks more than 20'),
  ]);
  expect(errors).toContain('the specification sets no limit');
});

describe('Ctrl+C', () => {
  test.each<[string, string[], string]>([
    ['at the list', [], 'Call which?'],
    ['in the arguments', ['--tool', 'book'], 'City'],
    ['at a question', ['--tool', 'ask'], 'Which city?'],
  ])('%s ends it with 130', async (_, words, shown) => {
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    const tools = [
      { name: 'ask', inputSchema: { type: 'object' } },
      { name: 'book', inputSchema: schema },
    ];
    const asking = await startScriptedMcpServer({ tools });
    asking.play(asks({ city: form('Which city?', schema.properties, { required: ['city'] }) }));
    const interrupted = new AbortController();
    const { code } = await runTryCommand(
      [asking.url, ...words],
      [],
      {},
      {
        isTerminal: true,
        signal: interrupted.signal,
        onOutput: (text) => text.includes(shown) && interrupted.abort(),
      },
    );
    await asking.stop();
    expect(code).toBe(130);
    expect(asking.calls).toHaveLength(words.includes('ask') ? 1 : 0);
  });

  test('while a server does not shake hands, or does not list its tools', async () => {
    for (const method of ['server/discover', 'tools/list']) {
      const interrupted = new AbortController();
      const silent = await startRawMcpServer({ on: { [method]: () => interrupted.abort() } });
      const { code } = await runTryCommand(
        [silent.config.url, '--era', 'modern'],
        [],
        {},
        { signal: interrupted.signal },
      );
      await silent.stop();
      expect([method, code]).toEqual([method, 130]);
    }
  });
});

describe('files of recordings', () => {
  const file = (name: string, text: string) => {
    const place = path.join(testFolder(), name);
    writeFileSync(place, text);
    return place;
  };
  const wrong = (words: string[]) =>
    ask(words).then(
      () => 'nothing',
      ({ name, message }: Error) => `${name}: ${message}`,
    );

  test.each([
    ['cassette: 2\nprotocol: x\nexchanges: []', 'is of another version; this program reads version 1'],
    ['cassette: 1\nprotocol: x\nexchanges: []', 'holds no call of a tool: there is nothing to compare'],
    ['cassette: 1\nprotocol: x\nexchanges: [{ request: { method: tools/list } }]', 'holds no call of a tool'],
    [
      'cassette: 1\nprotocol: x\nexchanges: [{ request: { method: tools/call } }]',
      'calls a tool without its name',
    ],
    ['cassette: 1\nexchanges: [{ requ', 'cassette.yaml: '],
    [
      `a: &a [x,x,x,x,x,x,x,x,x,x]\n${'bcdefgh'
        .split('')
        .map((name, at) => `${name}: &${name} [${`*${'abcdefg'[at]},`.repeat(10)}]`)
        .join('\n')}`,
      'alias',
    ],
  ])('%j is no use', async (text, said) => {
    expect(await wrong(['--replay', file('cassette.yaml', text)])).toMatch(/^UsageError: /);
    expect(await wrong(['--replay', file('cassette.yaml', text)])).toContain(said);
  });

  test('one that cannot be written is said before anything is called', async () => {
    server.play(done());
    expect(await wrong(['--record', path.join(testFolder(), 'nowhere', 'a.yaml')])).toContain(
      'cannot be written',
    );
    expect(await wrong(['--record', testFolder()])).toContain('is a folder');
    expect(server.calls).toEqual([]);
  });
});
