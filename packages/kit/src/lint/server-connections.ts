/** The connection for calls of tools, which records what the server sends. A call that ended badly gets rid of it. */
import { isRecord } from '@interlude-ai/core/elicitation/form/schema-keywords.ts';
import { tapTransport } from '../call/transport-tap.ts';
import { connectServer } from '../try/connect-server.ts';
import type { Connected, ConnectOptions } from '../try/connect-server.ts';
import type { Target } from '../try/read-connection.ts';

export interface ServerConnection extends Connected {
  /** Everything that the server has sent since the last call of this function. */
  received(): Record<string, unknown>[];
}

export class ServerConnections {
  readonly #target: Target;
  readonly #options: ConnectOptions;
  #era: ConnectOptions['era'];
  #open: ServerConnection | undefined;

  constructor(target: Target, options: ConnectOptions) {
    this.#target = target;
    this.#options = options;
    this.#era = options.era;
  }

  /** The open one, or a new one. */
  async current(): Promise<ServerConnection> {
    return (this.#open ??= await this.another());
  }

  /** A second one, beside it. */
  async another(): Promise<ServerConnection> {
    let messages: Record<string, unknown>[] = [];
    const options = this.#options;
    const connected = await connectServer(this.#target, {
      ...options,
      era: this.#era,
      async onTransport(transport) {
        await options.onTransport?.(transport);
        tapTransport(transport, {
          onReceived: (message) => void (isRecord(message) && messages.push(message)),
        });
      },
    });
    // Negotiated once.
    this.#era = connected.era;
    messages = [];
    return {
      ...connected,
      received() {
        const received = messages;
        messages = [];
        return received;
      },
    };
  }

  /** Closes it: the next call opens a new one. */
  async discard(): Promise<void> {
    await this.#open?.close().catch(() => undefined);
    this.#open = undefined;
  }
}
