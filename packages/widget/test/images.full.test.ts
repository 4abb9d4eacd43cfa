/** Images that a user adds to a message, in a page with a strict content security policy. */
import { randomBytes } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from '../../../test/browsers/chromium.ts';
import { gif, otherPng, png, svg } from '../../../test/images.ts';
import { useDevelopmentServer } from '../../../test/service/use-development-server.ts';
import { holdMessages, setUpWidgetPage } from './widget-page.ts';
import type { WidgetPageSetup } from './widget-page.ts';
import type { InterludeChatElement } from '../src/interlude-chat.ts';

const temporal = useDevelopmentServer();
let browser: Browser;
let setup: WidgetPageSetup;

beforeAll(async () => {
  browser = await launchChromium();
  setup = await setUpWidgetPage({ browser, temporal });
});
afterAll(async () => {
  await setup.stop();
  await browser.close();
});

const file = (name: string, base64: string, mimeType = 'image/png') => ({
  name,
  mimeType,
  buffer: Buffer.from(base64, 'base64'),
});
const choose = (page: Page, ...files: { name: string; mimeType: string; buffer: Buffer }[]) =>
  page.locator('input[type=file]').setInputFiles(files);
const send = (page: Page) => page.getByRole('button', { name: 'Send', exact: true }).click();
const attached = (page: Page) => page.locator('.composer .images img');

test('chosen and pasted images go with a message, also without words, and are there after a reload', async () => {
  const { page, say, comeBack, leave } = await setup.visit({ attributes: 'images agent="viewer"' });
  await choose(page, file('a.png', png), file('b.gif', gif, 'image/gif'), file('c.png', otherPng('c')));
  await expect.poll(() => attached(page).count()).toBe(3);
  await page.getByRole('button', { name: 'Remove image 3' }).click();
  await send(page);
  await page.getByText('You showed: image/png, image/gif').waitFor();
  expect(await attached(page).count()).toBe(0);

  await page.locator('textarea').evaluate((input, base64) => {
    const transfer = new DataTransfer();
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    transfer.items.add(new File([bytes], 'pasted.png', { type: 'image/png' }));
    input.dispatchEvent(new ClipboardEvent('paste', { clipboardData: transfer, bubbles: true }));
  }, png);
  await expect.poll(() => attached(page).count()).toBe(1);
  await say('What is it?');
  await page.getByText('You showed: image/png', { exact: true }).waitFor();
  expect(await page.locator('.bubble img').count()).toBe(3);
  await comeBack();
  await expect.poll(() => page.locator('.bubble img').count()).toBe(3);
  await leave();
});

test('what cannot be sent is refused with the reason; a large photo is made smaller', async () => {
  const { page, leave } = await setup.visit({ attributes: 'images agent="viewer"' });
  await choose(page, file('d.svg', svg, 'image/svg+xml'));
  await page.getByText('Only PNG, JPEG, GIF and WebP images can be sent.').waitFor();
  const many = Array.from({ length: 9 }, (_, index) => file(`${index}.png`, otherPng(String(index))));
  await choose(page, ...many);
  await page.getByText('A message has at most 8 images').waitFor();
  expect(await attached(page).count()).toBe(8);
  await page.locator('.composer .images button').first().click();
  await choose(page, { name: 'photo.png', mimeType: 'image/png', buffer: noise(1200) });
  await expect.poll(() => attached(page).count()).toBe(8);
  expect(await cornerOf(attached(page).last())).toEqual([255, 255, 255, 255]);
  await send(page);
  await page.getByText(/^You showed: (image\/png, ){7}image\/jpeg$/).waitFor();
  await leave();
});

test('text that is copied with a picture of it is pasted as text', async () => {
  const { page, leave } = await setup.visit({ attributes: 'images agent="viewer"' });
  const isTaken = (...more: string[]) =>
    page.locator('textarea').evaluate(
      (input, { base64, types }) => {
        const transfer = new DataTransfer();
        const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
        transfer.items.add(new File([bytes], 'picture.png', { type: 'image/png' }));
        for (const type of types) transfer.setData(type, 'cell');
        const paste = { clipboardData: transfer, bubbles: true, cancelable: true };
        return !input.dispatchEvent(new ClipboardEvent('paste', paste));
      },
      { base64: png, types: more },
    );
  expect(await isTaken('text/plain', 'text/html')).toBe(false);
  // An image copied from a page, and a file with its name.
  expect(await isTaken('text/html')).toBe(true);
  expect(await isTaken('text/plain')).toBe(true);
  await expect.poll(() => attached(page).count()).toBe(1);
  await leave();
});

test('a message waits for its images, and of too many files the others are not read', async () => {
  const { page, leave } = await setup.visit({ attributes: 'images agent="viewer"' });
  // Each file is read when the test says so.
  await page.evaluate(() => {
    const { readAsDataURL } = FileReader.prototype;
    const reads: (() => void)[] = [];
    FileReader.prototype.readAsDataURL = function (file) {
      reads.push(() => readAsDataURL.call(this, file));
    };
    Object.assign(globalThis, { reads });
  });
  const waiting = () => page.evaluate(() => (globalThis as unknown as { reads: [] }).reads.length);
  const readNext = async () => {
    await expect.poll(waiting).toBe(1);
    await page.evaluate(() => (globalThis as unknown as { reads: (() => void)[] }).reads.shift()?.());
  };
  const many = Array.from({ length: 20 }, (_, index) => file(`${index}.png`, otherPng(String(index))));
  await page.locator('textarea').fill('Look.');
  await choose(page, ...many);
  await readNext();
  await expect.poll(() => attached(page).count()).toBe(1);
  await page.keyboard.press('Enter');
  expect(await page.getByRole('button', { name: 'Send', exact: true }).isDisabled()).toBe(true);
  expect(await page.locator('.bubble').count()).toBe(0);
  for (let index = 1; index < 9; index++) await readNext();
  await page.getByText('A message has at most 8 images').waitFor();
  await send(page);
  await page.getByText(/^You showed: (image\/png, ){7}image\/png$/).waitFor();
  expect(await waiting()).toBe(0);
  await leave();
});

test('an image that is added again while its message is refused is there once', async () => {
  const { page, say, leave } = await setup.visit({ attributes: 'images agent="assistant"' });
  const { sent, release } = await holdMessages(page);
  await choose(page, file('a.png', png));
  await expect.poll(() => attached(page).count()).toBe(1);
  await say('Look.');
  await sent;
  await choose(page, file('a.png', png));
  await expect.poll(() => attached(page).count()).toBe(1);
  release();
  await page.locator('.failure').waitFor();
  expect(await attached(page).count()).toBe(1);
  await leave(/422/);
});

test('a message that the agent refuses comes back with its images', async () => {
  const { page, say, leave } = await setup.visit({ attributes: 'images agent="assistant"' });
  await choose(page, file('a.png', png));
  await expect.poll(() => attached(page).count()).toBe(1);
  await say('Look.');
  await page.locator('.failure').waitFor();
  expect(await page.locator('textarea').inputValue()).toBe('Look.');
  expect(await attached(page).count()).toBe(1);
  await leave(/422/);
});

test('images that come back, and those added meanwhile, stay within the limit', async () => {
  const { page, say, leave } = await setup.visit({ attributes: 'images agent="assistant"' });
  const { sent, release } = await holdMessages(page);
  const numbered = (first: number) =>
    Array.from({ length: 5 }, (_, index) => file(`${index}.png`, otherPng(String(first + index))));
  await choose(page, ...numbered(0));
  await expect.poll(() => attached(page).count()).toBe(5);
  await say('Look.');
  await sent;
  await choose(page, ...numbered(5));
  await expect.poll(() => attached(page).count()).toBe(5);
  release();
  await page.getByText('A message has at most 8 images').waitFor();
  expect(await attached(page).count()).toBe(8);
  await leave(/422/);
});

test('an image that is dropped anywhere on the chat is attached, and kept with the draft of its conversation', async () => {
  const { page, leave } = await setup.visit({ attributes: 'images agent="viewer" conversation="first"' });
  await page.locator('.log').evaluate((log, base64) => {
    const transfer = new DataTransfer();
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    transfer.items.add(new File([bytes], 'dropped.png', { type: 'image/png' }));
    const drop = new DragEvent('drop', { dataTransfer: transfer, bubbles: true, cancelable: true });
    log.dispatchEvent(drop);
    if (!drop.defaultPrevented) throw new Error('the browser opens the file');
  }, png);
  await expect.poll(() => attached(page).count()).toBe(1);
  const showConversation = (id: string) =>
    page
      .locator('interlude-chat')
      .evaluate((element, value) => element.setAttribute('conversation', value), id);
  await showConversation('second');
  await expect.poll(() => attached(page).count()).toBe(0);
  await showConversation('first');
  await expect.poll(() => attached(page).count()).toBe(1);
  await send(page);
  await page.getByText('You showed: image/png').waitFor();
  await showConversation('second');
  await showConversation('first');
  await page.getByText('You showed: image/png').waitFor();
  expect(await attached(page).count()).toBe(0);
  // The service does not know these conversations at first.
  await leave(/404/);
});

test('another user sees nothing that the one before was sending, or whose file was being read', async () => {
  const { page, say, leave } = await setup.visit({
    attributes: 'images agent="viewer" conversation="shared"',
  });
  const chat = page.locator('interlude-chat');
  const signIn = (user: string) =>
    chat.evaluate((element: InterludeChatElement, name) => {
      element.token = async () => (await fetch(`/token?user=${name}`)).text();
    }, user);
  const expectNothing = async () => {
    for (const id of ['other', 'shared']) {
      await chat.evaluate((element, value) => element.setAttribute('conversation', value), id);
      await page.getByText('What can I do for you?').waitFor();
      expect(await page.locator('textarea').inputValue()).toBe('');
      expect(await attached(page).count()).toBe(0);
    }
    expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain('my secret');
  };
  const sent = Promise.withResolvers<void>();
  // Never arrives.
  await page.route('**/run/api/chat', () => sent.resolve());
  await choose(page, file('a.png', png));
  await expect.poll(() => attached(page).count()).toBe(1);
  await say('my secret');
  await sent.promise;
  await signIn('bob');
  await page.locator('.bubble').waitFor({ state: 'detached' });
  await expectNothing();

  await page.evaluate(() => {
    const { readAsDataURL } = FileReader.prototype;
    const { promise, resolve } = Promise.withResolvers<void>();
    FileReader.prototype.readAsDataURL = function (read) {
      this.addEventListener('loadend', () => resolve());
      Object.assign(globalThis, { finishReading: () => (readAsDataURL.call(this, read), promise) });
    };
  });
  await choose(page, file('a.png', png));
  await page.waitForFunction(() => 'finishReading' in globalThis);
  await signIn('alice');
  await page.evaluate(() => (globalThis as unknown as { finishReading(): Promise<void> }).finishReading());
  await expectNothing();
  await leave(/404/);
});

/** The colour of its first pixel. */
function cornerOf(image: Locator): Promise<number[]> {
  return image.evaluate(async (element: HTMLImageElement) => {
    await element.decode();
    const context = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d');
    context?.drawImage(element, 0, 0, 1, 1, 0, 0, 1, 1);
    return Array.from(context?.getImageData(0, 0, 1, 1).data ?? []);
  });
}

/** A PNG of random colours, which cannot be compressed: 5.8 MB for 1,200 pixels a side. Its upper half is transparent. */
function noise(side: number): Buffer {
  const line = 1 + side * 4;
  const pixels = randomBytes(side * line);
  for (let row = 0; row < side; row++) pixels[row * line] = 0;
  for (let row = 0; row < side / 2; row++)
    for (let alpha = 4; alpha < line; alpha += 4) pixels[row * line + alpha] = 0;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  // Eight bits of each of three colours, and of the transparency.
  header.set([8, 6], 8);
  const chunk = (type: string, data: Buffer) => {
    const named = Buffer.concat([Buffer.from(type), data]);
    const ends = Buffer.alloc(8);
    ends.writeUInt32BE(data.length, 0);
    ends.writeUInt32BE(crc32(named), 4);
    return Buffer.concat([ends.subarray(0, 4), named, ends.subarray(4)]);
  };
  const body = [
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(pixels, { level: 0 })),
    chunk('IEND', Buffer.alloc(0)),
  ];
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), ...body]);
}
