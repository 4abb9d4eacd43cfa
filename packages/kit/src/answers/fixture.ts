/** Answers that were written down, by the server's id, words of the message, or names of fields. Answers for a tool take precedence. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { fileTrouble } from '@interlude-ai/core/file-trouble.ts';
import { readDuration } from '@interlude-ai/core/read-duration.ts';
import type { Duration } from '@interlude-ai/core/read-duration.ts';
import { SourceError } from './source.ts';
import type { Answer, AnswerSource, Question, Round } from './source.ts';

const content = z.record(z.string(), z.unknown());
const duration = z.custom<Duration>(isDuration, 'is no duration; write for example 500ms or 2s');
const only = z.literal(true, 'must be true');

const roundPattern = /^(?:[<>]=?)?\s*\d+$|^\d+\s*-\s*\d+$/;

const entrySchema = z
  .strictObject({
    id: z.string().optional(),
    message: z.string().optional(),
    field: z.string().optional(),
    mode: z.enum(['form', 'url']).optional(),
    round: z
      .union([z.int().positive(), z.string()])
      .refine((round) => roundPattern.test(String(round)), 'is no round; write 2, ">1", "<=3" or "2-4"')
      .optional(),
    accept: z.union([only, content], { error: 'must be true, or the fields of the form' }).optional(),
    decline: only.optional(),
    cancel: only.optional(),
    delay: duration.optional(),
  })
  .refine(
    ({ accept, decline, cancel }) =>
      [accept, decline, cancel].filter((one) => one !== undefined).length === 1,
    {
      error: 'needs exactly one of accept, decline and cancel',
    },
  );

const setSchema = z.strictObject({
  /** By the server's id: a content, a single value, or an entry. */
  inputResponses: z.record(z.string(), z.unknown()).optional(),
  questions: z.array(entrySchema).optional(),
  /** For forms whose required fields are all named here. */
  fields: content.optional(),
});

const fixtureSchema = setSchema.extend({
  tools: z
    .record(z.string(), z.union([z.array(entrySchema).transform((questions) => ({ questions })), setSchema]))
    .optional(),
});

type Entry = z.output<typeof entrySchema>;
type AnswerSet = z.output<typeof setSchema>;
/** The content of a file of answers. */
export type Fixture = z.input<typeof fixtureSchema>;

/** Throws `TypeError` with the wrong place in `fixture`. */
export function fixtureAnswers(
  fixture: Fixture,
  { name = 'the fixture' }: { name?: string } = {},
): AnswerSource {
  const { data, error } = fixtureSchema.safeParse(fixture);
  if (!data) throw new TypeError(firstProblem(error));
  for (const set of [data, ...Object.values(data.tools ?? {})])
    set.questions?.forEach(({ message }) => message !== undefined && matcherOf(message));
  return {
    name,
    kind: 'file',
    async answer(round, { signal }) {
      const ofTool = Object.hasOwn(data.tools ?? {}, round.tool) ? data.tools?.[round.tool] : undefined;
      const answers = new Map<string, Answer>();
      for (const question of round.questions) {
        const found = (ofTool && find(ofTool, question, round)) ?? find(data, question, round);
        if (!found) continue;
        if (found.delay !== undefined) await wait(readDuration(found.delay), undefined, { signal });
        answers.set(question.key, found.answer);
      }
      return answers;
    },
  };
}

interface Found {
  answer: Answer;
  delay?: Duration | undefined;
}

function find(set: AnswerSet, question: Question, round: Round): Found | undefined {
  const { inputResponses = {}, questions = [], fields } = set;
  const id = [question.key, question.pageId].find(
    (one) => one !== undefined && Object.hasOwn(inputResponses, one),
  );
  if (id !== undefined) return { answer: byId(question, inputResponses[id]) };
  const entry = questions.find((one) => fits(one, question, round));
  if (entry) return { answer: answerOf(entry), delay: entry.delay };
  return fields && fromFields(fields, question);
}

function fits(entry: Entry, { key, pageId, request, fields }: Question, { round }: Round): boolean {
  const { id, message, field, mode, round: rounds } = entry;
  return (
    (id === undefined || id === key || id === pageId) &&
    (message === undefined || matcherOf(message)(request.message)) &&
    (field === undefined || fields.some(({ name }) => name === field)) &&
    (mode === undefined || mode === request.mode) &&
    (rounds === undefined || isInRounds(rounds, round))
  );
}

function answerOf({ accept, decline }: Entry): Answer {
  if (accept === undefined) return { action: decline ? 'decline' : 'cancel' };
  return { action: 'accept', ...(accept !== true && { content: accept }) };
}

/** A value is for the only field of its form. */
function byId({ request, fields }: Question, value: unknown): Answer {
  const entry = entrySchema.safeParse(value).data;
  if (entry) return answerOf(entry);
  const wire = z
    .strictObject({ action: z.enum(['accept', 'decline', 'cancel']), content: content.optional() })
    .safeParse(value).data;
  if (wire) return { action: wire.action, ...(wire.content && { content: wire.content }) };
  if (request.mode === 'url') {
    const action = (['accept', 'decline', 'cancel'] as const).find((one) => one === value);
    return { action: action ?? (value === true ? 'accept' : 'decline') };
  }
  const whole = content.safeParse(value).data;
  if (whole && !Array.isArray(value)) return { action: 'accept', content: whole };
  const [only, ...others] = fields;
  if (!only || others.length > 0)
    throw new SourceError(
      `The form “${request.message}” has ${fields.length} fields: a single value does not say which of them it is for.`,
    );
  return { action: 'accept', content: { [only.name]: value } };
}

function fromFields(given: Record<string, unknown>, { request, fields }: Question): Found | undefined {
  if (request.mode !== 'form' || fields.length === 0) return undefined;
  const named = fields.filter(({ name }) => Object.hasOwn(given, name));
  const isWhole = fields.every(
    (field) => !field.isRequired || field.default !== undefined || named.includes(field),
  );
  if (named.length === 0 || !isWhole) return undefined;
  const filled = Object.fromEntries(named.map(({ name }) => [name, given[name]]));
  return { answer: { action: 'accept', content: filled } };
}

/** Text that the message contains (in any case), or a pattern between slashes. Throws `TypeError`. */
function matcherOf(message: string): (text: string) => boolean {
  const [, pattern, flags = ''] = /^\/(.+)\/([a-z]*)$/s.exec(message) ?? [];
  if (pattern === undefined) return (text) => text.toLowerCase().includes(message.toLowerCase());
  try {
    // Without the flags that give a pattern a position.
    const expression = new RegExp(pattern, flags.replaceAll(/[gy]/g, ''));
    return (text) => expression.test(text);
  } catch (cause) {
    throw new TypeError(`message: ${message} is no pattern`, { cause });
  }
}

function isInRounds(wanted: number | string, round: number): boolean {
  const text = String(wanted).replaceAll(/\s/g, '');
  const [, sign = '', number = '0', last] = /^([<>]=?)?(\d+)(?:-(\d+))?$/.exec(text) ?? [];
  const first = Number(number);
  switch (sign) {
    case '>':
      return round > first;
    case '>=':
      return round >= first;
    case '<':
      return round < first;
    case '<=':
      return round <= first;
    default:
      return last === undefined ? round === first : round >= first && round <= Number(last);
  }
}

function isDuration(value: unknown): boolean {
  try {
    return readDuration(value as Duration) > 0;
  } catch {
    return false;
  }
}

function firstProblem(error: z.ZodError): string {
  const issue = deepest(error.issues);
  if (!issue) return 'it cannot be read';
  const place = issue.path.join('.');
  const words =
    issue.code === 'unrecognized_keys'
      ? `there is no ${issue.keys.map((key) => `"${key}"`).join(', ')}`
      : issue.message;
  return place === '' ? words : `${place}: ${words}`;
}

/** For a value that fits no member of a union: the problem with the nearest one. */
function deepest(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue | undefined {
  const [issue] = issues;
  if (issue?.code !== 'invalid_union') return issue;
  const inner = issue.errors
    .map((branch) => deepest(branch))
    .filter((one) => one !== undefined)
    .toSorted((one, other) => other.path.length - one.path.length)
    .find(({ code }) => code !== 'invalid_type');
  return inner ? { ...inner, path: [...issue.path, ...inner.path] } : issue;
}

/** Reads a file of answers in YAML (or JSON). Rejects with the file's name, the place and the problem. */
export async function fixtureFile(file: string): Promise<AnswerSource> {
  const { parse } = await import('yaml');
  const name = path.basename(file);
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new Error(`${fileTrouble(file, cause)}.`, { cause });
  });
  try {
    return fixtureAnswers((parse(text) ?? {}) as Fixture, { name });
  } catch (cause) {
    throw new Error(`${file}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}
