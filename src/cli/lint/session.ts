/** The connection over which tools are called, with an ear on its wire. A call that ended badly leaves none behind. */
import { isRecord } from '../../elicitation/form/schema-keywords.ts';
import { tapTransport } from '../../testing/call/transport-tap.ts';
import { connectServer } from '../try/connect-server.ts';
import type { Connected, ConnectOptions } from '../try/connect-server.ts';
import type { Target } from '../try/target.ts';

export interface Session extends Connected {
  /** All that the server has said since this was asked the last time. */
  heard(): Record<string, unknown>[];
}

export interface Sessions {
  /** The one there is, or a new one. */
  current(): Promise<Session>;
  /** Another one, beside it. */
  another(): Promise<Session>;
  /** The next call is made over a new one. */
  discard(): Promise<void>;
}

export function createSessions(target: Target, options: ConnectOptions): Sessions {
  let open: Session | undefined;
  let era = options.era;
  async function another(): Promise<Session> {
    let messages: Record<string, unknown>[] = [];
    const connected = await connectServer(target, {
      ...options,
      era,
      async onTransport(transport) {
        await options.onTransport?.(transport);
        tapTransport(transport, {
          onReceived: (message) => void (isRecord(message) && messages.push(message)),
        });
      },
    });
    // Found out once.
    ({ era } = connected);
    messages = [];
    return {
      ...connected,
      heard() {
        const heard = messages;
        messages = [];
        return heard;
      },
    };
  }
  return {
    another,
    current: async () => (open ??= await another()),
    async discard() {
      await open?.close().catch(() => undefined);
      open = undefined;
    },
  };
}
