import { describe, expect, test } from 'vitest';
import { readImage, takeImages } from '../../src/service/take-images.ts';
import { ServiceError } from '../../src/service/service-error.ts';
import type { GivenMessage } from '../../src/service/take-images.ts';
import type { TurnRequest } from '../../src/service/start-turn.ts';
import { gif, jpeg, otherPng, pdf, png, svg, webp } from '../images.ts';

const limits = { perMessage: 2, maxBytes: 300, maxBytesPerMessage: 500, maxBytesPerConversation: 500 };
const image = (base64: string, at = '0') => ({ type: 'image' as const, base64, at: ['parts', at] });
const said = (...content: GivenMessage['content']): GivenMessage => ({ role: 'user', content });

function take(messages: GivenMessage[], { conversation = 'c1', isTaken = true }: Partial<Given> = {}) {
  return takeImages({ conversation, messages } as TurnRequest, { limits, isTaken });
}

interface Given {
  conversation: string | undefined;
  isTaken: boolean;
}

describe('an image', () => {
  test.each([
    [png, 'image/png'],
    [jpeg, 'image/jpeg'],
    [gif, 'image/gif'],
    [webp, 'image/webp'],
  ])('is known by its bytes', (base64, mediaType) => {
    const bytes = Buffer.from(base64, 'base64').length;
    expect(readImage(base64, { maxBytes: bytes })).toEqual({
      kind: 'image',
      image: { digest: expect.stringMatching(/^[\w-]{43}$/) as string, mediaType, bytes, data: base64 },
    });
    expect(readImage(base64, { maxBytes: bytes - 1 })).toMatchObject({ kind: 'refused' });
  });

  test.each([
    ['nothing', '', /not base64/],
    ['what is no base64', '§§§§', /not base64/],
    ['base64 that was cut off', png.slice(0, -3), /a part of it is missing/],
    ['base64 with something behind it', `${png}AAAA`, /not base64/],
    ['base64 for URLs', Buffer.from([0xff, 0xd8, 0xff, 0xfb, 0xff]).toString('base64url'), /not base64/],
    ['base64 in lines', `${png.slice(0, 8)}\n${png.slice(8)}`, /not base64/],
    ['SVG', svg, /send PNG, JPEG, GIF or WebP/],
    ['PDF', pdf, /send PNG, JPEG, GIF or WebP/],
    ['sound in the container of WebP', Buffer.from('RIFF____WAVEfmt ').toString('base64'), /send PNG/],
    ['the first bytes of a PNG only', png.slice(0, 8), /send PNG/],
    ['more bytes than are allowed', otherPng('', 300), /at most 300 bytes/],
  ])('is none: %s', (_what, base64, reason) => {
    expect(readImage(base64, limits)).toEqual({ kind: 'refused', reason: expect.stringMatching(reason) });
  });
});

describe('the images of a request', () => {
  test('are named in their messages, in their places, and kept once', () => {
    const { messages, images } = take([said(image(png), { type: 'text', text: 'and' }, image(png))]);
    const [{ digest, ...kept }] = images as [(typeof images)[number]];
    expect(kept).toEqual({ mediaType: 'image/png', bytes: 70, data: png });
    expect(images).toHaveLength(1);
    const named = { type: 'stored-image', digest, mediaType: 'image/png', bytes: 70 };
    expect(messages[0]?.content).toEqual([named, { type: 'text', text: 'and' }, named]);
  });

  test('count in the last message only, where the conversation is known, and in all of a new one', () => {
    const messages = [said(image(gif)), said(image(png))];
    expect(take(messages).images).toMatchObject([{ mediaType: 'image/png' }]);
    expect(
      takeImages({ conversation: undefined, messages } as TurnRequest, { limits, isTaken: true }).images,
    ).toHaveLength(2);
  });

  test.each([
    ['too many', said(image(png), image(gif), image(webp, '2')), 'a message has at most 2 images'],
    ['too large', said({ type: 'text', text: 'a' }, image(otherPng('a', 300), '2')), /at most 300 bytes/],
    ['too large together', said(image(otherPng('a', 200)), image(otherPng('b', 220), '2')), /500 bytes/],
  ])('are refused where they stand: %s', (_what, message, detail) => {
    expect(refusal(() => take([message]))).toMatchObject({
      code: 'invalid_request',
      details: { issues: [{ path: ['parts', '2'], detail: expect.stringMatching(detail) as string }] },
    });
  });

  test('are refused by an agent that takes none, which says so', () => {
    expect(refusal(() => take([said(image('what ever', '2'))], { isTaken: false }))).toMatchObject({
      code: 'images_not_taken',
      message: expect.stringMatching(/^This agent takes no images\./) as string,
      details: { issues: [{ path: ['parts', '2'] }] },
    });
  });
});

function refusal(work: () => unknown): ServiceError {
  try {
    work();
  } catch (error) {
    if (error instanceof ServiceError) return error;
  }
  throw new Error('nothing was refused');
}
