/** A proxy before a Temporal without a login, which requires an API key as Temporal Cloud does. */
import { once } from 'node:events';
import { connect, createServer } from 'node:http2';
import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';

export interface TemporalGate {
  address: string;
  /** Only calls with this key are let through from now on; calls under way are cut. */
  accept(apiKey: string): void;
  stop(): Promise<void>;
}

const unauthenticated = 16;

export async function startTemporalGate(to: string, apiKey: string): Promise<TemporalGate> {
  const far = connect(`http://${to}`);
  let accepted = apiKey;
  const server = createServer();
  const sessions = new Set<{ destroy(): void }>();
  server.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
  });
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    if (headers.authorization === `Bearer ${accepted}`) forward(stream, headers);
    else refuse(stream);
  });

  function forward(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    const call = far.request(headers as OutgoingHttpHeaders);
    let trailers: IncomingHttpHeaders = {};
    call.on('error', () => stream.close());
    call.on('response', (answer) => {
      // An error without a message has its status in the headers, and no trailers.
      if (answer['grpc-status'] !== undefined) {
        stream.respond(answer as OutgoingHttpHeaders, { endStream: true });
        return;
      }
      stream.respond(answer as OutgoingHttpHeaders, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers(trailers as OutgoingHttpHeaders));
      call.pipe(stream);
    });
    call.on('trailers', (given) => (trailers = given));
    stream.on('aborted', () => call.close());
    stream.pipe(call);
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    accept(key) {
      accepted = key;
      for (const session of sessions) session.destroy();
    },
    async stop() {
      for (const session of sessions) session.destroy();
      far.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function refuse(stream: ServerHttp2Stream): void {
  const status = { 'grpc-status': String(unauthenticated), 'grpc-message': 'Request unauthorized.' };
  stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...status }, { endStream: true });
}
