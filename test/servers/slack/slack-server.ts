/**
 * A fake Slack: the Web API over real HTTP, several workspaces with people and tokens of their own, and signed requests to
 * us. Its parts say what the methods do; this file only finds the method, the token and the arguments.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSender } from './deliver.ts';
import type { Sender } from './deliver.ts';
import { MethodHttp, MethodRefused, text, workspaceOf } from './methods.ts';
import type { Method, MethodAnswer, MethodCall } from './methods.ts';
import { createWorkspace, nextTs } from './slack-state.ts';
import type { Workspace } from './slack-state.ts';

/** Whose token it is, and who people are. */
const peopleMethods: Record<string, Method> = {
  'auth.test': (call) => {
    const { id, name, botUser } = workspaceOf(call);
    return { team_id: id, team: name, user_id: botUser, bot_id: `B${id}`, url: 'https://slack.example/' };
  },
  'users.info': (call) => {
    const workspace = workspaceOf(call);
    const user = workspace.users.get(text(call.args, 'user'));
    if (!user) throw new MethodRefused('user_not_found');
    const { id, name, teamId, isBot, isGuest, isAdmin, locale } = user;
    return {
      user: {
        id,
        team_id: teamId,
        name,
        real_name: name,
        profile: { display_name: name, real_name: name },
        is_bot: isBot,
        is_restricted: isGuest,
        is_ultra_restricted: false,
        is_admin: isAdmin,
        is_owner: false,
        ...(call.args['include_locale'] !== undefined && { locale }),
        ...(teamId !== workspace.id && { is_stranger: true }),
      },
    };
  },
  'conversations.open': (call) => {
    const user = text(call.args, 'users');
    if (!workspaceOf(call).users.has(user)) throw new MethodRefused('user_not_found');
    return { channel: { id: `D${user}` } };
  },
};

export interface SlackServer extends Sender, AsyncDisposable {
  url: string;
  signingSecret: string;
  /** For the settings of the service: `SLACK_API_URL` and `SLACK_SIGNING_SECRET`. */
  env: Record<string, string>;
  workspaces: Map<string, Workspace>;
  addWorkspace(id: string, name?: string): Workspace;
  nextTs(): string;
  /** By name, like `chat.postMessage`. */
  methods: Map<string, Method>;
  /** Pages and other addresses that are no methods, by path. */
  pages: Map<string, (request: IncomingMessage, body: string, response: ServerResponse) => void>;
  /** Every call that was answered, oldest first. */
  calls: MethodCall[];
  /** Resolves with calls that there are, or will be, which `wanted` finds: as soon as there are `count`. */
  until(wanted: (call: MethodCall) => boolean, count?: number): Promise<MethodCall[]>;
}

export async function startSlackServer(signingSecret = 'slack signing secret'): Promise<SlackServer> {
  const workspaces = new Map<string, Workspace>();
  const methods = new Map<string, Method>(Object.entries(peopleMethods));
  const pages: SlackServer['pages'] = new Map();
  const calls: MethodCall[] = [];
  const waiting = new Set<() => void>();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const { pathname } = new URL(request.url ?? '', 'http://slack');
    const page = pages.get(pathname);
    if (page) return page(request, body, response);
    const call = toCall(pathname.replace('/api/', ''), request, body, workspaces);
    const answered = await carryOut(methods.get(call.method), call);
    if (answered instanceof MethodHttp) {
      response.writeHead(answered.status, answered.headers).end(answered.body);
    } else {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answered));
    }
    calls.push(call);
    for (const check of waiting) check();
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    ...createSender(signingSecret),
    url,
    signingSecret,
    env: { SLACK_API_URL: `${url}/api`, SLACK_SIGNING_SECRET: signingSecret },
    workspaces,
    addWorkspace(id, name = id) {
      const workspace = createWorkspace(id, name);
      workspaces.set(id, workspace);
      return workspace;
    },
    nextTs,
    methods,
    pages,
    calls,
    until: (wanted, count = 1) =>
      new Promise((resolve) => {
        const check = () => {
          const found = calls.filter(wanted);
          if (found.length < count) return;
          waiting.delete(check);
          resolve(found);
        };
        waiting.add(check);
        check();
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function carryOut(method: Method | undefined, call: MethodCall): Promise<MethodAnswer> {
  try {
    if (!method) throw new MethodRefused('unknown_method');
    const answered = await method(call);
    return answered instanceof MethodHttp ? answered : { ok: true, ...answered };
  } catch (error) {
    if (error instanceof MethodRefused) return { ok: false, error: error.code, ...error.more };
    throw error;
  }
}

function toCall(
  method: string,
  request: IncomingMessage,
  body: string,
  workspaces: Map<string, Workspace>,
): MethodCall {
  const args = argumentsOf(request, body);
  const token =
    request.headers.authorization?.replace('Bearer ', '') ??
    (typeof args['token'] === 'string' ? args['token'] : '');
  const workspace = [...workspaces.values()].find(({ botToken }) => botToken === token) ?? null;
  return { method, args, workspace };
}

function argumentsOf(request: IncomingMessage, body: string): Record<string, unknown> {
  if (request.headers['content-type']?.startsWith('application/json'))
    return JSON.parse(body) as Record<string, unknown>;
  return Object.fromEntries(
    [...new URLSearchParams(body)].map(([name, value]) => [
      name,
      /^[[{]/.test(value) ? parsed(value) : value,
    ]),
  );
}

function parsed(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
