/**
 * The line between a client and the service, which can go wrong: cut (RST), half-closed (FIN), stalled, refused; at a
 * point in what the service sends, or now. It looks at bytes only and knows nothing of HTTP.
 */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { proxied } from './proxied-connection.ts';
import type { Interruption, Line, ProxiedConnection } from './proxied-connection.ts';

export type TcpProxy = Awaited<ReturnType<typeof startTcpProxy>>;

export interface TcpProxyOptions {
  /** Ports on this machine, in order of preference: each connection goes to the first that takes it. */
  to: number | (() => number[]);
  /** What goes wrong, in this order, on the connection with this index. */
  plan?: (index: number) => Interruption[];
}

export async function startTcpProxy({ to, plan = () => [] }: TcpProxyOptions) {
  const ports = typeof to === 'number' ? () => [to] : to;
  const connections: ProxiedConnection[] = [];
  const open = new Set<ProxiedConnection>();
  const waiting: ((connection: ProxiedConnection) => void)[] = [];
  let refuses = false;
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (near) => {
    near.on('error', () => near.destroy());
    if (refuses) return void near.resetAndDestroy();
    const index = connections.length;
    const connection = proxied(near, { index, far: reach(ports()), plan: plan(index) });
    connections.push(connection);
    open.add(connection);
    void connection.closed.then(() => open.delete(connection));
    for (const resolve of waiting.splice(0)) resolve(connection);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const all = (what: keyof Line) => () => open.forEach((connection) => connection[what]());

  return {
    port,
    url: `http://127.0.0.1:${port}`,
    /** All that were ever accepted, also those that are closed; refused ones are not among them. */
    connections,
    /** The next connection to arrive. */
    next: () => new Promise<ProxiedConnection>((resolve) => waiting.push(resolve)),
    // For all that are open.
    cut: all('cut'),
    halfClose: all('halfClose'),
    stall: all('stall'),
    goOn: all('goOn'),
    /** Resets every new connection, until `accept`. */
    refuse: () => void (refuses = true),
    accept: () => void (refuses = false),
    async stop() {
      const closed = once(server, 'close');
      server.close();
      all('cut')();
      await closed;
    },
  };
}

async function reach(ports: number[]): Promise<Socket | undefined> {
  for (const port of ports) {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    if (isOpen) return socket.on('error', () => socket.destroy());
  }
  return undefined;
}
