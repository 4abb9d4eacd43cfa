/**
 * Servers that give out marked secrets and, when set to fail, quote in their errors what they were sent.
 * Each remembers the first line of every request.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { issuerDocument } from '../../credentials/guarded-server.ts';
import { answer, listing, startRawMcpServer } from '../../servers/raw-mcp-server.ts';
import type { RawMessage } from '../../servers/raw-mcp-server.ts';
import { sendJson as json, serve } from '../../servers/serve.ts';
import type { Exchange } from '../../servers/serve.ts';
import type { Secrets } from './secrets.ts';

export interface Peer {
  origin: string;
  /** Method and address of each request. */
  lines: string[];
  stop(): Promise<void>;
}

/** `quoted`: all that was sent, headers included. */
const quoted = ({ request, body }: Exchange) => `${request.rawHeaders.join(' ')} ${body}`;

async function startPeer(handle: (exchange: Exchange) => void): Promise<Peer> {
  const lines: string[] = [];
  const { origin, stop } = await serve((exchange) => {
    lines.push(`${exchange.request.method} ${exchange.request.url}`);
    handle(exchange);
  });
  return { origin, lines, stop };
}

export interface SignInServer extends Peer {
  /** How the token endpoint treats codes and refresh tokens from now on. */
  codes: 'redeemed' | 'refused' | 'broken';
  refreshes: 'granted' | 'refused';
  refusedRefreshes: number;
  /** Life of access tokens given from now on. */
  lifeSeconds: number;
  /** Whether this is an access token that was given last. */
  isCurrent(authorization: string | undefined): boolean;
}

/** Grants every request at once, and revokes nothing. */
export async function startSignInServer(secrets: Secrets): Promise<SignInServer> {
  let current = '';
  const give = (response: ServerResponse) => {
    current = secrets.mint('access token');
    json(response, {
      access_token: current,
      refresh_token: secrets.mint('refresh token'),
      token_type: 'Bearer',
      expires_in: mood.lifeSeconds,
    });
  };
  const peer = await startPeer((exchange) => {
    const { request, response, url, body } = exchange;
    const { origin } = url;
    const form = new URLSearchParams(body);
    switch (`${request.method} ${url.pathname}`) {
      case 'GET /.well-known/oauth-authorization-server':
        return json(
          response,
          issuerDocument(origin, {
            registration_endpoint: `${origin}/register`,
            revocation_endpoint: `${origin}/revoke`,
            token_endpoint_auth_methods_supported: ['client_secret_post'],
          }),
        );
      case 'POST /register':
        return json(
          response,
          { ...JSON.parse(body), client_id: 'a-client', client_secret: secrets.mint('client secret') },
          201,
        );
      case 'GET /authorize': {
        const back = new URL(url.searchParams.get('redirect_uri') ?? '');
        back.searchParams.set('state', secrets.note('state', url.searchParams.get('state') ?? ''));
        back.searchParams.set('code', secrets.mint('authorization code'));
        return void response.writeHead(302, { location: back.href }).end();
      }
      case 'POST /token': {
        const verifier = form.get('code_verifier');
        if (verifier !== null) secrets.note('code verifier', verifier);
        const isRefresh = form.get('grant_type') === 'refresh_token';
        if (isRefresh && mood.refreshes === 'refused') mood.refusedRefreshes += 1;
        if (isRefresh ? mood.refreshes === 'refused' : mood.codes === 'refused')
          return json(response, { error: 'invalid_grant', error_description: quoted(exchange) }, 400);
        if (!isRefresh && mood.codes === 'broken') return void response.writeHead(500).end(quoted(exchange));
        return give(response);
      }
      case 'POST /revoke':
        return json(response, { error: 'server_error', error_description: quoted(exchange) }, 500);
      default:
        return void response.writeHead(404).end(quoted(exchange));
    }
  });
  const mood = Object.assign(peer, {
    codes: 'redeemed' as SignInServer['codes'],
    refreshes: 'granted' as SignInServer['refreshes'],
    refusedRefreshes: 0,
    lifeSeconds: 3600,
    isCurrent: (authorization: string | undefined) => authorization === `Bearer ${current}`,
  });
  return mood;
}

export interface ToolServer extends Peer {
  url: string;
  /** What the next calls of its tool `ask` come to; after them, `done`. */
  next: (object | 'refuse' | 'break')[];
  /** How everything else is treated. */
  mood: 'well' | 'broken';
  /** Calls that were let in. */
  calls: RawMessage[];
}

interface ToolServerOptions {
  /** Where people sign in for it; without one it does not say. */
  signIn?: SignInServer;
  lets: (headers: IncomingMessage['headers']) => boolean;
}

/** An MCP server of the new era with one tool, `ask`. */
export async function startToolServer({ signIn, lets }: ToolServerOptions): Promise<ToolServer> {
  const lines: string[] = [];
  const refuse = (exchange: Exchange) => {
    const { request, response } = exchange;
    const challenge = `Bearer error="invalid_token", error_description="${said(request)}"`;
    response.writeHead(401, { 'www-authenticate': challenge }).end(quoted(exchange));
  };
  /** What is answered before the request is read as a message. */
  function guard(exchange: Exchange): boolean {
    const { request, response, url } = exchange;
    last = exchange;
    lines.push(`${request.method} ${request.url}`);
    if (signIn && url.pathname === '/.well-known/oauth-protected-resource/mcp')
      json(response, { resource: state.url, authorization_servers: [signIn.origin] });
    else if (request.method !== 'POST' || url.pathname !== '/mcp') response.writeHead(404).end();
    else if (state.mood === 'broken') response.writeHead(500).end(quoted(exchange));
    else if (!lets(request.headers)) refuse(exchange);
    else return false;
    return true;
  }
  /** The one that is being answered: replies follow without a pause. */
  let last: Exchange;
  const { config, stop } = await startRawMcpServer({
    guard,
    on: {
      'tools/list': (message, response) =>
        answer(message, response, listing([{ name: 'ask', annotations: {} }])),
      'tools/call'(message, response) {
        const move = state.next.shift() ?? done();
        if (move === 'refuse') return refuse(last);
        if (move === 'break') return void response.writeHead(500).end(quoted(last));
        state.calls.push(message);
        return answer(message, response, move);
      },
    },
  });
  const { origin } = new URL(config.url);
  const state: ToolServer = { origin, lines, stop, url: config.url, next: [], mood: 'well', calls: [] };
  return state;
}

const said = ({ headers }: IncomingMessage) => String(headers.authorization ?? headers['x-api-key']);
export const done = (text = 'done') => ({ resultType: 'complete', content: [{ type: 'text', text }] });

/** Says that the key is wrong, and which one it was. */
export function startModelServer(): Promise<Peer> {
  return startPeer((exchange) => {
    const message = `Incorrect API key provided: ${quoted(exchange)}`;
    json(
      exchange.response,
      { error: { message, type: 'invalid_request_error', code: 'invalid_api_key' } },
      401,
    );
  });
}
