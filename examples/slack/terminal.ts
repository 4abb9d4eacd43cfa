/** A direct message with the app, in this terminal. Slack is the double of our tests: it checks what real Slack checks. */
import { spawn } from 'node:child_process';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { addChat } from '../../test/servers/slack/chat.ts';
import type { ChatMessage } from '../../test/servers/slack/chat.ts';
import { text as textOf } from '../../test/servers/slack/methods.ts';
import { startSlackServer } from '../../test/servers/slack/slack-server.ts';
import { addViews, buttonsOf } from '../../test/servers/slack/views.ts';
import { fillIn } from './fill-in.ts';
import { plain, wordsOf } from './plain.ts';

const team = 'T1';
const user = 'U1';
const channel = `D${user}`;
const service = `http://127.0.0.1:${process.env['PORT'] ?? 3000}`;
const print = (text: string) => void process.stdout.write(`${text}\n`);

const slack = await startSlackServer();
const workspace = slack.addWorkspace(team, 'Acme');
workspace.addUser(user, { name: 'ally', isAdmin: true });
const chat = addChat(slack);
const views = addViews(slack);

/** New each time, because the double forgets its messages. */
const data = mkdtempSync(path.join(tmpdir(), 'slack-terminal-'));
const child = spawn(process.execPath, ['src/cli/interlude.mjs', 'start'], {
  cwd: path.join(import.meta.dirname, '../..'),
  stdio: ['ignore', 'pipe', 'inherit'],
  env: {
    ...process.env,
    ...slack.env,
    INTERLUDE_DATA: data,
    SLACK_BOT_TOKEN: workspace.botToken,
    SLACK_TENANT: 'demo',
  },
});
child.stdout.pipe(createWriteStream('service.log'));
child.once('exit', (code) => {
  rmSync(data, { recursive: true, force: true });
  if (code) print('The service ended; service.log says why.');
  process.exit(code ?? 0);
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => child.kill('SIGTERM'));
print('Starting the service; it writes to service.log.');
child.stdout.on('data', (text: Buffer) => {
  if (text.includes('Interlude is ready'))
    print('Ready. Write to the app, for example: List my open issues in Tracker.');
});

/** The thread of this conversation: its first message. */
let thread: string | undefined;
/** The question that was shown last. */
let asked: ChatMessage | undefined;

async function write(text: string): Promise<void> {
  const ts = slack.nextTs();
  const event = { type: 'message', channel, channel_type: 'im', user, text, ts };
  const url = `${service}/slack/events`;
  // At first the service does not know the workspace yet, and Slack sends the event again.
  while (
    (await slack.sendEvent(url, thread ? { ...event, thread_ts: thread } : event, { team })).status !== 200
  )
    await delay(200);
  thread ??= ts;
}

/** What the app does in Slack, as it comes. */
async function follow(): Promise<never> {
  let streamed = '';
  for (let seen = 0; ;) {
    const calls = await slack.until(() => true, seen + 1);
    for (const { method, args } of calls.slice(seen)) {
      const text = textOf(args, 'markdown_text') || textOf(args, 'text');
      if (method === 'chat.startStream') streamed = text;
      else if (method === 'chat.appendStream') streamed += text;
      else if (method === 'chat.stopStream') print(`\ninterlude › ${plain(streamed + text)}`);
      else if (method === 'chat.postEphemeral') print(`\n(only you see this) ${plain(text)}`);
      else if (method === 'chat.postMessage' || method === 'chat.update') show(text, textOf(args, 'ts'));
    }
    seen = calls.length;
  }
}

function show(text: string, ts: string): void {
  print(`\ninterlude ${ts && '(edited) '}› ${plain(text)}`);
  const last = chat.thread(channel, thread ?? '').findLast((one) => buttonsOf(one).length > 0);
  if (!last || last === asked) return;
  asked = last;
  print(
    buttonsOf(last)
      .map((button, index) => `  ${index + 1} ${button.text.text}`)
      .join('   '),
  );
}

async function press(number: number): Promise<void> {
  const button = asked && buttonsOf(asked)[number - 1];
  if (!asked || !button) return write(String(number));
  const before = views.opened.length;
  await views.press(`${service}/slack/interactivity`, { by: user, button: button.text.text, message: asked });
  if (button !== buttonsOf(asked)[0]) return;
  await slack.until(({ method }) => method === 'views.open', before + 1);
  const window = views.opened.at(-1);
  while (window?.isOpen) {
    print(`\n┌ a window\n${wordsOf(window.view).replaceAll(/^/gm, '│ ')}`);
    if (window.view.submit === undefined) return print('└');
    const entered = await fillIn(window, ask);
    if (entered === undefined) return print('└ closed: nothing is decided');
    await views
      .submit(`${service}/slack/interactivity`, window, entered)
      .then(() => Object.values(window.errors).forEach((error) => print(`│ ✗ ${error}`)))
      .catch((error: Error) => print(`│ ✗ ${error.message}`));
  }
  print('└ sent');
}

const terminal = createInterface({ input: process.stdin });
const lines = terminal[Symbol.asyncIterator]();
const ask = async (question: string): Promise<string> => {
  process.stdout.write(question);
  const { value, done } = await lines.next();
  return done ? 'close' : value.trim();
};

void follow();
for await (const line of lines) {
  const text = line.trim();
  if (text === 'new') thread = asked = undefined;
  else if (text.startsWith('/interlude')) {
    const fields = {
      team_id: team,
      channel_id: channel,
      user_id: user,
      text: text.slice('/interlude'.length).trim(),
    };
    const { body } = await slack.sendForm(`${service}/slack/commands`, fields);
    print(plain((JSON.parse(body) as { text?: string }).text ?? ''));
  } else if (/^\d$/.test(text)) await press(Number(text));
  else if (text !== '') await write(text);
}
child.kill('SIGTERM');
