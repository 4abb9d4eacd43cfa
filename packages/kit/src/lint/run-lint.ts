/** `interlude lint-server`, from the command line to the exit code. */
import type { AnswerSource } from '../answers/source.ts';
import { toJsonText } from '../terminal/terminal-text.ts';
import { readSources } from '../try/answer-sources.ts';
import type { SourceValues } from '../try/answer-sources.ts';
import { atServer } from '../try/at-server.ts';
import type { AtServer, Surroundings } from '../try/at-server.ts';
import { findTool } from '../try/choose-tool.ts';
import { exitCodes, TryError } from '../try/exit-codes.ts';
import { listTools } from '../try/list-tools.ts';
import { showOutput, strayInWords } from '../try/print-call.ts';
import type { ConnectionValues } from '../try/read-connection.ts';
import { withAccount } from '../try/server-account.ts';
import type { GivenSource } from '../try/try-options.ts';
import { exitCodeOf, reportLines, toJson } from './lint-report.ts';
import type { LintedTool, LintReport } from './lint-report.ts';
import { lintCall } from './lint-tool.ts';
import { toFinding } from './rules.ts';
import type { Finding } from './rules.ts';
import { ServerConnections } from './server-connections.ts';
import { chooseTools, readCallsFile } from './which-tools.ts';
import type { Calls, Chosen } from './which-tools.ts';

interface LintOptions extends AtServer {
  calls: Calls;
  /** Names of tools; empty for all that say that they ask. */
  named: string[];
  all: boolean;
  sources: AnswerSource[];
  isStrict: boolean;
}

const maxRounds = 5;

interface LintValues extends ConnectionValues, SourceValues {
  calls?: string | undefined;
  tool?: string[] | undefined;
  all?: boolean | undefined;
  strict?: boolean | undefined;
}

/** Resolves with the exit code. `words`: the server. Throws `UsageError`. */
export function lintWith(
  words: readonly string[],
  given: readonly GivenSource[],
  values: LintValues,
  around: Surroundings,
): Promise<number> {
  const { calls, tool = [], all = false, strict = false } = values;
  return atServer(words, values, around, async (at) =>
    runLint({
      ...at,
      calls: calls === undefined ? new Map() : await readCallsFile(calls),
      named: tool,
      all,
      sources: await readSources(given, values, { ...at, canPrompt: false }),
      isStrict: strict,
    }),
  );
}

async function runLint(options: LintOptions): Promise<number> {
  const { target, calls, named, all, isStrict, isJson, terminal, print } = options;
  const stray: string[] = [];
  const connections = new ServerConnections(target, {
    ...options,
    onErrorOutput: showOutput(terminal),
    onStrayLine: (line) => void (stray.length === 0 && stray.push(line)),
  });
  try {
    const { client, server, era, version } = await withAccount(options.account, options.canPrompt, () =>
      connections.current(),
    );
    const { tools, problems } = await listTools(client, options);
    for (const name of [...named, ...calls.keys()]) findTool(tools, name);
    const reports: LintedTool[] = [];
    for (const chosen of chooseTools(tools, { calls, named, all })) {
      reports.push(await lintTool(chosen, connections, options));
      if (options.signal.aborted) throw new TryError(exitCodes.interrupted, 'Stopped.');
    }
    const report: LintReport = {
      server: { ...server, era, protocolVersion: version },
      tools: reports,
      findings: [
        ...stray.map((line) =>
          toFinding('the server', { rule: 'stray-output', message: strayInWords(line) }),
        ),
        ...problems.map(ofList),
        ...reports.flatMap(({ findings }) => findings),
      ],
    };
    terminal.status('');
    const exitCode = exitCodeOf(report, isStrict);
    if (isJson) print(`${toJsonText(toJson(report, exitCode), 2)}\n`);
    else print(`${reportLines(report, target).join('\n')}\n`);
    return exitCode;
  } finally {
    await connections.discard();
  }
}

async function lintTool(
  chosen: Chosen,
  connections: ServerConnections,
  options: LintOptions,
): Promise<LintedTool> {
  const { terminal, sources, timeoutMs, maxTimeMs, capabilities, signal, target } = options;
  const { name } = chosen.tool;
  if (chosen.kind === 'left-out') return { name, leftOut: chosen.why, questions: 0, findings: [] };
  terminal.status(`  … ${name}`);
  const findings: Finding[] = [];
  const questions = new Set<string>();
  for (const input of chosen.calls) {
    const call = { maxRounds, timeoutMs, maxTimeMs, capabilities, signal };
    const linted = await lintCall(chosen.tool, input, {
      connections,
      sources,
      options: call,
      isRemote: target.kind === 'http',
    });
    findings.push(...linted.findings);
    for (const question of linted.questions) questions.add(question);
  }
  return { name, questions: questions.size, findings };
}

/** A problem from listing the tools: `name: what is wrong`. */
function ofList(problem: string): Finding {
  const [, tool = '', message = problem] = /^([^:]+): (.*)$/s.exec(problem) ?? [];
  return toFinding(tool, { rule: 'tool-list', message });
}
