/** A message to a task that waits for a person, read as the answer. What is not understood is asked again. Pure. */
import type { Message } from '@a2a-js/sdk';
import { answerInWords } from '../../elicitation/answer-in-words.ts';
import type { ReadAnswer } from '../../elicitation/answer-in-words.ts';
import type { ElicitationEvent } from '../../elicitation/elicitation.ts';
import { elicitationExtension, readStructured } from '../../a2a/extension.ts';
import type { StructuredAnswer } from '../../a2a/extension.ts';

/**
 * An answer in the extension's form, anywhere in the message; null when there is none. Only for a request that activated the
 * extension: any other caller has not said that it passes on what a person decides.
 */
export function structuredAnswer({ metadata, parts }: Message): StructuredAnswer | 'malformed' | null {
  const inMetadata = readStructured(metadata?.[elicitationExtension]);
  if (inMetadata !== null) return inMetadata;
  for (const { content } of parts) {
    const inPart = content?.$case === 'data' ? readStructured(content.value) : null;
    if (inPart !== null && inPart !== 'malformed' && inPart.elicitationId !== undefined) return inPart;
  }
  return null;
}

/** An answer in words, or as a bare object with the fields of the form. */
export function plainAnswer({ parts }: Message, question: ElicitationEvent): ReadAnswer {
  const contents = parts.map(({ content }) => content);
  const data = contents.find((content) => content?.$case === 'data')?.value as unknown;
  const text = contents
    .flatMap((content) => (content?.$case === 'text' ? [content.value] : []))
    .join('\n')
    .trim();
  return answerInWords({ text, ...(isObject(data) && { object: data }) }, question);
}

/** A message to a task, or in a context, may answer what the task waits for: only its rows tell. `body`: in either binding. */
export function mayBeAnswer(body: unknown): boolean {
  const { params, message = (Object(params) as { message?: unknown }).message } = Object(body) as {
    params?: unknown;
    message?: unknown;
  };
  const given = Object(message) as Record<string, unknown>;
  return ['taskId', 'task_id', 'contextId', 'context_id'].some((name) => Boolean(given[name]));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
