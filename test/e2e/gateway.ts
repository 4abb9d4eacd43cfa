/** A TCP way to servers that come and go: a load balancer, or the line to a server, which can be cut. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

export interface Gateway {
  port: number;
  /** Breaks every connection; new ones break at once, until `mend`. */
  cut(): void;
  mend(): void;
  stop(): Promise<void>;
}

/** `ports` in order of preference: each connection goes to the first that accepts one. */
export async function openGateway(ports: () => number[]): Promise<Gateway> {
  const open = new Set<Socket>();
  let isCut = false;
  const server = createServer({ pauseOnConnect: true }, (near) => {
    track(near);
    if (isCut) return void near.resetAndDestroy();
    void reach(ports()).then((far) => {
      if (!far || near.destroyed) {
        near.destroy();
        far?.destroy();
        return;
      }
      track(far);
      near.once('close', () => far.destroy());
      far.once('close', () => near.destroy());
      near.pipe(far).pipe(near);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  function track(socket: Socket): void {
    open.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => open.delete(socket));
  }

  const breakAll = () => open.forEach((socket) => socket.resetAndDestroy());
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      isCut = true;
      breakAll();
    },
    mend() {
      isCut = false;
    },
    async stop() {
      const closed = once(server, 'close');
      server.close();
      breakAll();
      await closed;
    },
  };
}

async function reach(ports: number[]): Promise<Socket | undefined> {
  for (const port of ports) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    if (isOpen) return socket;
  }
  return undefined;
}
