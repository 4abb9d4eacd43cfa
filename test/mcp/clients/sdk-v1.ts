/** The official SDK for TypeScript up to 2025-11-25. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  ElicitationCompleteNotificationSchema,
  ElicitRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { toAsked, toTold } from './other-client.ts';
import type { ClientSetting, OtherClient } from './other-client.ts';

export async function startSdkV1({
  url,
  token,
  shows,
  answer,
  onPageDone,
}: ClientSetting): Promise<OtherClient> {
  const canAsk = Object.keys(shows).length > 0;
  const elicitation = Object.fromEntries(Object.keys(shows).map((mode) => [mode, {}]));
  const client = new Client({ name: 'v1', version: '1' }, { capabilities: canAsk ? { elicitation } : {} });
  if (canAsk) client.setRequestHandler(ElicitRequestSchema, ({ params }) => answer(toAsked({ ...params })));
  client.setNotificationHandler(ElicitationCompleteNotificationSchema, ({ params }) =>
    onPageDone(params.elicitationId),
  );
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  // The SDK's own types do not agree under exactOptionalPropertyTypes.
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  return {
    call: async (name, given) => toTold(await client.callTool({ name, arguments: given })),
    [Symbol.asyncDispose]: () => client.close(),
  };
}
