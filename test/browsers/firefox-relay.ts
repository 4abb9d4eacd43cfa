/**
 * Starts the Firefox at FIREFOX_PATH as it is told, and stands between it and who drives it: Playwright speaks the newest
 * WebDriver BiDi, and begins with commands that a Firefox with long support may not know yet. Those do nothing.
 */
import { spawn } from 'node:child_process';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { WebSocket, WebSocketServer } from 'ws';
import type { RawData } from 'ws';

/** Sent with every new page, also by who does not care what is in them. */
const dispensable = new Set(['emulation.setMediaFeaturesOverride']);

const firefox = spawn(process.env['FIREFOX_PATH'] ?? '', process.argv.slice(2), {
  stdio: ['ignore', 'ignore', 'pipe'],
});
firefox.once('exit', (code) => process.exit(code ?? 1));

const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
createInterface(firefox.stderr).on('line', (line) => {
  const [, address] = /^WebDriver BiDi listening on (ws:\S+)$/.exec(line) ?? [];
  if (address === undefined) return void process.stderr.write(`${line}\n`);
  server.once('connection', (driver) => relay(driver, new WebSocket(`${address}/session`)));
  const { port } = server.address() as AddressInfo;
  process.stderr.write(`WebDriver BiDi listening on ws://127.0.0.1:${port}\n`);
});

function relay(driver: WebSocket, browser: WebSocket): void {
  const asked = new Set<number>();
  const isOpen = new Promise((resolve) => browser.once('open', resolve));
  driver.on('message', (data) => {
    const { text, message } = read(data);
    if (message.id !== undefined && dispensable.has(message.method ?? '')) asked.add(message.id);
    void isOpen.then(() => browser.send(text));
  });
  browser.on('message', (data) => {
    const { text, message } = read(data);
    const { id, error } = message;
    const isUnknown = id !== undefined && asked.delete(id) && error === 'unknown command';
    driver.send(isUnknown ? JSON.stringify({ type: 'success', id, result: {} }) : text);
  });
  driver.once('close', () => browser.close());
  browser.once('close', () => driver.close());
}

function read(data: RawData): { text: string; message: { id?: number; method?: string; error?: string } } {
  const text = (data as Buffer).toString();
  return { text, message: JSON.parse(text) as { id?: number; method?: string; error?: string } };
}
