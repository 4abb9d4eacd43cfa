/** `interlude lint-server`, from the connection to its exit code. */
import type { AnswerSource } from '../../testing/answers/source.ts';
import type { ConnectOptions } from '../try/connect-server.ts';
import { exitCodes, TryError } from '../try/exit-codes.ts';
import { listTools } from '../try/list-tools.ts';
import { findTool } from '../try/choose-tool.ts';
import { withAccount } from '../try/sign-in/server-account.ts';
import { showOutput, strayInWords } from '../try/server-output.ts';
import type { Target } from '../try/target.ts';
import type { Terminal } from '../try/terminal.ts';
import type { Calls } from './calls-file.ts';
import { lintCall } from './lint-tool.ts';
import { reportLines } from './print-report.ts';
import type { LintReport, ToolReport } from './report.ts';
import { exitCodeOf, toJson } from './report.ts';
import { toFinding } from './rules.ts';
import type { Finding } from './rules.ts';
import { createSessions } from './session.ts';
import type { Sessions } from './session.ts';
import { chooseTools } from './which-tools.ts';
import type { Chosen } from './which-tools.ts';
import { toJsonText } from '../terminal-text.ts';

export interface LintOptions extends ConnectOptions {
  target: Target;
  calls: Calls;
  /** Names of tools; none is all that say that they ask. */
  named: string[];
  all: boolean;
  /** Somebody sits here who can. */
  canSignIn: boolean;
  sources: AnswerSource[];
  maxRounds: number;
  maxTimeMs: number;
  isStrict: boolean;
  isJson: boolean;
  terminal: Terminal;
  print(text: string): void;
  signal: AbortSignal;
}

export async function runLint(options: LintOptions): Promise<number> {
  const { target, calls, named, all, isStrict, isJson, terminal, print } = options;
  const stray: string[] = [];
  const sessions = createSessions(target, {
    ...options,
    onErrorOutput: showOutput(terminal),
    onStrayLine: (line) => void (stray.length === 0 && stray.push(line)),
  });
  try {
    const { client, server, era, version } = await withAccount(options.account, options.canSignIn, () =>
      sessions.current(),
    );
    const { tools, problems } = await listTools(client, options);
    for (const name of [...named, ...calls.keys()]) findTool(tools, name);
    const reports: ToolReport[] = [];
    for (const chosen of chooseTools(tools, { calls, named, all })) {
      reports.push(await lintTool(chosen, sessions, options));
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
    await sessions.discard();
  }
}

async function lintTool(chosen: Chosen, sessions: Sessions, options: LintOptions): Promise<ToolReport> {
  const { terminal, sources, maxRounds, timeoutMs, maxTimeMs, capabilities, signal, target } = options;
  const { name } = chosen.tool;
  if (chosen.kind === 'left-out') return { name, leftOut: chosen.why, questions: 0, findings: [] };
  terminal.status(`  … ${name}`);
  const findings: Finding[] = [];
  const questions = new Set<string>();
  for (const input of chosen.calls) {
    const call = { maxRounds, timeoutMs, maxTimeMs, capabilities, signal };
    const linted = await lintCall(chosen.tool, input, {
      sessions,
      sources,
      options: call,
      isRemote: target.kind === 'http',
    });
    findings.push(...linted.findings);
    for (const question of linted.questions) questions.add(question);
  }
  return { name, questions: questions.size, findings };
}

/** What listing the tools said of them: `name: what is wrong`. */
function ofList(problem: string): Finding {
  const [, tool = '', message = problem] = /^([^:]+): (.*)$/s.exec(problem) ?? [];
  return toFinding(tool, { rule: 'tool-list', message });
}
