/** From a call to its turn: the message is sent, and the first view of what became of it is there. */
import { createClient } from '../client/client.ts';
import type { Client, ClientOptions } from '../client/client.ts';
import { defaultTiming } from '../client/retry.ts';
import type { TurnView } from '../client/turn-view.ts';
import type { Warning } from './agent-part.ts';
import { callOptionsOf } from './call.ts';
import type { Call } from './call.ts';
import { createCallError, fromRefusal } from './call-error.ts';
import type { CallError } from './call-error.ts';
import type { Naming } from './call-names.ts';
import { openContact } from './contact.ts';
import { fromPrompt } from './prompt.ts';
import { openTurnReader } from './turn-reader.ts';
import type { TurnReader } from './turn-reader.ts';
import { warningsFor } from './warnings.ts';

export interface TurnOptions extends Omit<ClientOptions, 'baseUrl'> {
  baseURL: string;
  onAbort: 'leave' | 'cancel';
  naming: Naming;
}

export interface OpenTurn {
  agentId: string;
  first: TurnView;
  /** For the views after the first. */
  reader: TurnReader;
  client: Client;
  /** Of the service's answer. */
  headers: Record<string, string>;
  warnings: Warning[];
  callError: CallError;
  /** The SDK has given the call up in order to make it again. */
  comesAgain(): void;
}

export async function openTurn(
  agentId: string,
  { baseURL, onAbort, naming, ...options }: TurnOptions,
  call: Call,
): Promise<OpenTurn> {
  const { abortSignal } = call;
  abortSignal?.throwIfAborted();
  const given = callOptionsOf(call);
  const { conversationId, onBusy } = given;
  const { text, earlier, images } = fromPrompt(call, conversationId !== undefined);
  const words = JSON.stringify([agentId, given, earlier, text, ...(images ?? [])]);
  const { messageId, ...key } = await naming.nameCall(words, given);

  const callError = createCallError(baseURL);
  const giveUpMs = options.timing?.giveUpMs ?? defaultTiming.giveUpMs;
  const contact = openContact({ fetch: options.fetch, headers: call.headers, giveUpMs, callError });
  const client = createClient({ ...options, baseUrl: baseURL, fetch: contact.fetch });
  const message = {
    message: { id: messageId, text, ...(images && { images }) },
    agentId,
    ...key,
    ...(onBusy && { onBusy }),
  };
  const reader = openTurnReader({
    start: (signal) =>
      client.start(
        conversationId === undefined ? { ...message, messages: earlier } : { ...message, conversationId },
        { signal: AbortSignal.any([signal, contact.lost]), operations: true },
      ),
    // Not before it is there: in a conversation that is given, another turn may be live until then.
    cancel: async () => client.cancel(conversationOf(await contact.headers)),
    abortSignal,
    onAbort,
  });

  try {
    const first = await reader.next();
    if (!first) throw callError({ message: 'The turn could not be followed.' });
    return {
      agentId,
      first,
      reader,
      client,
      headers: await contact.headers,
      warnings: warningsFor(call, conversationId !== undefined),
      callError,
      comesAgain: () => naming.comesAgain(words, { messageId, ...key }),
    };
  } catch (error) {
    // Who wants the turn stopped waits on for it to begin.
    if (onAbort === 'leave' || !abortSignal?.aborted) contact.close();
    throw fromRefusal(callError, error);
  }
}

function conversationOf({ 'x-conversation-id': id }: Record<string, string>): string {
  if (id === undefined) throw new Error('The service has not named the conversation.');
  return id;
}
