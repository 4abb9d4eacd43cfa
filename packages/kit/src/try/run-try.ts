/** `interlude try`, from the command line to the exit code. */
import { isSecretName, secretFields } from '@interlude-ai/core/elicitation/form/secret-fields.ts';
import type { AnswerSource, Question } from '../answers/source.ts';
import type { AnsweredRound, ToolCallReport } from '../call/call-events.ts';
import { callTool } from '../call/call-tool.ts';
import type { Cassette } from '../cassette/cassette.ts';
import type { Recorder } from '../cassette/record.ts';
import { ourCommand } from '../terminal/program-command.ts';
import { dim, oneLine, plain, toJsonText } from '../terminal/terminal-text.ts';
import { readSources } from './answer-sources.ts';
import type { SourceValues } from './answer-sources.ts';
import { atServer } from './at-server.ts';
import type { AtServer, Surroundings } from './at-server.ts';
import { checkWritable, readCallsToReplay, writeCassetteFile } from './cassette-file.ts';
import { checkToolArguments, chooseTool, fillArguments, findTool, readToolArguments } from './choose-tool.ts';
import { connectServer, withReason } from './connect-server.ts';
import type { Connected, ConnectOptions } from './connect-server.ts';
import { exitCodeOf, exitCodes } from './exit-codes.ts';
import { listTools, serverLine, toolBlock } from './list-tools.ts';
import type { ListedTool, ToolList } from './list-tools.ts';
import {
  callLine,
  createCallPrinter,
  differenceLines,
  endLine,
  remedyLines,
  resultText,
  showOutput,
  showStrayLine,
} from './print-call.ts';
import { targetAsTyped, targetInWords } from './read-connection.ts';
import type { ConnectionValues } from './read-connection.ts';
import type { GivenSource } from './try-options.ts';
import { withAccount } from './server-account.ts';

interface TryOptions extends AtServer {
  tool: string | undefined;
  /** As given: JSON or `key=value`. */
  args: string[];
  sources: AnswerSource[];
  maxRounds: number;
  /** The cassette file that the session is recorded in. */
  record: string | undefined;
  replay: Cassette | undefined;
}

interface TryValues extends ConnectionValues, SourceValues {
  tool?: string | undefined;
  args?: string[] | undefined;
  maxRounds: number;
  record?: string | undefined;
  replay?: string | undefined;
}

/** Resolves with the exit code. `words`: the server. Throws `UsageError`. */
export function tryWith(
  words: readonly string[],
  given: readonly GivenSource[],
  values: TryValues,
  around: Surroundings,
): Promise<number> {
  const { tool, args = [], maxRounds, record, replay } = values;
  return atServer(words, values, around, async (at) => {
    if (record !== undefined) await checkWritable(record);
    return runTry({
      ...at,
      tool,
      args,
      sources: await readSources(given, values, at),
      maxRounds,
      record,
      replay: replay === undefined ? undefined : await readCallsToReplay(replay),
    });
  });
}

async function runTry(options: TryOptions): Promise<number> {
  const { target, terminal, record: file, replay, account, canPrompt } = options;
  let recorder: Recorder | undefined;
  const connection: ConnectOptions = {
    ...options,
    onErrorOutput: showOutput(terminal),
    onStrayLine: showStrayLine(terminal),
    async onTransport(transport) {
      if (file === undefined) return;
      const { record } = await import('../cassette/record.ts');
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

/** Repeats the recorded calls at a server under test, and prints the differences. */
async function replayAt(options: TryOptions, connected: Connected, cassette: Cassette): Promise<number> {
  const { target, terminal, sources, timeoutMs, maxTimeMs, capabilities, signal, isJson, print } = options;
  const { replayCalls } = await import('../cassette/replay.ts');
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

/** Values that must not be in a recording. */
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
        `  Call one: ${ourCommand(`try --tool ${oneLine(first.name)} --args key=value ${targetAsTyped(target)}`)}\n`,
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
  // Some servers require a sign-in for calls only, not for the list of tools.
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

// The output of `--json` is part of the program's contract.

function serverToJson({ server, era, version, instructions }: Connected): object {
  return { ...server, era, protocolVersion: version, ...(instructions !== undefined && { instructions }) };
}

function listToJson(connected: Connected, { tools, problems }: ToolList): object {
  return { server: serverToJson(connected), tools, problems };
}

function reportToJson(connected: Connected, report: ToolCallReport): object {
  const { end, rounds, ...rest } = report;
  return {
    server: serverToJson(connected),
    ...rest,
    rounds: rounds.map(roundToJson),
    end: 'questions' in end ? { ...end, questions: end.questions.map(questionToJson) } : end,
    exitCode: exitCodeOf(end),
  };
}

function roundToJson({ round, questions, answers }: AnsweredRound): object {
  return {
    round,
    questions: questions.map((question) => {
      const answer = answers.find(({ key }) => key === question.key);
      return { ...questionToJson(question), ...(answer && { answer: withoutSecrets(question, answer) }) };
    }),
  };
}

function questionToJson({ key, request }: Question): object {
  return { key, ...request };
}

function withoutSecrets(
  { request, fields }: Question,
  { action, content, by }: AnsweredRound['answers'][number],
): object {
  const secret = request.mode === 'form' ? secretFields(fields, request.requestedSchema) : [];
  const open = Object.entries(content ?? {}).map(([name, value]) => [
    name,
    secret.includes(name) ? '••••' : value,
  ]);
  return { action, ...(content && { content: Object.fromEntries(open) as object }), by };
}
