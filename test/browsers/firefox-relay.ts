/**
 * Starts the Firefox at FIREFOX_PATH with the given arguments and relays WebDriver BiDi to it. Playwright speaks the newest
 * version and begins with commands that an extended-support Firefox may not know; the relay answers those itself.
 */
import { spawn } from 'node:child_process';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { WebSocket, WebSocketServer } from 'ws';
import type { RawData } from 'ws';

/** Sent with every new page, even where the test does not need it. */
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
