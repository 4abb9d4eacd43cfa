/** The clients in TypeScript: the official SDK, first and second, and the AI SDK's own, which shares no code with them. */
import { createMCPClient, ElicitationRequestSchema } from '@ai-sdk/mcp';
import { Client, isInputRequiredResult, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/client';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  ElicitationCompleteNotificationSchema,
  ElicitRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { toAsked, toTold } from './other-client.ts';
import type { ClientSetting, OtherClient, Told } from './other-client.ts';

const capabilitiesOf = ({ shows }: ClientSetting) => {
  const modes = Object.keys(shows);
  return modes.length > 0 ? { elicitation: Object.fromEntries(modes.map((mode) => [mode, {}])) } : {};
};
const headersOf = ({ token }: ClientSetting) => ({ authorization: `Bearer ${token}` });
const canAsk = ({ shows }: ClientSetting) => Object.keys(shows).length > 0;

function opened(
  client: { callTool(call: { name: string; arguments: object }): Promise<unknown>; close(): Promise<void> },
  call: OtherClient['call'] = async (name, given) =>
    toTold(await client.callTool({ name, arguments: given })),
): OtherClient {
  return { call, [Symbol.asyncDispose]: () => client.close() };
}

export async function startAISDK(setting: ClientSetting): Promise<OtherClient> {
  const client = await createMCPClient({
    transport: { type: 'http', url: setting.url, headers: headersOf(setting) },
    capabilities: capabilitiesOf(setting),
  });
  if (canAsk(setting))
    client.onElicitationRequest(ElicitationRequestSchema, ({ params }) =>
      setting.answer(toAsked({ ...params })),
    );
  return opened(client as never);
}

/** Up to 2025-11-25. */
export async function startSdkV1(setting: ClientSetting): Promise<OtherClient> {
  const { url, answer, onPageDone } = setting;
  const client = new FirstClient({ name: 'v1', version: '1' }, { capabilities: capabilitiesOf(setting) });
  if (canAsk(setting))
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => answer(toAsked({ ...params })));
  client.setNotificationHandler(ElicitationCompleteNotificationSchema, ({ params }) =>
    onPageDone(params.elicitationId),
  );
  const transport = new FirstTransport(new URL(url), { requestInit: { headers: headersOf(setting) } });
  // The SDK's own types do not agree under exactOptionalPropertyTypes.
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  return opened(client as never);
}

/** `manual`: the program itself calls again with what its user answered. */
export type SdkV2Mode = 'legacy' | 'auto' | 'manual';

export async function startSdkV2(mode: SdkV2Mode, setting: ClientSetting): Promise<OtherClient> {
  const { url, answer, onPageDone } = setting;
  const client = new Client(
    { name: 'v2', version: '1' },
    {
      capabilities: capabilitiesOf(setting),
      versionNegotiation: { mode: mode === 'legacy' ? 'legacy' : 'auto' },
    },
  );
  if (canAsk(setting) && mode !== 'manual')
    client.setRequestHandler('elicitation/create', ({ params }) => answer(toAsked({ ...params })));
  if (mode === 'legacy')
    client.setNotificationHandler('notifications/elicitation/complete', ({ params }) =>
      onPageDone(params.elicitationId),
    );
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: headersOf(setting) } }),
  );
  if (mode !== 'manual') return opened(client as never);
  return opened(client as never, (name, given) => callByHand(client, { name, arguments: given }, answer));
}

async function callByHand(
  client: Client,
  call: { name: string; arguments: Record<string, unknown> },
  answer: ClientSetting['answer'],
): Promise<Told> {
  let more = {};
  for (;;) {
    const result = (await client.request(
      { method: 'tools/call', params: { ...call, ...more } },
      { allowInputRequired: true },
    )) as CallToolResult | InputRequiredResult;
    if (!isInputRequiredResult(result)) return toTold(result);
    const { requestState, inputRequests = {} } = result;
    const answered = Object.entries(inputRequests).map(async ([key, { params }]) => [
      key,
      await answer(toAsked({ ...params })),
    ]);
    more = { requestState, inputResponses: Object.fromEntries(await Promise.all(answered)) };
  }
}
