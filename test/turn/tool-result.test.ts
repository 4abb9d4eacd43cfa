import { describe, expect, test } from 'vitest';
import { gif, jpeg, pdf, png, webp } from '../images.ts';
import { keptLimit, modelLimits, toEvent, toMessageContent } from '../../src/turn/tool-result.ts';
import type { McpResult } from '../../src/turn/tool-content.ts';

const call = { toolCallId: 'c1', toolName: 'tracker__list_issues' };
const base64 = (text: string) => Buffer.from(text).toString('base64');

const toModel = (output: McpResult) => {
  const [part] = toMessageContent(call, { kind: 'output', output }) as [{ output: unknown }];
  return part.output;
};
const toClient = (output: McpResult) => toEvent(call, { kind: 'output', output });
/** What a model reads of one block. */
const read = (block: { type: string; [key: string]: unknown }) =>
  (toModel({ content: [block] }) as { value: unknown }).value;

test('every content block of an MCP result reaches the client unchanged and the model in a form it can read', () => {
  const output = {
    content: [
      { type: 'text', text: 'two issues', annotations: { audience: ['user'] } },
      { type: 'image', data: png, mimeType: 'image/png' },
      { type: 'audio', data: 'c25k', mimeType: 'audio/wav' },
      { type: 'resource', resource: { uri: 'file:///a', text: 'inside', mimeType: 'text/plain' } },
      { type: 'resource', resource: { uri: 'file:///b', blob: pdf, mimeType: 'application/pdf' } },
      { type: 'resource_link', uri: 'https://example.com/1', name: 'one' },
    ],
    structuredContent: { issues: [1, 2] },
    _meta: { 'server/trace': 'abc' },
  };
  expect(toClient(output)).toEqual({
    type: 'tool-output-available',
    toolCallId: 'c1',
    toolName: call.toolName,
    output,
  });
  expect(toMessageContent(call, { kind: 'output', output })).toEqual([
    {
      type: 'tool-result',
      toolCallId: 'c1',
      toolName: 'tracker__list_issues',
      output: {
        type: 'content',
        value: [
          { type: 'text', text: 'two issues' },
          { type: 'file', mediaType: 'image/png', data: { type: 'data', data: png } },
          {
            type: 'text',
            text: "[audio/wav, 3 bytes: a kind of file that models cannot read; the user's client has it]",
          },
          { type: 'text', text: 'file:///a:\ninside' },
          { type: 'file', mediaType: 'application/pdf', data: { type: 'data', data: pdf } },
          { type: 'text', text: 'Link to "one": https://example.com/1.' },
        ],
      },
    },
  ]);
});

describe('a model reads', () => {
  test('a result that is all text as one text, as every provider takes it', () => {
    const content = [
      { type: 'text', text: 'one' },
      { type: 'text', text: '' },
      { type: 'text', text: 'two' },
    ];
    expect(toModel({ content })).toEqual({ type: 'text', value: 'one\ntwo' });
  });

  test('structured content where no text tells of it', () => {
    const structuredContent = { open: 2 };
    expect(toModel({ structuredContent })).toEqual({ type: 'text', value: '{"open":2}' });
    expect(toModel({ content: [], structuredContent })).toEqual({ type: 'text', value: '{"open":2}' });
    const picture = { type: 'image', data: png, mimeType: 'image/png' };
    expect(toModel({ content: [picture], structuredContent })).toMatchObject({
      type: 'content',
      value: [{ type: 'file' }, { type: 'text', text: '{"open":2}' }],
    });
    expect(toModel({ content: [{ type: 'text', text: 'two' }], structuredContent })).toEqual({
      type: 'text',
      value: 'two',
    });
  });

  test('nothing, where there is nothing', () => {
    expect(toModel({ content: [] })).toEqual({ type: 'json', value: null });
  });

  test('everything that a link says of itself', () => {
    const link = {
      type: 'resource_link',
      uri: 'file:///report.pdf',
      name: 'report.pdf',
      title: 'The report',
      description: 'Of last year.',
      mimeType: 'application/pdf',
      size: 1_234_567,
    };
    expect(read(link)).toBe(
      'Link to "The report": file:///report.pdf (application/pdf, 1.2 MB). Of last year.',
    );
  });

  test.each([
    ['text/csv', 'a,b'],
    ['application/json', '{"a":1}'],
    ['application/ld+json; charset=utf-8', '{"ä":1}'],
    ['image/svg+xml', '<svg/>'],
  ])('a file of type %s as the text it is', (mimeType, text) => {
    const resource = { uri: 'file:///x', mimeType, blob: base64(text) };
    expect(read({ type: 'resource', resource })).toBe(`file:///x:\n${text}`);
  });

  test.each(['application/zip', 'image/tiff', 'video/mp4', undefined])(
    'of a file of type %s only that it is there',
    (mimeType) => {
      const resource = { uri: 'file:///x', mimeType, blob: base64('x'.repeat(12_000)) };
      const type = mimeType ?? 'application/octet-stream';
      expect(read({ type: 'resource', resource })).toBe(
        `[${type}, 12 kB from file:///x: a kind of file that models cannot read; the user's client has it]`,
      );
    },
  );

  const html = base64('<!DOCTYPE html><html><body>Sign in</body></html>');
  test.each([
    ['an HTML page labelled image/png', 'image/png', html, 'its content is an HTML page'],
    ['a text labelled image/jpeg', 'image/jpeg', base64('404 not found'), 'its content is text'],
    [
      'bytes labelled image/webp',
      'image/webp',
      base64('\u0000\u0001\u0002'),
      'its content is of another type',
    ],
    ['what is no base64', 'image/png', 'https://example.com/a.png', 'its content is not base64'],
    ['nothing at all', 'image/gif', '', 'its content is empty'],
    ['an empty data URL', 'image/png', 'data:image/png;base64,', 'its content is empty'],
    ['a page labelled application/pdf', 'application/pdf', html, 'its content is an HTML page'],
  ])('a line in place of %s', (_, mimeType, data, why) => {
    const words = read({ type: 'image', data, mimeType });
    expect(words).toMatch(new RegExp(`^\\[${mimeType}, [^:]+: ${why}; the user's client has it\\]$`));
    expect(toClient({ content: [{ type: 'image', data, mimeType }] })).toMatchObject({
      output: { content: [{ data }] },
    });
  });

  const jpegData = Buffer.from(jpeg, 'base64');
  test.each([
    ['a JPEG labelled image/png', 'image/png', jpeg, 'image/jpeg', jpeg],
    ['a GIF labelled image/jpg', 'image/jpg', gif, 'image/gif', gif],
    ['an image without a type', undefined, webp, 'image/webp', webp],
    ['base64 in lines', 'image/png', png.replaceAll(/.{20}/g, '$&\r\n'), 'image/png', png],
    ['base64 without padding', 'image/png', png.replaceAll('=', ''), 'image/png', png],
    ['base64 of URLs', 'image/jpeg', jpegData.toString('base64url'), 'image/jpeg', jpeg],
    ['a data URL', 'image/png', `data:image/png;base64,${png}`, 'image/png', png],
    ['a PDF labelled application/octet-stream', 'application/octet-stream', pdf, 'application/pdf', pdf],
  ])('%s with its real type', (_, mimeType, data, mediaType, sent) => {
    expect(read({ type: 'image', data, mimeType })).toEqual([
      { type: 'file', mediaType, data: { type: 'data', data: sent } },
    ]);
  });

  test.each([
    { type: 'hologram', beams: 3 },
    { type: 'image', data: 7 },
    { type: 'resource', resource: { uri: 'file:///x' } },
    { type: 'resource' },
    { type: 'resource_link', name: 'nowhere' },
  ])('what nobody knows how to read as JSON: %j', (block) => {
    expect(read(block)).toBe(JSON.stringify(block));
  });

  test('no more text than fits, and where it ends', () => {
    const content = [
      { type: 'text', text: 'x'.repeat(modelLimits.characters - 1) },
      { type: 'text', text: '🙂 and more' },
      { type: 'text', text: 'and more' },
    ];
    const { value } = toModel({ content }) as { value: string };
    expect(value).toBe(
      `${'x'.repeat(modelLimits.characters - 1)}\n\n[cut here: too long to be read in whole]`,
    );
  });

  test('no picture that providers refuse for its size, and not too many', () => {
    const picture = (data: string) => ({ type: 'image', data, mimeType: 'image/png' });
    const large = 'A'.repeat(modelLimits.fileCharacters + 4);
    expect(read(picture(large))).toBe(
      "[image/png, 3.9 MB: too large for a model to read; the user's client has it]",
    );
    const many = Array.from({ length: modelLimits.files + 5 }, () => picture(png));
    const { value } = toModel({ content: many }) as { value: { type: string }[] };
    expect(value.map(({ type }) => type)).toEqual([...many.slice(5).map(() => 'file'), 'text']);
  });
});

describe('clients are sent', () => {
  test('nothing beyond a bound, and told what is missing', () => {
    const picture = { type: 'image', data: 'A'.repeat(keptLimit), mimeType: 'image/png' };
    const small = { type: 'text', text: 'a picture of the sea' };
    const output = { content: [small, picture, small], structuredContent: { ok: true }, _meta: { a: 1 } };
    expect(toClient(output)).toMatchObject({
      output: {
        content: [
          small,
          {
            type: 'text',
            text: '[image/png, 3.1 MB: too large to be kept]',
            _meta: { 'interlude/leftOut': true },
          },
          small,
        ],
        structuredContent: { ok: true },
      },
    });
    const data = { list: 'x'.repeat(keptLimit) };
    expect(toClient({ content: [small], structuredContent: data })).toMatchObject({
      output: { content: [small, { text: '[structured content: too large to be kept]' }] },
    });
  });

  test('a bounded number of remarks about what is missing', () => {
    const block = { type: 'text', text: 'x'.repeat(keptLimit / 4) };
    const { output } = toClient({ content: Array.from({ length: 200 }, () => block) }) as {
      output: McpResult;
    };
    expect(output.content?.length).toBeLessThan(30);
    expect(output.content?.at(-1)).toMatchObject({ text: '[more content: too large to be kept]' });
    expect(JSON.stringify(output).length).toBeLessThan(keptLimit + 10_000);
  });
});

test('an error result is an error for the client and for the model, with everything it says', () => {
  const output = {
    isError: true,
    content: [
      { type: 'text', text: 'no such issue' },
      { type: 'resource', resource: { uri: 'file:///log', text: 'line 7' } },
    ],
  };
  const errorText = 'no such issue\nfile:///log:\nline 7';
  const result = { kind: 'output' as const, output };
  expect(toEvent(call, result)).toEqual({
    type: 'tool-output-error',
    toolCallId: 'c1',
    toolName: call.toolName,
    errorText,
    outcome: 'tool_error',
  });
  expect(toMessageContent(call, result)).toMatchObject([
    { output: { type: 'error-text', value: errorText } },
  ]);
  expect(toClient({ isError: true, structuredContent: { code: 7 } })).toMatchObject({
    errorText: '{"code":7}',
  });
  expect(toClient({ isError: true, content: [] })).toMatchObject({
    errorText: 'The tool reported an error without a description.',
  });
});
