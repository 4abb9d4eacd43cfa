/** What workers do with unreadable payloads, and where they still refuse them. */
import { defaultPayloadConverter } from '@temporalio/common';
import type { Payload } from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import { generateKey, parseKeys } from '../../../src/credentials/sealing/key-ring.ts';
import { sealingCodec, unreadableAsNull } from '../../../src/platform/temporal/sealed-payloads.ts';

const sealing = sealingCodec(parseKeys(generateKey('k1')));
const codec = unreadableAsNull(sealing);
const workflow = { type: 'workflow', namespace: 'default', workflowId: 'turn' } as const;
const activity = { type: 'activity', namespace: 'default', isLocal: false } as const;

const plain = (value: unknown) => defaultPayloadConverter.toPayload(value);
const read = (payloads: Payload[]) => payloads.map((payload) => defaultPayloadConverter.fromPayload(payload));
const raw = (encoding: string, data: string): Payload => ({
  metadata: { encoding: Buffer.from(encoding) },
  data: Buffer.from(data),
});

async function damaged(): Promise<Payload> {
  const [sealed] = await sealing.encode([plain({ answer: 1 })]);
  const text = Buffer.from(sealed?.data ?? '').toString();
  const at = text.length - 10;
  const changed = text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1);
  return { ...sealed, data: Buffer.from(changed) };
}

describe('for a workflow', () => {
  test('what can be read is read, sealed or not, whatever comes beside it', async () => {
    const [sealed] = await codec.encode([plain({ answer: 1 })]);
    const payloads = [plain('said'), raw('json/plain', '{'), sealed ?? {}, plain(undefined), await damaged()];
    const decoded = read(await codec.decode(payloads, workflow));
    expect(decoded).toEqual(['said', null, { answer: 1 }, undefined, null]);
  });

  test('what is sealed with a key that is missing is refused: the key may come back', async () => {
    const others = await sealingCodec(parseKeys(generateKey('gone'))).encode([plain({ answer: 1 })]);
    await expect(codec.decode(others, workflow)).rejects.toMatchObject({ code: 'unknown-key' });
  });
});

test.each([activity, undefined])('what belongs to no workflow is read as it is: %j', async (context) => {
  const broken = raw('json/plain', '{');
  expect(await codec.decode([broken], context)).toEqual([broken]);
  const changed = await damaged();
  await expect(async () => codec.decode([changed], context)).rejects.toMatchObject({ code: 'damaged' });
});
