/** The AI SDK's own client, an implementation that shares no code with the official one. */
import { createMCPClient, ElicitationRequestSchema } from '@ai-sdk/mcp';
import { toAsked, toTold } from './other-client.ts';
import type { ClientSetting, OtherClient } from './other-client.ts';

export async function startAISDK({ url, token, shows, answer }: ClientSetting): Promise<OtherClient> {
  const canAsk = Object.keys(shows).length > 0;
  const elicitation = Object.fromEntries(Object.keys(shows).map((mode) => [mode, {}]));
  const client = await createMCPClient({
    transport: { type: 'http', url, headers: { authorization: `Bearer ${token}` } },
    capabilities: canAsk ? { elicitation } : {},
  });
  if (canAsk)
    client.onElicitationRequest(ElicitationRequestSchema, ({ params }) => answer(toAsked({ ...params })));
  return {
    call: async (name, given) => toTold(await client.callTool({ name, arguments: given })),
    [Symbol.asyncDispose]: () => client.close(),
  };
}
