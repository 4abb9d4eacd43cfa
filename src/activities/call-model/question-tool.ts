/** The tool `ask_user`, with which a model puts a form of its own to the user. Offered where the agents file says so. */
import { z } from 'zod';
import type { AskUser } from '../../config/config.ts';
import { inspectForm } from '../../elicitation/form/inspect-form.ts';
import { plainSchema } from '../../elicitation/form/plain-schema.ts';
import { readRequestedSchema } from '../../elicitation/form/requested-schema.ts';
import { Unsupported, withoutNullKeywords } from '../../elicitation/form/schema-keywords.ts';
import { isVisible, plainMessage } from '../../elicitation/plain-text.ts';

export const askUserTool = 'ask_user';

export interface QuestionTool {
  modelName: typeof askUserTool;
  /** How many questions the model may ask in one turn. */
  perTurn: number;
  description: string;
  inputSchema: Record<string, unknown>;
}

/** The model's question as people are shown it. */
export interface ModelQuestion {
  message: string;
  requestedSchema: Record<string, unknown>;
}

export type ReadModelQuestion =
  | { kind: 'question'; question: ModelQuestion }
  /** `reason`: one sentence for the model. */
  | { kind: 'refused'; reason: string };

const inputSchema = z.object({
  message: z
    .string()
    .max(4_000)
    .refine(isVisible, 'it is empty')
    .describe('The question, one or two sentences. The user sees nothing else of your reasons.'),
  schema: z
    .record(z.string(), z.unknown())
    .describe(
      'JSON Schema of the form: {"type":"object","properties":{…},"required":[…]}. Flat: each property is a string ' +
        '(format email, uri, date or date-time; or enum for a choice), number, integer, boolean, or an array of ' +
        'enum strings. Give each a "title".',
    ),
});

export function toQuestionTool({ perTurn }: AskUser): QuestionTool {
  return {
    modelName: askUserTool,
    perTurn,
    description:
      'Shows the user a form and returns what they filled in. Use it when you cannot go on without facts or a ' +
      'decision that only the user has, and when a form is easier for them than an answer in words. Ask for everything ' +
      `you need at once; at most ${perTurn === 1 ? 'one form' : `${perTurn} forms`} in one turn. Never ask for passwords, keys, card numbers or other secrets.`,
    inputSchema: z.toJSONSchema(inputSchema, { io: 'input' }),
  };
}

/** `input`: what the model passed to the tool. */
export function readModelQuestion(input: unknown): ReadModelQuestion {
  const parsed = inputSchema.safeParse(input);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return refused(
      `"${issue?.path.join('.') ?? 'message'}" is not right: ${issue?.message ?? 'it is malformed'}.`,
    );
  }
  const { message } = parsed.data;
  const schema = withoutNullKeywords(parsed.data.schema);
  const form = readRequestedSchema(schema);
  if (form.kind === 'unsupported') return refused(form.reason);
  if (form.fields.length === 0) return refused('The form has no fields.');
  for (const { rule, message: found } of inspectForm({ message, requestedSchema: schema })) {
    if (rule === 'secret-in-form') return refused(`${found} A form must not ask for secrets.`);
    if (rule === 'link-in-form')
      return refused(`${found} A form must not have links: write the link in your answer instead.`);
  }
  try {
    const question = { message: plainMessage(message), requestedSchema: plainSchema(schema) };
    return { kind: 'question', question };
  } catch (error) {
    if (error instanceof Unsupported) return refused(error.message);
    throw error;
  }
}

function refused(reason: string): ReadModelQuestion {
  return { kind: 'refused', reason };
}
