import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { createLocator } from './proxied-connection.ts';
import type { StreamPoint } from './proxied-connection.ts';
import { startTcpProxy } from './tcp-proxy.ts';
import type { TcpProxy, TcpProxyOptions } from './tcp-proxy.ts';

let stack = new AsyncDisposableStack();
afterEach(async () => {
  await stack.disposeAsync();
  stack = new AsyncDisposableStack();
});

async function serve(answer: (socket: Socket) => void): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    stack.defer(() => void socket.destroy());
    answer(socket);
  });
  stack.defer(() => void server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function proxyTo(to: TcpProxyOptions['to'], plan?: TcpProxyOptions['plan']): Promise<TcpProxy> {
  const proxy = await startTcpProxy({ to, ...(plan && { plan }) });
  stack.defer(() => proxy.stop());
  return proxy;
}

interface Client {
  socket: Socket;
  received(): string;
  /** `end` when the service's side was closed in order, else the code of what happened. */
  over: Promise<string>;
}

function dial({ port }: TcpProxy): Client {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  stack.defer(() => void socket.destroy());
  let received = '';
  socket.setEncoding('latin1').on('data', (text: string) => (received += text));
  const over = new Promise<string>((resolve) => {
    socket.once('end', () => resolve('end'));
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
  return { socket, received: () => received, over };
}

const alphabet = 'abcdefghijklmnopqrstuvwxyz';

test('everything passes in both directions, also after one side has said its last word', async () => {
  const port = await serve((socket) => {
    socket.write('first');
    let heard = '';
    socket.on('data', (bytes) => (heard += String(bytes)));
    socket.on('end', () => socket.end(` heard:${heard}`));
  });
  const proxy = await proxyTo(port);
  const { socket, over, received } = dial(proxy);
  await once(socket, 'data');
  socket.write('one ');
  socket.end('two');
  expect(await over).toBe('end');
  expect(received()).toBe('first heard:one two');
  await proxy.connections[0]?.closed;
  expect(proxy.connections).toMatchObject([{ index: 0, sentBytes: 7, receivedBytes: 19 }]);
});

test('a client is still heard when the service has said everything', async () => {
  const heard = Promise.withResolvers<string>();
  const port = await serve((socket) => {
    socket.end('that is all');
    socket.on('data', (bytes) => heard.resolve(String(bytes)));
  });
  const { socket, over } = dial(await proxyTo(port));
  expect(await over).toBe('end');
  socket.end('thank you');
  expect(await heard.promise).toBe('thank you');
});

test.each([0, 1, 13, 25, 26])('a connection is cut after exactly %i bytes', async (bytes) => {
  const port = await serve((socket) => void socket.write(alphabet));
  const proxy = await proxyTo(port, () => [{ kind: 'cut', at: { bytes } }]);
  const { over, received } = dial(proxy);
  expect(await over).toBe('ECONNRESET');
  expect(received()).toBe(alphabet.slice(0, bytes));
  expect(proxy.connections[0]?.receivedBytes).toBe(bytes);
});

test('a half-closed connection ends in order for its client, and whatever the service still says is lost', async () => {
  const said = Promise.withResolvers<void>();
  const heard = Promise.withResolvers<string>();
  const port = await serve((socket) => {
    socket.write(alphabet);
    socket.on('data', (bytes) => {
      heard.resolve(String(bytes));
      socket.write(alphabet, () => said.resolve());
    });
  });
  const { socket, over, received } = dial(
    await proxyTo(port, () => [{ kind: 'half-close', at: { after: 'n' } }]),
  );
  expect(await over).toBe('end');
  expect(received()).toBe('abcdefghijklmn');
  socket.write('are you there?');
  expect(await heard.promise).toBe('are you there?');
  await said.promise;
  expect(received()).toBe('abcdefghijklmn');
});

test('a stall holds the service up, and everything comes when it goes on', async () => {
  const whole = alphabet.repeat(1_000_000);
  const sending = Promise.withResolvers<Socket>();
  const port = await serve((socket) => {
    socket.end(whole);
    sending.resolve(socket);
  });
  const proxy = await proxyTo(port, () => [{ kind: 'stall', at: { bytes: 100 } }]);
  const arrived = proxy.next();
  const { over, received } = dial(proxy);
  const connection = await arrived;
  await connection.stalled();
  const service = await sending.promise;
  expect(connection.receivedBytes).toBe(100);
  // Whatever the kernel takes, it does not take all of it.
  expect(service.writableFinished).toBe(false);
  connection.goOn();
  expect(await over).toBe('end');
  expect(received() === whole).toBe(true);
});

test('several things go wrong one after the other, each counted from the one before', async () => {
  const port = await serve((socket) => void socket.write(alphabet.repeat(2)));
  const proxy = await proxyTo(port, (index) =>
    index > 0
      ? []
      : [
          { kind: 'stall', at: { after: 'c' } },
          { kind: 'stall', at: { bytes: 2 } },
          { kind: 'cut', at: { after: 'c', plusBytes: 1 } },
        ],
  );
  const arrived = proxy.next();
  const first = dial(proxy);
  const connection = await arrived;
  for (const bytes of [3, 5]) {
    await connection.stalled();
    expect(connection.receivedBytes).toBe(bytes);
    connection.goOn();
  }
  expect(await first.over).toBe('ECONNRESET');
  expect(first.received()).toBe(`${alphabet}abcd`);

  const second = dial(proxy);
  while (second.received().length < 52) await once(second.socket, 'data');
  expect(second.received()).toBe(alphabet.repeat(2));
});

test('all connections are interrupted at once, and new ones are refused until they are accepted again', async () => {
  const gone: Promise<void>[] = [];
  const port = await serve((socket) => {
    socket.resume().write('hello');
    gone.push(new Promise((resolve) => socket.once('close', () => resolve())));
  });
  const proxy = await proxyTo(port);
  const clients = [dial(proxy), dial(proxy)];
  await Promise.all(clients.map(({ socket }) => once(socket, 'data')));
  proxy.refuse();
  proxy.cut();
  expect(await Promise.all(clients.map(({ over }) => over))).toEqual(['ECONNRESET', 'ECONNRESET']);
  await Promise.all(gone);
  expect(await dial(proxy).over).toBe('ECONNRESET');
  expect(proxy.connections).toHaveLength(2);
  proxy.accept();
  await once(dial(proxy).socket, 'data');
  expect(proxy.connections).toHaveLength(3);
});

test('a stalled connection that its client leaves is closed at the service too', async () => {
  const left = Promise.withResolvers<void>();
  const port = await serve((socket) => {
    socket.write(alphabet);
    socket.resume().once('end', () => left.resolve());
  });
  const proxy = await proxyTo(port);
  const arrived = proxy.next();
  const { socket } = dial(proxy);
  const connection = await arrived;
  connection.stall();
  await connection.stalled();
  socket.destroy();
  await connection.closed;
  await left.promise;
});

test('a connection goes to the first port that takes it, and is reset when none does', async () => {
  const port = await serve((socket) => void socket.end('the second'));
  let ports = [1, port];
  const proxy = await proxyTo(() => ports);
  const { over, received } = dial(proxy);
  expect(await over).toBe('end');
  expect(received()).toBe('the second');
  ports = [1];
  expect(await dial(proxy).over).toBe('ECONNRESET');
});

describe('a point in a stream', () => {
  const stream = Buffer.from('ab|cd||ef|');
  test.each<[StreamPoint, number | undefined]>([
    [{ bytes: 0 }, 0],
    [{ bytes: 4 }, 4],
    [{ bytes: 10 }, 10],
    [{ bytes: 11 }, undefined],
    [{ after: 'b|c' }, 4],
    [{ after: '|', times: 3 }, 7],
    [{ after: '|', times: 4 }, 10],
    [{ after: '|', times: 5 }, undefined],
    [{ after: '||' }, 7],
    [{ after: '||', plusBytes: 2 }, 9],
    [{ after: '||', times: 2 }, undefined],
    [{ after: 'ab', plusBytes: 9 }, undefined],
  ])('%o is found, however the stream is split', (point, expected) => {
    for (let first = 0; first <= stream.length; first += 1) {
      for (let second = first; second <= stream.length; second += 1) {
        const locate = createLocator(point);
        const chunks = [stream.subarray(0, first), stream.subarray(first, second), stream.subarray(second)];
        let start = 0;
        let found: number | undefined;
        for (const chunk of chunks.filter(({ length }) => length > 0)) {
          const at = locate(chunk);
          if (at !== undefined) {
            found = start + at;
            break;
          }
          start += chunk.length;
        }
        expect(found).toBe(expected);
      }
    }
  });
});
