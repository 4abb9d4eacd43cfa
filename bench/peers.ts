/**
 * How long two peers need from an empty folder: follows `peers/*.md` by their text alone, as the release tests follow
 * our guides. Needs npm's registry: `node bench/peers.ts [eve|mastra] [section]`.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from '../test/free-port.ts';
import { startTracker } from '../demo/tracker/tracker.ts';
import { launchChromium } from '../test/browsers/chromium.ts';
import { openBrowser } from '../test/browsers/plain-browser.ts';
import { followGuide } from '../test/guides/follow-guide.ts';
import { blocksOf } from '../test/guides/guide.ts';
import { sendJson, serve } from '../test/servers/serve.ts';

const [onlyPeer, onlySection] = process.argv.slice(2);
await using stack = new AsyncDisposableStack();
const model = await serve(({ body, response }) => {
  const { messages = [], tools = [], stream = false } = JSON.parse(body) as Request;
  const last = messages.at(-1);
  const call = { index: 0, id: 'call_1', type: 'function' };
  const asks = tools.length > 0 && last?.role !== 'tool';
  const name = tools[0]?.function.name;
  const delta = asks
    ? { role: 'assistant', tool_calls: [{ ...call, function: { name, arguments: '{"people":4}' } }] }
    : { role: 'assistant', content: last?.role === 'tool' ? `Booked: ${last.content}` : 'Hello!' };
  const end = { index: 0, finish_reason: asks ? 'tool_calls' : 'stop' };
  const answer = {
    id: 'c1',
    created: 1,
    model: 'scripted',
    usage: { prompt_tokens: 1, completion_tokens: 1 },
  };
  if (!stream) return sendJson(response, { ...answer, choices: [{ ...end, message: delta }] });
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(`data: ${JSON.stringify({ ...answer, choices: [{ ...end, delta }] })}\n\ndata: [DONE]\n\n`);
});
stack.defer(() => model.stop());
const chromium = await launchChromium();
stack.defer(() => chromium.close());
const tracker = await startTracker({ port: 0, dataDir: newFolder() });
stack.defer(() => tracker.stop());

for (const peer of ['eve', 'mastra'])
  for (const [section, text] of sectionsOf(
    readFileSync(path.join(import.meta.dirname, 'peers', `${peer}.md`), 'utf8'),
  )) {
    if ((onlyPeer ?? peer) !== peer || (onlySection ?? section) !== section) continue;
    const blocks = blocksOf(text);
    const [port, page] = [await freePort(), await freePort()];
    const startedAt = performance.now();
    await followGuide(blocks, {
      folder: newFolder(),
      env: {
        PORT: String(port),
        NODE_EXTRA_CA_CERTS: process.env['NODE_EXTRA_CA_CERTS'] ?? '',
        npm_config_yes: 'true',
        npm_config_prefer_offline: 'true',
        EVE_TELEMETRY_DISABLED: '1',
        MASTRA_TELEMETRY_DISABLED: '1',
      },
      instead: {
        '127.0.0.1:3000': `127.0.0.1:${port}`,
        '127.0.0.1:5173': `127.0.0.1:${page}`,
        '--port 5173': `--port ${page}`,
        '127.0.0.1:8000': new URL(model.origin).host,
        'https://mcp.tracker.example/mcp': tracker.url,
      },
      async opens(url) {
        if (url.startsWith(tracker.origin)) return connectAlice(url.replace(/[",]+$/, ''));
        const opened = await chromium.newPage();
        await opened.goto(url);
        await opened.locator('textarea').fill('Book a table for four.');
        await opened.keyboard.press('Enter');
        await opened.locator('.card').waitFor();
      },
    });
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    const files = new Set(blocks.flatMap((block) => (block.kind === 'file' ? [block.name] : []))).size;
    const lines = blocks.map((block) => (block.kind === 'command' ? block.script.trim().split('\n') : []));
    process.stdout.write(
      `${peer}, ${section}: ${seconds} s, ${lines.flat().length} commands, ${files} files\n`,
    );
  }

function newFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'peer-'));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function connectAlice(url: string): Promise<unknown> {
  const browser = openBrowser();
  return browser.press(await browser.press(await browser.get(url), 'Continue as alice'), 'Allow');
}

interface Request {
  messages?: { role: string; content: string }[];
  tools?: { function: { name: string } }[];
  stream?: boolean;
}

/** `Begin`, and each other one with what its parents and `Begin` say. */
function sectionsOf(markdown: string): [title: string, text: string][] {
  const [, begin = '', ...chapters] = markdown.split(/^## /m);
  const sections = chapters.flatMap((chapter) => {
    const [own = '', ...parts] = chapter.split(/^### /m);
    return parts.length > 0 ? parts.map((part) => [part, own]) : [[own]];
  });
  return [[begin], ...sections.map((texts) => [...texts, begin])].map((texts) => [
    texts[0]?.split('\n', 1)[0] ?? '',
    texts.toReversed().join('\n'),
  ]);
}
