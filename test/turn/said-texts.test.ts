import { expect, test } from 'vitest';
import { toPageContextPart, saidTexts } from '../../src/turn/message-parts.ts';

const image = { type: 'stored-image', digest: 'd', mediaType: 'image/png', bytes: 2_000 };

test.each([
  ['a text', 'hello', ['hello']],
  ['texts and images', [{ type: 'text', text: 'this?' }, image], ['this?', '[an image: image/png, 2 kB]']],
  ['page context', [{ type: 'text', text: 'this?' }, toPageContextPart('Order 1043')], ['this?']],
  ['parts without text', [{ type: 'reasoning' }, { type: 'text', text: 1 }, null, 'word'], []],
  ['no content', null, []],
])('what is read of a message with %s', (_, content, read) => {
  expect(saidTexts(content)).toEqual(read);
});
