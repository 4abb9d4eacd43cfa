/** A message to a task that waits for a person, read as the answer. What is not understood is asked again. Pure. */
import type { Message } from '@a2a-js/sdk';
import { answerInWords } from '../../elicitation/answer-in-words.ts';
import type { ReadAnswer } from '../../elicitation/answer-in-words.ts';
import { wantsSecret } from '../../elicitation/form/secret-fields.ts';
import type { ElicitationEvent } from '../../elicitation/elicitation.ts';
import { elicitationExtension, readStructured } from '../../a2a/extension.ts';
import type { StructuredAnswer } from '../../a2a/extension.ts';

/** An answer in the extension's form, wherever in the message it stands; null when there is none. */
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
  const read = answerInWords({ text, ...(isObject(data) && { object: data }) }, question);
  if (read.kind === 'response' && read.response.action === 'accept' && wantsSecret(question))
    return {
      kind: 'misfit',
      reasons: 'The user answers this by themselves, on the page that is named here.',
    };
  return read;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
