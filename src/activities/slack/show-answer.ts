/** Brings a thread to what the answer is by now, part after part. Again it comes to the same. */
import type { Answer, AnswerPart } from '../../slack/answer.ts';
import { escapeText } from '../../slack/text/mrkdwn.ts';
import type { SlackDelivery } from '../../storage/ports/slack-deliveries.ts';
import { digestOf } from './messages.ts';
import type { Messages } from './messages.ts';
import { questionMessage } from '../../slack/blocks/question-message.ts';
import { showText } from './show-text.ts';
import type { Streaming } from './show-text.ts';
import type { Contents } from './slack-calls.ts';

export async function showAnswer(
  messages: Messages,
  { parts, state }: Answer,
  { slackUser, streaming }: Pick<SlackDelivery, 'slackUser'> & { streaming: Streaming },
): Promise<void> {
  for (const [index, part] of parts.entries()) {
    switch (part.kind) {
      case 'text': {
        const isFinal = state === 'ended' || index < parts.length - 1;
        await showText(messages, { ...part, isFinal }, streaming);
        break;
      }
      case 'question':
        await showMessage(messages, part, questionMessage(part.question, slackUser));
        break;
      case 'end':
        await showMessage(messages, part, { text: escapeText(part.words) });
        break;
      default:
        return part satisfies never;
    }
  }
}

async function showMessage(
  messages: Messages,
  { kind, subject }: Pick<AnswerPart, 'kind' | 'subject'>,
  contents: Contents,
): Promise<void> {
  const digest = digestOf(JSON.stringify(contents));
  const [found] = messages.of(kind, subject);
  const row = found && (await messages.locate(found, () => false));
  if (!row) {
    await messages.post({ kind, subject, begins: 0, ends: 0, digest, isOpen: false }, contents);
    return;
  }
  if (!row.isSure || row.digest !== digest) await messages.rewrite(row, { digest }, contents);
}
