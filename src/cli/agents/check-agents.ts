/** `interlude agents check`, from the agents file to its exit code. */
import type { AgentConfig, Config } from '../../config/config.ts';
import { duration } from '../../config/duration.ts';
import { mostToolsOf } from '../../models/tool-schema/provider-rules.ts';
import { createModels } from '../../models/provider.ts';
import { didYouMean } from '../../config/nearest-spelling.ts';
import { UsageError } from '../command.ts';
import { checkServer } from './check-server.ts';
import { reportLines } from './print-report.ts';
import { countsOf, exitCodeOf } from './report.ts';
import type { AgentReport, Report, ServerReport } from './report.ts';
import { toJsonText } from '../terminal-text.ts';

interface Values {
  server: string[];
  token: string[];
  timeout: string;
  json: boolean;
}

export async function checkAgents(
  config: Config,
  { server: named, token: given, timeout, json }: Values,
  { env, signal, print }: { env: NodeJS.ProcessEnv; signal: AbortSignal; print(text: string): void },
): Promise<number> {
  const known = [...config.servers.keys()];
  const tokens = new Map(given.map((text) => tokenOf(text)));
  for (const name of [...named, ...tokens.keys()])
    if (!config.servers.has(name))
      throw new UsageError(`There is no server "${name}"${didYouMean(name, known)}.`);
  const { data: timeoutMs } = duration.safeParse(timeout);
  if (timeoutMs === undefined) throw new UsageError(`--timeout ${timeout} is no duration; write 15s or 1m.`);
  const wanted = [...config.servers.values()].filter(
    ({ name }) => named.length === 0 || named.includes(name),
  );
  const servers = await Promise.all(
    wanted.map((server) => checkServer(server, { config, tokens, timeoutMs, env, signal })),
  );
  const agents = await Promise.all(
    [...config.agents.values()].map((agent) => checkAgent(config, agent, servers)),
  );
  const report: Report = { servers, agents };
  const exitCode = exitCodeOf(report);
  print(
    json
      ? `${toJsonText({ ...report, ...countsOf(report), exitCode }, 2)}\n`
      : `${reportLines(report).join('\n')}\n`,
  );
  return exitCode;
}

function tokenOf(text: string): [string, string] {
  const [, name = '', token = ''] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (token === '') throw new UsageError('--token is <server>=<token>.');
  return [name, token];
}

async function checkAgent(config: Config, agent: AgentConfig, servers: ServerReport[]): Promise<AgentReport> {
  const { name, model } = agent;
  const problems: string[] = [];
  await createModels(config)(model).catch((error: unknown) =>
    problems.push(error instanceof Error ? error.message : String(error)),
  );
  let tools = 0;
  for (const use of agent.servers) {
    const listed = servers.find((server) => server.name === use.name)?.tools;
    if (!listed) continue;
    const there = listed.map((tool) => tool.name);
    const missing = (use.tools ?? []).filter((tool) => !there.includes(tool));
    for (const tool of missing) problems.push(`${use.name} has no tool "${tool}"${didYouMean(tool, there)}`);
    tools += listed.filter(
      (tool) =>
        (use.tools?.includes(tool.name) ?? true) &&
        tool.leftOut === undefined &&
        !tool.models.some((one) => one.model === model && one.leftOut !== undefined),
    ).length;
  }
  const most = mostToolsOf(model);
  if (tools > most)
    problems.push(`${tools} tools are more than the ${most} that ${model} takes; list those it needs`);
  return { name, model, tools, problems };
}
