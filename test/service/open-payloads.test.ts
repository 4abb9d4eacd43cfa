/** Which sealed payloads an operator reads: those of turns of their tenant, each of which is then in the audit. */
import { defaultPayloadConverter } from '@temporalio/common';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { generateKey, parseKeys } from '../../src/credentials/sealing/key-ring.ts';
import { createOpenPayloads } from '../../src/service/open-payloads.ts';
import type { JsonPayload } from '../../src/service/open-payloads.ts';
import { createOperators } from '../../src/service/operators.ts';
import { openStorage } from '../../src/storage/open-storage.ts';
import { sealingCodec } from '../../src/platform/temporal/sealed-payloads.ts';
import { turnWorkflowId } from '../../src/turn/turn.ts';
import { begunTurn } from '../storage/contract/fixtures.ts';

async function setUp() {
  const storage = await openStorage({ kind: 'sqlite', path: ':memory:' });
  onTestFinished(() => storage.close());
  const keys = parseKeys(generateKey('k1'));
  const config = { temporal: { namespace: 'default' } } as Parameters<typeof createOperators>[0]['config'];
  const operators = createOperators({ storage, config, keys, logger: pino({ level: 'silent' }) });
  async function seal(workflowId: string | undefined): Promise<JsonPayload> {
    const payload = defaultPayloadConverter.toPayload('secret');
    const context =
      workflowId === undefined
        ? undefined
        : ({ type: 'workflow', namespace: 'default', workflowId } as const);
    const [sealed] = await sealingCodec(keys).encode([payload], context);
    return {
      metadata: { encoding: Buffer.from(sealed?.metadata?.['encoding'] ?? []).toString('base64') },
      data: Buffer.from(sealed?.data ?? []).toString('base64'),
    };
  }
  return { storage, open: createOpenPayloads({ keys, operators }), seal };
}

const operator = { tenant: 'acme', actor: 'olga', address: null, seesContents: true };
const secret = { data: Buffer.from('"secret"').toString('base64') };

test('a payload of a turn of the tenant is opened, once in the audit for each turn', async () => {
  const { storage, open, seal } = await setUp();
  const turn = await begunTurn(storage, { tenant: 'acme' });
  const sealed = await seal(`${turnWorkflowId(turn)}/tool/call`);
  expect(await open(operator, [sealed, sealed])).toMatchObject([secret, secret]);
  expect(await storage.audit.ofTurn(turn.turnId)).toMatchObject([
    { action: 'viewed', actor: 'olga', tenant: 'acme' },
  ]);
});

test('one of another tenant, of no known turn, or of a sealed value that names none stays sealed', async () => {
  const { storage, open, seal } = await setUp();
  const theirs = await begunTurn(storage, { tenant: 'other' });
  const sealed = [
    await seal(`${turnWorkflowId(theirs)}/tool/call`),
    await seal('turn/acme/c/unknown'),
    await seal('something/else'),
    await seal(undefined),
  ];
  expect(await open(operator, sealed)).toEqual(sealed);
  expect(await storage.audit.ofTurn(theirs.turnId)).toEqual([]);
});

test('an operator who may not see contents is refused', async () => {
  const { open, seal } = await setUp();
  await expect(open({ ...operator, seesContents: false }, [await seal(undefined)])).rejects.toMatchObject({
    code: 'forbidden',
  });
});
