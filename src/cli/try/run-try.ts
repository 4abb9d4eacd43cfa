/** `interlude try`, from the connection to its exit code. */
import type { Capabilities } from '../../elicitation/capabilities.ts';
import type { AnswerSource } from '../../testing/answers/source.ts';
import type { ToolCallReport } from '../../testing/call/call-events.ts';
import { callTool } from '../../testing/call/call-tool.ts';
import type { Era } from '../../testing/call/read-answer.ts';
import { dim, oneLine, plain } from '../chat/wording.ts';
import { isSecretName } from '../../elicitation/form/secret-fields.ts';
import type { Cassette } from '../../testing/cassette/cassette.ts';
import type { Recorder } from '../../testing/cassette/record.ts';
import { writeCassetteFile } from './cassette-file.ts';
import { differenceLines } from './print-differences.ts';
import { chooseTool, fillArguments, findTool } from './choose-tool.ts';
import { connectServer } from './connect-server.ts';
import type { Connected, ConnectOptions } from './connect-server.ts';
import { exitCodeOf, exitCodes } from './exit-codes.ts';
import { listTools } from './list-tools.ts';
import type { ListedTool } from './list-tools.ts';
import { callLine, createCallPrinter, endLine, remedyLines } from './print-call.ts';
import { resultText } from './print-result.ts';
import { serverLine, toolBlock } from './print-tools.ts';
import { showOutput, showStrayLine } from './server-output.ts';
import { withAccount } from './sign-in/server-account.ts';
import type { ServerAccount } from './sign-in/server-account.ts';
import { targetAsTyped, targetInWords } from './target.ts';
import type { Target } from './target.ts';
import type { Terminal } from './terminal.ts';
import { listToJson, reportToJson } from './to-json.ts';
import { withReason } from './why-gone.ts';
import { checkToolArguments, readToolArguments } from './tool-arguments.ts';
import { toJsonText } from '../terminal-text.ts';

export interface TryOptions {
  target: Target;
  tool: string | undefined;
  /** As given: JSON or `key=value`. */
  args: string[];
  era: Era | 'auto';
  capabilities: Capabilities;
  headers: Headers;
  sources: AnswerSource[];
  maxRounds: number;
  timeoutMs: number;
  maxTimeMs: number;
  env: NodeJS.ProcessEnv;
  isJson: boolean;
  /** Whether somebody at the terminal can be prompted for a tool and its arguments. */
  canPrompt: boolean;
  /** The file that the session is recorded in, as a cassette. */
  record: string | undefined;
  replay: Cassette | undefined;
  /** For a server that requires a sign-in. */
  account: ServerAccount | undefined;
  terminal: Terminal;
  /** For what can be piped: the list, the result, the JSON. */
  print(text: string): void;
  signal: AbortSignal;
}

export async function runTry(options: TryOptions): Promise<number> {
  const { target, terminal, record: file, replay, account, canPrompt } = options;
  let recorder: Recorder | undefined;
  const connection: ConnectOptions = {
    ...options,
    onErrorOutput: showOutput(terminal),
    onStrayLine: showStrayLine(terminal),
    async onTransport(transport) {
      if (file === undefined) return;
      const { record } = await import('../../testing/cassette/record.ts');
      recorder = record(transport, { secrets: { [Symbol.iterator]: () => secretsIn(options) } });
    },
  };
  const connected = await withAccount(account, canPrompt, () => connectServer(target, connection));
  try {
    if (replay) return await replayAt(options, connected, replay);
    return await listAndCall(options, connected, await listTools(connected.client, options));
  } finally {
    await connected.close();
    if (file !== undefined && recorder) {
      await writeCassetteFile(file, recorder.text());
      terminal.line(dim(`  Recorded in ${file}\n`));
    }
  }
}

/** Repeats the recorded calls at a server under test, and prints what differs. */
async function replayAt(options: TryOptions, connected: Connected, cassette: Cassette): Promise<number> {
  const { target, terminal, sources, timeoutMs, maxTimeMs, capabilities, signal, isJson, print } = options;
  const { replayCalls } = await import('../../testing/cassette/replay.ts');
  terminal.line(`\n${serverLine(connected, targetInWords(target))}`);
  const onEvent = createCallPrinter(terminal);
  const call = { answers: sources, timeoutMs, maxTimeMs, capabilities, signal, onEvent };
  const { reports, differences } = await replayCalls(connected.client, cassette, call);
  for (const report of reports)
    terminal.line(`\n${callLine(report.tool, report.arguments)}\n${endLine(report)}`);
  for (const difference of differences) for (const line of differenceLines(difference)) terminal.line(line);
  if (differences.length > 0) terminal.line(dim('\n  - recorded  + now\n'));
  if (differences.length === 0)
    terminal.line(`\n  ✓ as it was recorded: ${reports.length} of ${reports.length} calls\n`);
  if (isJson) print(`${toJsonText({ differences }, 2)}\n`);
  return differences.length === 0 ? exitCodes.done : exitCodes.toolError;
}

/** Values that must not get into a recording. */
function* secretsIn({ headers, account }: TryOptions): Generator<string> {
  if (account) yield* account.secrets();
  for (const [name, value] of headers)
    if (isSecretName(name) || ['authorization', 'cookie', 'x-api-key'].includes(name)) {
      yield value;
      yield value.replace(/^\w+ /, '');
    }
}

async function listAndCall(
  options: TryOptions,
  connected: Connected,
  list: Awaited<ReturnType<typeof listTools>>,
): Promise<number> {
  const { target, terminal, canPrompt, isJson, print, signal } = options;
  terminal.line(`\n${serverLine(connected, targetInWords(target))}\n`);
  if (options.tool !== undefined) return callOne(options, connected, findTool(list.tools, options.tool));
  if (isJson) {
    print(`${toJsonText(listToJson(connected, list), 2)}\n`);
    return exitCodes.done;
  }
  for (const tool of list.tools) print(`${toolBlock(tool).join('\n')}\n\n`);
  for (const problem of list.problems) terminal.line(`  ✗ ${plain(problem)}`);
  if (list.tools.length === 0) terminal.line('  It has no tools.');
  const chosen = canPrompt ? await chooseTool(terminal, list.tools, signal) : null;
  if (chosen) return callOne(options, connected, chosen);
  const [first] = list.tools;
  if (first && !canPrompt)
    terminal.line(
      dim(
        `  Call one: interlude try --tool ${oneLine(first.name)} --args key=value ${targetAsTyped(target)}\n`,
      ),
    );
  return exitCodes.done;
}

async function callOne(options: TryOptions, connected: Connected, tool: ListedTool): Promise<number> {
  const { terminal, sources, maxRounds, timeoutMs, maxTimeMs, capabilities, signal, canPrompt, args } =
    options;
  const given = readToolArguments(args, tool.inputSchema);
  const input = canPrompt && args.length === 0 ? await fillArguments(terminal, tool, given, signal) : given;
  if (input === null) return exitCodes.done;
  checkToolArguments(tool.name, input, tool.inputSchema);
  terminal.line(callLine(tool.name, input));
  const { name, inputSchema, outputSchema } = tool;
  const call = { name, arguments: input, inputSchema, outputSchema };
  const onEvent = createCallPrinter(terminal);
  // Again: some servers require a sign-in for calls only, not for the list of tools.
  const report = await withAccount(options.account, canPrompt, () =>
    callTool(connected.client, call, {
      answers: sources,
      maxRounds,
      timeoutMs,
      maxTimeMs,
      capabilities,
      signal,
      onEvent,
    }),
  );
  const explained = withReason(report, connected.gone());
  show(options, connected, explained);
  return exitCodeOf(explained.end);
}

function show({ terminal, isJson, print }: TryOptions, connected: Connected, report: ToolCallReport): void {
  if (report.end.kind === 'result') terminal.line();
  if (isJson) print(`${toJsonText(reportToJson(connected, report), 2)}\n`);
  else if (report.end.kind === 'result') print(resultText(report.end.result));
  terminal.line();
  for (const line of [endLine(report), ...remedyLines(report)]) terminal.line(line);
  terminal.line();
}
