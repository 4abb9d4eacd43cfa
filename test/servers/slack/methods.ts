/**
 * A part of the fake Slack says what some methods of the Web API do. `slack-server.ts` puts the parts together; a test
 * may replace a method by `slack.methods.set`.
 */
import type { Workspace } from './slack-state.ts';

export interface MethodCall {
  method: string;
  /** As sent, JSON or form; what Slack takes as JSON inside of a form is parsed. */
  args: Record<string, unknown>;
  /** Whose token it came with; null where the method needs none. */
  workspace: Workspace | null;
}

export type MethodAnswer = Record<string, unknown> | MethodHttp;

/** An answer that is not `{ ok: true, … }` with status 200. */
export class MethodHttp {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;

  constructor(status: number, headers: Record<string, string> = {}, body = '') {
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}

/** `{ ok: false, error: code }`. */
export class MethodRefused extends Error {
  readonly code: string;
  readonly more: Record<string, unknown>;

  constructor(code: string, more: Record<string, unknown> = {}) {
    super(code);
    this.code = code;
    this.more = more;
  }
}

export type Method = (call: MethodCall) => MethodAnswer | Promise<MethodAnswer>;

export function workspaceOf({ workspace }: MethodCall): Workspace {
  if (!workspace) throw new MethodRefused('not_authed');
  return workspace;
}

export function text(args: Record<string, unknown>, name: string): string {
  const value = args[name];
  return typeof value === 'string' ? value : '';
}
