/**
 * What a call remembers from one round to the next. It travels through the client and back, so it is signed, and it
 * counts only for the call it was made for.
 */
import { createRequestStateCodec, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { ServerContext } from '@modelcontextprotocol/server';

export interface Call {
  tool: string;
  /** What tells this call from others of the tool. */
  about: string;
}

export interface Rounds {
  /** For the server's `requestState.verify`. */
  verify(state: string, context: ServerContext): Promise<unknown>;
  /** Undefined in the first round. */
  read<State>(call: Call, context: ServerContext): State | undefined;
  write<State>(call: Call, state: State): Promise<string>;
}

interface Sealed {
  call: Call;
  state: unknown;
}

/** Longer than anybody's questions stay open. */
const ttlSeconds = 3_600;

export function createRounds(key: string): Rounds {
  const codec = createRequestStateCodec<Sealed>({ key, ttlSeconds });
  return {
    verify: codec.verify,
    read<State>({ tool, about }: Call, context: ServerContext) {
      const sealed = context.mcpReq.requestState<Sealed>();
      if (sealed === undefined) return undefined;
      if (sealed.call.tool !== tool || sealed.call.about !== about)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'This state belongs to another call.');
      return sealed.state as State;
    },
    write: (call, state) => codec.mint({ call, state }),
  };
}
