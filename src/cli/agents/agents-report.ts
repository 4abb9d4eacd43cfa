/** What `interlude agents check` found, and its exit code: part of its contract, docs/agents.md. */
import { styleText } from 'node:util';
import type { AuthorizationServer } from '../../credentials/mcp-oauth/metadata.ts';
import type { clientKind } from '../../credentials/mcp-oauth/registration.ts';
import { bold, counted, dim, oneLine, plain } from '@interlude-ai/kit/terminal/terminal-text.ts';
import { ourCommand } from '@interlude-ai/kit/terminal/program-command.ts';

export interface ToolReport {
  name: string;
  /** Why no agent gets it. */
  leftOut?: string;
  /** For each model of the agents that use the server: what differs from the server's own schema. */
  models: { model: string; converted?: string[]; leftOut?: string }[];
}

export type SignIn =
  | { kind: 'none' }
  /** The account is not managed by sign-in. */
  | { kind: 'nango' | 'vault' }
  | {
      kind: 'oauth';
      issuer: AuthorizationServer['issuer'];
      client: ReturnType<typeof clientKind>;
      /** The error code with which it refuses the client of the agents file. */
      refusal?: string;
      scopes: string[];
    }
  | { kind: 'failed'; why: string };

export interface ServerReport {
  name: string;
  title: string;
  place: string;
  protocol: 'MCP' | 'A2A';
  /** The server's own name, and what it speaks. */
  answered?: {
    name: string;
    version: string;
    era?: 'modern' | 'legacy';
    protocolVersion: string;
    /** The version in which its tools are called if it can only ask in that one. */
    calledIn?: '2025-11-25';
  };
  signIn: SignIn;
  /** Documents about its sign-in that were skipped: where they are, and what is wrong with them. */
  brokenDocuments: string[];
  /** Absent if they were not listed, because of `problem` or because an account is needed. */
  tools?: ToolReport[];
  /** Why the server cannot be used. */
  problem?: string;
}

export interface AgentReport {
  name: string;
  model: string;
  /** The number of its servers, and of those whose tools were not listed. */
  servers: number;
  serversNotListed: number;
  /** The number of its tools on listed servers, and in its folder. */
  tools: number;
  ownTools: number;
  problems: string[];
}

export interface Report {
  servers: ServerReport[];
  agents: AgentReport[];
}

interface Counts {
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

function isSignInWrong(signIn: SignIn): boolean {
  if (signIn.kind !== 'oauth') return signIn.kind === 'failed';
  return signIn.client === 'none' || signIn.refusal !== undefined;
}

/** Whether some agent does not get it. */
function isMissed({ leftOut, models }: ToolReport): boolean {
  return leftOut !== undefined || models.some((one) => one.leftOut !== undefined);
}

export function exitCodeOf(report: Report): number {
  return countsOf(report).errors > 0 ? 1 : 0;
}

// The report as people read it.

const good = styleText('green', '✓');
const note = styleText('cyan', '~');
const warning = styleText('yellow', '!');
const wrong = styleText('red', '✗');

export function reportLines(report: Report): string[] {
  const { servers, agents } = report;
  return [
    '',
    ...servers.flatMap((server) => [...serverLines(server), '']),
    ...agentLines(agents),
    '',
    lastLine(report),
    '',
  ];
}

function serverLines(server: ServerReport): string[] {
  const { name, answered, place, protocol, signIn, brokenDocuments, tools, problem } = server;
  const calls = answered?.calledIn === undefined ? '' : `, called in ${answered.calledIn}`;
  const itself = answered
    ? `${oneLine(`${answered.name} ${answered.version}`).trim()} · ${protocol} ${plain(answered.protocolVersion)}${calls} · `
    : '';
  return [
    `  ${bold(oneLine(name))}  ${dim(itself + plain(place))}`,
    ...(problem === undefined
      ? []
      : wrapped(problem).map((line, index) => `    ${index === 0 ? wrong : ' '} ${line}`)),
    ...signInLines(signIn),
    ...brokenDocuments.map((document) => `    ${warning} ${plain(document)}; another place was used`),
    ...(tools ? toolLines(tools) : problem === undefined && protocol === 'MCP' ? [notListed(server)] : []),
  ];
}

function signInLines(signIn: SignIn): string[] {
  const mark = isSignInWrong(signIn) ? wrong : good;
  switch (signIn.kind) {
    case 'none':
      return [];
    case 'nango':
      return [`    ${good} accounts are kept in Nango`];
    case 'vault':
      return [`    ${good} users give a key`];
    case 'failed':
      return [`    ${mark} sign-in: ${plain(signIn.why)}`];
    case 'oauth': {
      const scopes = signIn.scopes.length > 0 ? `, scopes ${oneLine(signIn.scopes.join(' '))}` : '';
      const refused = signIn.refusal === undefined ? '' : `, which it refuses (${plain(signIn.refusal)})`;
      return [`    ${mark} sign-in at ${plain(signIn.issuer)}, ${clients[signIn.client]}${refused}${scopes}`];
    }
    default:
      return signIn satisfies never;
  }
}

const clients: Record<Extract<SignIn, { kind: 'oauth' }>['client'], string> = {
  configured: 'as the client in the agents file',
  document: 'as the client that our document describes',
  registered: 'where we register ourselves',
  none: 'where a client has to be registered by hand and written as oauth.clientId and oauth.issuer',
};

function notListed({ name, place, signIn }: ServerReport): string {
  const how = signIn.kind === 'oauth' ? ` or ${ourCommand(`try ${plain(place)}`)} to sign in` : '';
  return dim(`      its tools are an account's: --token ${oneLine(name)}=…${how}`);
}

function toolLines(tools: ToolReport[]): string[] {
  const missed = tools.filter(isMissed);
  const converted = tools.filter((tool) => !isMissed(tool) && tool.models.length > 0);
  const width = Math.max(0, ...[...missed, ...converted].map(({ name }) => oneLine(name).length)) + 2;
  const counts = [
    counted(tools.length, 'tool'),
    converted.length > 0 && `${converted.length} with another schema`,
    missed.length > 0 && `${missed.length} left out`,
  ];
  return [
    `    ${tools.length === 0 ? warning : good} ${counts.filter(Boolean).join(', ')}`,
    ...[...missed, ...converted].flatMap((tool) => toolLine(tool, width)),
  ];
}

function toolLine({ name, leftOut, models }: ToolReport, width: number): string[] {
  const shown = oneLine(name).padEnd(width);
  if (leftOut !== undefined) return [`      ${wrong} ${shown}left out: ${plain(leftOut)}`];
  // Several models often give the same text.
  const byWords = Map.groupBy(models, (one) => one.leftOut ?? (one.converted ?? []).join('; '));
  return [...byWords].map(([words, of], index) => {
    const isLeftOut = of[0]?.leftOut !== undefined;
    const label = index === 0 ? shown : ' '.repeat(width);
    const what = isLeftOut ? `left out, because it ${oneLine(words)}` : oneLine(words);
    return `      ${isLeftOut ? wrong : note} ${label}${what} ${dim(`(${of.map(({ model }) => plain(model)).join(', ')})`)}`;
  });
}

function agentLines(agents: AgentReport[]): string[] {
  const width = Math.max(0, ...agents.map(({ name }) => name.length)) + 2;
  const models = Math.max(0, ...agents.map(({ model }) => model.length)) + 2;
  return agents.flatMap((agent) => [
    `  ${bold(agent.name.padEnd(width))}${agent.model.padEnd(models)}${dim(toolsInWords(agent))}`,
    ...agent.problems.map((problem) => `    ${wrong} ${plain(problem)}`),
  ]);
}

export function toolsInWords({ servers, serversNotListed, tools, ownTools }: AgentReport): string {
  const of = counted(servers, 'server');
  const atServers =
    servers > 0 && serversNotListed === servers
      ? `${of}, whose tools are not listed`
      : servers > 0 && `${serversNotListed > 0 ? 'at least ' : ''}${counted(tools, 'tool')} from ${of}`;
  const own = ownTools > 0 && `${counted(ownTools, 'tool')} of its own`;
  return [atServers, own].filter(Boolean).join(', ') || 'no tools';
}

function lastLine(report: Report): string {
  const { errors, warnings } = countsOf(report);
  const looked = dim(
    ` · ${counted(report.servers.length, 'server')}, ${counted(report.agents.length, 'agent')}`,
  );
  const counts = [
    errors > 0 && counted(errors, 'error'),
    warnings > 0 && counted(warnings, 'warning'),
  ].filter(Boolean);
  return counts.length > 0 ? `  ${counts.join(', ')}${looked}` : `  ${good} nothing is missing${looked}`;
}

function wrapped(text: string): string[] {
  return plain(text)
    .split('\n')
    .map((line) => line.trim());
}
