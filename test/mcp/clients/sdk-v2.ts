/** The official SDK for TypeScript, in the three ways in which a program can use it. */
import { Client, isInputRequiredResult, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/client';
import { toAsked, toTold } from './other-client.ts';
import type { ClientSetting, OtherClient, Told } from './other-client.ts';

/** `manual`: the program itself calls again with what its user answered. */
export type SdkV2Mode = 'legacy' | 'auto' | 'manual';

export async function startSdkV2(
  mode: SdkV2Mode,
  { url, token, shows, answer, onPageDone }: ClientSetting,
): Promise<OtherClient> {
  const canAsk = Object.keys(shows).length > 0;
  const elicitation = Object.fromEntries(Object.keys(shows).map((one) => [one, {}]));
  const client = new Client(
    { name: 'v2', version: '1' },
    {
      capabilities: canAsk ? { elicitation } : {},
      versionNegotiation: { mode: mode === 'legacy' ? 'legacy' : 'auto' },
    },
  );
  if (canAsk && mode !== 'manual')
    client.setRequestHandler('elicitation/create', ({ params }) => answer(toAsked({ ...params })));
  if (mode === 'legacy')
    client.setNotificationHandler('notifications/elicitation/complete', ({ params }) =>
      onPageDone(params.elicitationId),
    );
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  await client.connect(transport);
  return {
    call: async (name, given) =>
      mode === 'manual'
        ? callByHand(client, { name, arguments: given }, answer)
        : toTold(await client.callTool({ name, arguments: given })),
    [Symbol.asyncDispose]: () => client.close(),
  };
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
