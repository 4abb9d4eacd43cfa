/** What `interlude agents check` has found, and how it ends: part of its contract, docs/agents.md. */
import type { AuthorizationServer } from '../../credentials/mcp-oauth/authorization-server.ts';
import type { clientKind } from '../../credentials/mcp-oauth/registration.ts';

export interface ToolReport {
  name: string;
  /** Why no agent gets it. */
  leftOut?: string;
  /** Per model of the agents that use the server, where something differs from the server's own schema. */
  models: { model: string; converted?: string[]; leftOut?: string }[];
}

export type SignIn =
  | { kind: 'none' }
  /** The operator keeps the account elsewhere. */
  | { kind: 'nango' | 'vault' }
  | {
      kind: 'oauth';
      issuer: AuthorizationServer['issuer'];
      client: ReturnType<typeof clientKind>;
      scopes: string[];
    }
  | { kind: 'failed'; why: string };

export interface ServerReport {
  name: string;
  title: string;
  place: string;
  protocol: 'MCP' | 'A2A';
  /** As the server names itself, and what it speaks. */
  answered?: {
    name: string;
    version: string;
    era?: 'modern' | 'legacy';
    protocolVersion: string;
    /** Where its tools are called in another version, because it can ask in that one. */
    calledIn?: '2025-11-25';
  };
  signIn: SignIn;
  /** Documents about its sign-in that had to be passed over: where they are and what is wrong with them. */
  brokenDocuments: string[];
  /** Absent: they were not listed, because of `problem` or because an account is needed. */
  tools?: ToolReport[];
  /** Why it cannot be used. */
  problem?: string;
}

export interface AgentReport {
  name: string;
  model: string;
  /** How many tools of servers it is offered. */
  tools: number;
  problems: string[];
}

export interface Report {
  servers: ServerReport[];
  agents: AgentReport[];
}

export interface Counts {
  errors: number;
  warnings: number;
}

export function countsOf({ servers, agents }: Report): Counts {
  const errors = [
    ...servers.flatMap(({ problem }) => problem ?? []),
    ...servers.filter(({ signIn }) => isSignInWrong(signIn)),
    ...servers.flatMap(({ tools = [] }) => tools.filter(isMissed)),
    ...agents.flatMap(({ problems }) => problems),
  ];
  return { errors: errors.length, warnings: servers.flatMap((server) => server.brokenDocuments).length };
}

export function isSignInWrong(signIn: SignIn): boolean {
  return signIn.kind === 'failed' || (signIn.kind === 'oauth' && signIn.client === 'none');
}

/** By some agent at least. */
export function isMissed({ leftOut, models }: ToolReport): boolean {
  return leftOut !== undefined || models.some((one) => one.leftOut !== undefined);
}

export function exitCodeOf(report: Report): number {
  return countsOf(report).errors > 0 ? 1 : 0;
}
