/** What Temporal's UI shows of a tool in TypeScript: sealed, and decoded for operators of the turn's tenant who may see contents. */
import { randomUUID } from 'node:crypto';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { expect, test } from 'vitest';
import { createApiKey } from '../../src/service/api-keys.ts';
import { turnWorkflowId } from '../../src/workflows/messages.ts';
import { useService } from '../service/use-service.ts';
import { bundleTools } from './bundle-tools.ts';

const used = useService({
  tools: { assistant: await bundleTools() },
  env: {
    AUTH_OPERATOR_CLAIM: 'sub',
    AUTH_OPERATOR_ROLE: 'bob',
    AUTH_CONTENTS_ROLE: 'bob',
    TEMPORAL_UI_URL: 'https://temporal.example',
  },
});

interface JsonPayload {
  metadata: { encoding: string };
  data: string;
}

const sealedEncoding = Buffer.from('binary/interlude-sealed').toString('base64');

/** The sealed payloads of a workflow's history, as the UI sends them. */
async function payloadsOf(workflowId: string): Promise<JsonPayload[]> {
  const history = await used.temporal.client.workflow.getHandle(workflowId).fetchHistory();
  const found: JsonPayload[] = [];
  JSON.parse(historyToJSON(history), (_, value: JsonPayload | null) => {
    if (value?.metadata?.encoding === sealedEncoding) found.push(value);
    return value;
  });
  return found;
}

async function decode(bearer: string, payloads: object[]) {
  const response = await fetch(`${used.service.baseUrl}/operators/codec/decode`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${bearer}`,
      'content-type': 'application/json',
      'x-namespace': 'default',
    },
    body: JSON.stringify({ payloads }),
  });
  return {
    status: response.status,
    body: (await response.json()) as { payloads?: { data?: string }[]; code?: string },
  };
}

const readable = (payloads: { data?: string }[] = []) =>
  payloads.map(({ data = '' }) => Buffer.from(data, 'base64').toString()).join('\n');

test('an operator’s UI reads the payloads of a turn, which is in the audit; no one else’s does', async () => {
  const conversation = randomUUID();
  const stream = await used.alice.chat('call secretive {"argument":"canary-argument"}', { conversation });
  const { elicitationId } = await stream.question('pending');
  const row = await used.service.storage.elicitations.get(elicitationId);
  const { toolCallId } = row!.request.context;
  await used.alice.answer({
    conversationId: conversation,
    elicitationId,
    action: 'accept',
    content: { word: 'canary-answer' },
  });
  await stream.finished();
  const sealed = await payloadsOf(`${turnWorkflowId(row!)}/tool/${toolCallId}`);
  expect(sealed.length).toBeGreaterThan(2);
  expect(readable(sealed)).not.toContain('canary');

  const { status, body } = await decode(await used.service.token('bob'), sealed);
  expect(status).toBe(200);
  expect(body.payloads).toHaveLength(sealed.length);
  expect(readable(body.payloads)).toMatch(/canary-argument[^]*canary-answer/);
  // A timer's summary is among them.
  expect(readable(body.payloads)).toContain('waits for alice: ');
  const { turnId } = stream;
  expect(await used.service.storage.audit.ofTurn(turnId)).toContainEqual(
    expect.objectContaining({ action: 'viewed', actor: 'bob', turnId }),
  );

  expect(await decode(await used.service.token('alice'), sealed)).toMatchObject({
    status: 403,
    body: { code: 'forbidden' },
  });
  const key = await createApiKey(used.service.storage, 'demo');
  expect(await decode(key, sealed)).toMatchObject({ status: 403 });
  expect(await decode('nothing', sealed)).toMatchObject({ status: 401 });

  // What is not sealed, or not with these keys, comes back as it is.
  const others = [
    { metadata: { encoding: 'anNvbi9wbGFpbg==' }, data: 'MQ==' },
    { ...sealed[0], data: 'bm8=' },
  ];
  expect(await decode(await used.service.token('bob'), others)).toMatchObject({
    status: 200,
    body: { payloads: others },
  });
});
