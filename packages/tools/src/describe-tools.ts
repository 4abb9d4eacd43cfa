/**
 * Reads what modules of tools define, and reports every mistake with its file and a remedy. It runs together with the
 * author's code, separately from the service, and makes no assumptions about what it reads.
 */
import type { z } from 'zod';
import { isRecord } from '@interlude-ai/core/elicitation/form/schema-keywords.ts';
import { toolMark } from './define-tool.ts';
import type { ToolAnnotations } from './define-tool.ts';
import { formHint } from './form-hint.ts';
import { readDuration } from '@interlude-ai/core/read-duration.ts';
import type { Duration } from '@interlude-ai/core/read-duration.ts';
import { isZodSchema, jsonSchemaOf } from './requested-schema.ts';

/** A tool's definition, as the model and people see it. */
export interface ToolDescription {
  name: string;
  title: string;
  description: string;
  inputSchema: Record<string, unknown>;
  outputSchema?: Record<string, unknown>;
  annotations?: ToolAnnotations;
  /** Clients may call it without a model. */
  expose?: true;
  /** The time limit of a tool with `execute`. Absent for a tool with `run`. */
  executeMs?: number;
  /** Name of its file in the folder. */
  file: string;
}

export interface DescribedTools {
  tools: ToolDescription[];
  problems: string[];
  /** Suggestions for the author. */
  hints: string[];
  /** All tools, including those with problems. */
  named: { file: string; name: unknown }[];
  /** Where the modules that could not be loaded threw, by file. */
  stacks: Record<string, string>;
}

/** Default time limit of `execute`. */
const usualExecuteMs = 60_000;

interface LoadedModule {
  file: string;
  load(): Promise<Record<string, unknown>>;
}

/** `activities`: the names of the functions that the folder's file of activities exports; null if there is no such file. */
export async function describeTools(
  modules: LoadedModule[],
  activities: readonly string[] | null,
): Promise<DescribedTools> {
  const problems: string[] = [];
  const stacks: Record<string, string> = {};
  const loaded: ToolModule[] = [];
  for (const { file, load } of modules) {
    try {
      loaded.push({ file, exports: await load() });
    } catch (error) {
      problems.push(`${file}: it throws when it is loaded: ${wordsOf(error)}`);
      if (isRecord(error) && typeof error['stack'] === 'string') stacks[file] = error['stack'];
    }
  }
  const found = toolsOf(loaded);
  for (const { file, exports } of loaded) problems.push(...unmarkedTools(file, exports));
  const tools = found.flatMap((tool) => {
    const wrong = [...problemsIn(tool, activities)];
    problems.push(...wrong.map((problem) => `${tool.file}: ${whatOf(tool)} ${problem}`));
    return wrong.length === 0 ? [descriptionOf(tool)] : [];
  });
  const hints = found.flatMap((tool) => {
    const hint = formHint(tool.definition);
    return hint === null ? [] : [`${tool.file}: ${whatOf(tool)} ${hint}`];
  });
  return {
    tools,
    problems,
    hints,
    named: found.map(({ file, definition }) => ({ file, name: definition['name'] })),
    stacks,
  };
}

/** Problems that show only when all modules of a folder are considered. */
export function problemsTogether(
  { named, problems }: Pick<DescribedTools, 'named' | 'problems'>,
  files: readonly string[],
): string[] {
  if (named.length === 0 && problems.length === 0)
    return [`no file exports a tool (${files.join(', ')}); export what defineTool({ … }) returns`];
  return clashesIn(named);
}

function whatOf({ exported, definition }: FoundTool): string {
  return typeof definition['name'] === 'string' && definition['name'] !== ''
    ? `the tool ${definition['name']}`
    : `the tool exported as ${exported}`;
}

/** Values that look like a tool but were not made by `defineTool`: they would be ignored silently. */
function unmarkedTools(file: string, exports: Record<string, unknown>): string[] {
  return Object.entries(exports).flatMap(([exported, value]) =>
    isRecord(value) &&
    (typeof value['run'] === 'function' || typeof value['execute'] === 'function') &&
    'name' in value &&
    toolsOf([{ file, exports: { exported: value } }]).length === 0
      ? [`${file}: ${exported} is not made by defineTool; write export const ${exported} = defineTool({ … })`]
      : [],
  );
}

function clashesIn(found: DescribedTools['named']): string[] {
  return [...Map.groupBy(found, ({ name }) => name)].flatMap(([name, tools]) => {
    const files = [...new Set(tools.map(({ file }) => file))];
    return typeof name === 'string' && tools.length > 1
      ? [`${files.join(' and ')}: ${tools.length} tools are named ${name}; rename all but one`]
      : [];
  });
}

const members = new Set([
  'name',
  'title',
  'description',
  'input',
  'output',
  'annotations',
  'expose',
  'execute',
  'timeout',
  'idempotent',
  'activities',
  'run',
]);
const hints = new Set(['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint']);

function* problemsIn({ definition }: FoundTool, activities: readonly string[] | null): Generator<string> {
  const { name, title, description, input, output, annotations } = definition;
  yield* problemsInName(name);
  if (title !== undefined && !isText(title)) yield 'has a title that says nothing; write one or remove it';
  if (!isText(description)) yield 'has no description; say what it does and when to use it';
  yield* problemsInForm(definition);
  if (!isObjectSchema(input)) yield `has an input that is ${wrongSchema(input)}`;
  else yield* problemsInSchema('input', input);
  if (output !== undefined) {
    if (!isZodSchema(output)) yield `has an output that is ${wrongSchema(output)}`;
    else yield* problemsInSchema('output', output);
  }
  if (annotations !== undefined) yield* problemsInAnnotations(annotations);
  const { expose } = definition;
  if (expose !== undefined && typeof expose !== 'boolean') yield 'has an expose that is not true or false';
  if (expose === true && typeof name === 'string') yield* problemsInExposedName(name);
  if (expose === true && isObjectSchema(input) && marksHeaders(input))
    yield 'is exposed and marks an argument with x-mcp-header, which the service does not read; remove the mark';
  if (definition['execute'] === undefined) yield* problemsInActivities(definition['activities'], activities);
  for (const member of Object.keys(definition))
    if (!members.has(member)) yield `has a member ${member}, which a tool has not; remove it`;
}

/** A tool has `execute` or `run`. */
function* problemsInForm(definition: Record<string, unknown>): Generator<string> {
  const { execute, run, timeout, idempotent, activities } = definition;
  if (execute === undefined && run === undefined)
    return yield 'has neither execute nor run; write async execute(input, context) { … }';
  if (execute !== undefined && run !== undefined)
    return yield 'has both execute and run; keep run where it asks, else execute';
  if (typeof (execute ?? run) !== 'function')
    return yield `has ${run === undefined ? 'an execute' : 'a run'} that is no function`;
  if (run !== undefined) {
    if (timeout !== undefined || idempotent !== undefined)
      yield 'has run, so that timeout and idempotent belong into activities({ … })';
    return;
  }
  if (activities !== undefined)
    yield 'has execute, which calls activities as the functions that they are; remove activities and import them';
  if (idempotent !== undefined && typeof idempotent !== 'boolean')
    yield 'has an idempotent that is not true or false';
  try {
    if (timeout !== undefined) readDuration(timeout as Duration);
  } catch (error) {
    yield `has a timeout that cannot be read: ${wordsOf(error)}`;
  }
}

function* problemsInName(name: unknown): Generator<string> {
  if (typeof name !== 'string' || !/^[a-z][a-z0-9_]{0,63}$/.test(name))
    yield 'needs a name of 1 to 64 characters a-z, 0-9 and _ that begins with a letter';
  else if (name.includes('__'))
    yield 'has two underscores in a row in its name, as tools of servers have; write one';
  else if (name.startsWith('connect_'))
    yield 'has a name with connect_, as our own for accounts have; choose another';
  else if (name === 'ask_user' || name === 'agent')
    yield 'has a name that the service uses itself; choose another';
}

/** MCP clients also see the service's own tools. */
function* problemsInExposedName(name: string): Generator<string> {
  if (name.startsWith('ask_') || ['list_my_questions', 'answer_question', 'wait_for_turn'].includes(name))
    yield 'is exposed under a name that a tool of the service has; choose another';
}

/** Clients would have to send such an argument as an HTTP header too, and clients on stdio send none. */
function marksHeaders(input: z.core.$ZodType): boolean {
  let isMarked = false;
  JSON.stringify(jsonSchemaOf(input, 'any'), (key, value: unknown) => {
    isMarked ||= key === 'x-mcp-header';
    return value;
  });
  return isMarked;
}

function* problemsInSchema(member: string, schema: z.core.$ZodType): Generator<string> {
  try {
    jsonSchemaOf(schema, 'throw');
  } catch (error) {
    const field =
      isObjectSchema(schema) && Object.entries(schema.shape).find(([, one]) => !isShowable(one))?.[0];
    const where = field ? `${member}.${field}` : member;
    yield `has in ${where} what JSON cannot say (${wordsOf(error)}); use texts, numbers, booleans, lists and objects`;
  }
}

function isShowable(schema: unknown): boolean {
  try {
    return isZodSchema(schema) && Boolean(jsonSchemaOf(schema, 'throw'));
  } catch {
    return false;
  }
}

function* problemsInAnnotations(annotations: unknown): Generator<string> {
  if (!isRecord(annotations)) return yield 'has annotations that are no object';
  for (const [name, value] of Object.entries(annotations)) {
    if (name === 'title' ? !isText(value) : !hints.has(name))
      yield `has an annotation ${name}; there are title, ${[...hints].join(', ')}`;
    else if (name !== 'title' && typeof value !== 'boolean')
      yield `has an annotation ${name} that is not true or false`;
  }
}

function* problemsInActivities(declared: unknown, there: readonly string[] | null): Generator<string> {
  if (declared === undefined) return;
  if (!isRecord(declared))
    return yield 'has activities that are not made by activities(); write activities<typeof import("./activities.ts")>()';
  if (there === null) return yield 'declares activities, but the folder has no activities.ts; write it';
  const { idempotent = [] } = declared;
  for (const name of Array.isArray(idempotent) ? idempotent : [])
    if (!there.includes(String(name)))
      yield `calls ${String(name)} idempotent, which the file of activities does not export`;
}

function descriptionOf({ file, definition }: FoundTool): ToolDescription {
  const { name, title, description, input, output, annotations, expose, execute } = definition as {
    name: string;
    title?: string;
    description: string;
    input: z.core.$ZodType;
    output?: z.core.$ZodType;
    annotations?: ToolAnnotations;
    expose?: boolean;
    execute?: unknown;
  };
  return {
    name,
    title: titleOf(name, title ?? annotations?.title),
    description,
    inputSchema: jsonSchemaOf(input, 'throw'),
    ...(output && { outputSchema: jsonSchemaOf(output, 'throw') }),
    ...(annotations && { annotations }),
    ...(expose === true && { expose }),
    ...(execute !== undefined && { executeMs: executeMsOf(definition) }),
    file,
  };
}

function executeMsOf({ timeout }: Record<string, unknown>): number {
  return timeout === undefined ? usualExecuteMs : readDuration(timeout as Duration);
}

/** The tools of a folder with `execute`, ready to run. */
export function plainToolsOf(modules: readonly ToolModule[]): Record<string, unknown>[] {
  return toolsOf(modules).flatMap(({ definition }) => {
    const { name, title, annotations, execute } = definition as {
      name: string;
      title?: string;
      annotations?: ToolAnnotations;
      execute?: unknown;
    };
    if (execute === undefined) return [];
    const named = { title: titleOf(name, title ?? annotations?.title) };
    return [{ ...definition, ...named, timeoutMs: executeMsOf(definition) }];
  });
}

/** `delete_page` is shown as "Delete page". */
export function titleOf(name: string, title?: string): string {
  const words = name.replaceAll('_', ' ');
  return title ?? words.charAt(0).toUpperCase() + words.slice(1);
}

function isObjectSchema(schema: unknown): schema is z.core.$ZodObject & { shape: Record<string, unknown> } {
  return isZodSchema(schema) && schema._zod.def.type === 'object';
}

function wrongSchema(schema: unknown): string {
  if (isRecord(schema) && '_def' in schema && !('_zod' in schema)) return 'a schema of zod 3; install zod 4';
  return isZodSchema(schema)
    ? `a schema of a ${schema._zod.def.type}; write z.object({ … })`
    : 'no zod schema; write z.object({ … })';
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '';
}

function wordsOf(error: unknown): string {
  const words = isRecord(error) && typeof error['message'] === 'string' ? error['message'] : String(error);
  return words.split('\n', 1)[0] ?? words;
}

interface ToolModule {
  file: string;
  exports: Record<string, unknown>;
}

interface FoundTool {
  file: string;
  exported: string;
  definition: Record<string, unknown>;
}

/**
 * The tools among the exports of modules, in the order of files and names, so that it is the same on every machine. A tool
 * that is exported twice is one tool.
 */
export function toolsOf(modules: readonly ToolModule[]): FoundTool[] {
  const seen = new Set<unknown>();
  return modules.flatMap(({ file, exports }) =>
    Object.keys(exports)
      .toSorted()
      .flatMap((exported) => {
        const value = exports[exported];
        if (typeof value !== 'object' || value === null || !(toolMark in value) || seen.has(value)) return [];
        seen.add(value);
        return [{ file, exported, definition: value as Record<string, unknown> }];
      }),
  );
}
