/** A message to an agent, as every surface hands it on. */
import type { Capabilities } from '../elicitation/capabilities.ts';
import type { Replacing } from '../storage/ports/turns.ts';
import type { DirectCallPart } from '../turn/direct-call.ts';
import type { PageContextPart } from '../turn/page-context.ts';

export interface TurnRequest {
  /** Undefined: a new conversation, of which `messages` are the history. */
  conversation: string | undefined;
  /** Oldest first; the last is the user's new one. In a conversation that is given, only that counts. */
  messages: GivenMessage[];
  /** Its name; undefined: the conversation's, or the first one. */
  agent: string | undefined;
  capabilities: Capabilities;
  onBusy: Replacing['onBusy'];
  repetition: Repetition;
  /** How often the task was handed on before, as far as its caller says. */
  hops?: number;
  /** W3C's `traceparent`, where the request names one beside that of its HTTP headers; as it came. */
  traceParent?: unknown;
}

export interface GivenMessage {
  /** As the client names it. */
  id?: string | undefined;
  role: 'user' | 'assistant';
  content: ({ type: 'text'; text: string } | PageContextPart | DirectCallPart | GivenImage)[];
}

/** As it was sent; what it is, nobody has looked at yet. */
export interface GivenImage {
  type: 'image';
  base64: string;
  /** Where it stands in the request, to point at. */
  at: string[];
}

export type Repetition =
  /** Sent again or not, the message's own id tells. */
  | { kind: 'unnamed' }
  /** The caller's `Idempotency-Key`. */
  | { kind: 'named'; key: string }
  /** The client repeats requests by itself, under no name, and says when it does. */
  | { kind: 'announced'; isRepeat: boolean };
