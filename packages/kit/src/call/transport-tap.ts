/**
 * Listens to the messages of a transport of either SDK generation, from the handshake on. Everything is read from the
 * messages themselves, because the SDKs are under test, too.
 */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';

interface TapListener {
  onSent?(message: JSONRPCMessage): void;
  /** True: handled here; the client does not see it. */
  onReceived?(message: JSONRPCMessage): boolean | void;
  /** The stream for the response to this request has ended. */
  onStreamEnd?(id: string | number): void;
}

type Send = Transport['send'];
type Receive = NonNullable<Transport['onmessage']>;

const taps = new WeakMap<Transport, Set<TapListener>>();

/** Until it is disposed. Listeners are called in the order of their registration. */
export function tapTransport(transport: Transport, listener: TapListener): Disposable {
  const listeners = taps.get(transport) ?? install(transport);
  listeners.add(listener);
  return { [Symbol.dispose]: () => void listeners.delete(listener) };
}

function install(transport: Transport): Set<TapListener> {
  const listeners = new Set<TapListener>();
  taps.set(transport, listeners);

  const send: Send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    for (const one of [message].flat()) for (const listener of listeners) listener.onSent?.(one);
    const id = !Array.isArray(message) && 'id' in message ? message.id : undefined;
    const onRequestStreamEnd = () => {
      if (id !== undefined) for (const listener of listeners) listener.onStreamEnd?.(id);
    };
    // Only HTTP transports of the second generation know this option.
    await send(message, { ...options, ...({ onRequestStreamEnd } as object) });
  };

  // Both SDKs call an existing handler before their own, so a message could arrive twice.
  const handled = new WeakMap<JSONRPCMessage, boolean>();
  const isHandled = (message: JSONRPCMessage) => {
    const before = handled.get(message);
    if (before !== undefined) return before;
    const now = [...listeners].map((listener) => listener.onReceived?.(message) === true).includes(true);
    handled.set(message, now);
    return now;
  };
  let receive: Receive | undefined = transport.onmessage;
  Object.defineProperty(transport, 'onmessage', {
    configurable: true,
    get(): Receive | undefined {
      const current = receive;
      return current && ((message, extra) => (isHandled(message) ? undefined : current(message, extra)));
    },
    set(next: Receive | undefined) {
      receive = next;
    },
  });
  return listeners;
}
