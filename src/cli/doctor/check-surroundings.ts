/** What is around the service: settings, sign-in, agents and their servers, the public address, and disks. */
import { existsSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { ConfigError } from '@interlude-ai/core/config-error.ts';
import { counted } from '@interlude-ai/kit/terminal/terminal-text.ts';
import type { Config } from '../../platform/config/config.ts';
import { needsOf } from '../../platform/config/environment.ts';
import type { ProcessKind } from '../../platform/config/environment.ts';
import { loadConfig } from '../../platform/config/load-config.ts';
import {
  discoverIssuer,
  fetchSoon,
  IssuerError,
  whyUnreachable,
} from '../../platform/network/openid-issuer.ts';
import { publicUrlWarning } from '../../platform/processes/api-process.ts';
import { toolsInWords } from '../agents/agents-report.ts';
import type { Report, ServerReport } from '../agents/agents-report.ts';
import { inMegabytes } from './check-database.ts';
import { checkLoginClient } from './check-secrets.ts';
import { ok, problem, problemOf } from './findings.ts';
import type { Finding } from './findings.ts';

/** As `interlude config check`, but for the issuer, which is checked apart. */
export function readSettings(
  env: NodeJS.ProcessEnv,
  cwd: string,
  kind: ProcessKind,
): { config: Config | null; findings: Finding[] } {
  const unread = (warnings: readonly string[]) => warnings.map((one) => problem('settings-unread', one));
  try {
    const config = loadConfig(env, cwd, needsOf[kind]);
    const file = path.relative(cwd, config.configFile);
    const shown = file.startsWith('..') ? config.configFile : file;
    return { config, findings: [ok(`no mistakes; agents file ${shown}`), ...unread(config.warnings)] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const wrong = error.problems.map((one) => problemOf('settings-wrong', one));
    return { config: null, findings: [...wrong, ...unread(error.warnings)] };
  }
}

/** A worker needs none; `interlude start` brings the demo's. */
export async function checkIssuer(
  { auth, http }: Pick<Config, 'auth' | 'http'>,
  kind: ProcessKind,
): Promise<Finding[]> {
  if (!auth) return kind === 'start' ? [ok("the demo's sign-in, which the start brings along")] : [];
  try {
    const { jwksUri } = await discoverIssuer(auth.issuer);
    const lack = await signingKeysLack(jwksUri);
    return [
      lack === null ? ok(`${auth.issuer} answers, with signing keys`) : problem('issuer-keys', lack),
      await checkLoginClient(auth, http.publicUrl),
    ];
  } catch (error) {
    if (!(error instanceof IssuerError)) throw error;
    return [problemOf('issuer-away', error.message)];
  }
}

async function signingKeysLack(jwksUri: string): Promise<string | null> {
  try {
    const response = await fetchSoon(jwksUri);
    const { keys } = (response.ok ? await response.json() : {}) as { keys?: unknown };
    if (Array.isArray(keys) && keys.length > 0) return null;
    return `there are no signing keys at ${jwksUri} (HTTP ${response.status})`;
  } catch (error) {
    return `${jwksUri} cannot be read: ${whyUnreachable(error)}`;
  }
}

/** What `interlude agents check` found. */
export function agentFindings({ servers, agents }: Report): Finding[] {
  // Agents that share a folder of tools share what is wrong with it.
  const lacking = Map.groupBy(
    agents.flatMap(({ name, problems }) => problems.map((text) => ({ name, text }))),
    ({ text }) => text,
  );
  return [
    ...servers.flatMap(serverFindings),
    ...agents
      .filter(({ problems }) => problems.length === 0)
      .map((agent) => ok(`${agent.name}: ${agent.model}, ${toolsInWords(agent)}`)),
    ...Array.from(lacking, ([text, those]) =>
      problemOf('agent-lacks', `${those.map(({ name }) => name).join(', ')}: ${text}`),
    ),
  ];
}

function serverFindings(server: ServerReport): Finding[] {
  const { name, protocol, answered, signIn, brokenDocuments, tools, problem: lack } = server;
  const missed = (tools ?? []).flatMap(({ name: tool, leftOut, models }) => {
    const reason = leftOut ?? models.find((one) => one.leftOut !== undefined)?.leftOut;
    return reason === undefined ? [] : problem('server-tool', `${name}: ${tool} is left out: ${reason}`);
  });
  return [
    ...(lack === undefined ? [] : [problem('server-away', `${name}: ${lack}`)]),
    ...(signIn.kind === 'failed' ? [problem('server-sign-in', `${name}: ${signIn.why}`)] : []),
    ...(signIn.kind === 'oauth' && signIn.client === 'none'
      ? [problem('server-client', `${name}: we have no client at its sign-in server ${signIn.issuer}`)]
      : []),
    ...(signIn.kind === 'oauth' && signIn.refusal !== undefined
      ? [problem('server-client-refused', `${name}: ${signIn.issuer} refuses our client (${signIn.refusal})`)]
      : []),
    ...(lack === undefined && signIn.kind !== 'failed' ? [ok(`${name}: ${inWords(answered, tools)}`)] : []),
    ...brokenDocuments.map((one) => problem('server-document', `${name}: ${one}`)),
    ...missed,
  ];

  function inWords(itself: ServerReport['answered'], listed: ServerReport['tools']): string {
    const version = itself ? ` ${itself.calledIn ?? itself.protocolVersion}` : '';
    const signsIn = signIn.kind === 'oauth' && `sign-in at ${signIn.issuer}`;
    return [protocol + version, signsIn, listed && counted(listed.length, 'tool')].filter(Boolean).join(', ');
  }
}

export async function checkAddress({ http: { publicUrl } }: Pick<Config, 'http'>): Promise<Finding[]> {
  const warning = publicUrlWarning(publicUrl);
  const unsafe = warning === null ? [] : [problemOf('address-unsafe', warning)];
  return [...unsafe, ...(await answerAt(publicUrl))];
}

/** The part of `/readyz` that is read. */
const readinessSchema = z.object({
  status: z.enum(['ready', 'not ready']),
  notReady: z.array(z.object({ detail: z.string() })).default([]),
  warnings: z.array(z.object({ detail: z.string() })).default([]),
});

async function answerAt(publicUrl: string): Promise<Finding[]> {
  try {
    const response = await fetchSoon(`${publicUrl.replace(/\/$/, '')}/readyz`);
    const { data } = readinessSchema.safeParse(await response.json().catch(() => null));
    if (!data)
      return [
        problem('address-unanswered', `no Interlude answers at ${publicUrl} (HTTP ${response.status})`),
      ];
    const { status, notReady, warnings } = data;
    return [
      ...(status === 'ready' ? [ok(`an Interlude answers at ${publicUrl}, and is ready`)] : []),
      ...notReady.map(({ detail }) =>
        problemOf('process-not-ready', `the process at ${publicUrl}: ${detail}`),
      ),
      ...warnings.map(({ detail }) => problemOf('process-warning', `the process at ${publicUrl}: ${detail}`)),
    ];
  } catch (error) {
    const why = whyUnreachable(error).replace(/;.*/, '');
    return [problem('address-unanswered', `${publicUrl} cannot be reached: ${why}`)];
  }
}

const low = { share: 0.1, bytes: 2e9 };
const almostNothing = 200e6;

export async function checkDisks({ dataDir }: Pick<Config, 'dataDir'>): Promise<Finding[]> {
  const folders = [existingPart(dataDir), tmpdir()];
  // Of each disk one folder.
  const disks = new Map(folders.map((folder) => [statSync(folder).dev, folder]));
  return Promise.all(
    [...disks.values()].map(async (folder) => {
      const { bavail, blocks, bsize } = await statfs(folder);
      return diskFinding(folder, bavail * bsize, blocks * bsize);
    }),
  );
}

/** In bytes. */
export function diskFinding(folder: string, free: number, total: number): Finding {
  const text = `${folder}: ${inMegabytes(free)} of ${inMegabytes(total)} are free`;
  if (free < almostNothing) return problem('disk-full', text);
  return free < low.bytes && free < low.share * total ? problem('disk-low', text) : ok(text);
}

function existingPart(folder: string): string {
  return existsSync(folder) ? folder : existingPart(path.dirname(folder));
}
