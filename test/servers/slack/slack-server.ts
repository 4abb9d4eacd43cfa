/**
 * A fake Slack: the Web API over real HTTP, several workspaces with people and tokens of their own, and signed requests to
 * us. Its parts say what the methods do; this file only finds the method, the token and the arguments.
 */
import type { IncomingMessage } from 'node:http';
import { createWaiting } from '../../waiting.ts';
import { sendJson, serve } from '../serve.ts';
import type { Exchange } from '../serve.ts';
import { createSender } from './deliver.ts';
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

export type SlackServer = Awaited<ReturnType<typeof startSlackServer>>;

export async function startSlackServer(signingSecret = 'slack signing secret') {
  const workspaces = new Map<string, Workspace>();
  const methods = new Map<string, Method>(Object.entries(peopleMethods));
  const pages = new Map<string, (exchange: Exchange) => void>();
  const calls: MethodCall[] = [];
  const waiting = createWaiting();

  const { origin: url, stop } = await serve(async (exchange) => {
    const { request, response, body } = exchange;
    const { pathname } = exchange.url;
    const page = pages.get(pathname);
    if (page) return page(exchange);
    const call = toCall(pathname.replace('/api/', ''), request, body, workspaces);
    const answered = await carryOut(methods.get(call.method), call);
    if (answered instanceof MethodHttp)
      response.writeHead(answered.status, answered.headers).end(answered.body);
    else sendJson(response, answered);
    calls.push(call);
    waiting.wake();
  });
  return {
    ...createSender(signingSecret),
    url,
    signingSecret,
    /** For the settings of the service. */
    env: { SLACK_API_URL: `${url}/api`, SLACK_SIGNING_SECRET: signingSecret },
    workspaces,
    addWorkspace(id: string, name = id) {
      const workspace = createWorkspace(id, name);
      workspaces.set(id, workspace);
      return workspace;
    },
    nextTs,
    /** By name, like `chat.postMessage`. */
    methods,
    /** Pages and other addresses that are no methods, by path. */
    pages,
    /** Every call that was answered, oldest first. */
    calls,
    /** Resolves with calls that there are, or will be, which `wanted` finds: as soon as there are `count`. */
    until: (wanted: (call: MethodCall) => boolean, count = 1) =>
      waiting.until(() => {
        const found = calls.filter(wanted);
        return found.length >= count && found;
      }),
    [Symbol.asyncDispose]: stop,
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
