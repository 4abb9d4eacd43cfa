/** Brings a Slack thread up to date with an answer, part by part. Idempotent: what is shown already is left alone. */
import type { ElicitationEvent } from '../../elicitation/elicitation.ts';
import type { Answer, AnswerPart } from '../../slack/answer.ts';
import { escapeText } from '../../slack/text/mrkdwn.ts';
import type { SlackQuestions } from '../../storage/ports/slack.ts';
import type { SlackDelivery } from '../../storage/ports/slack-deliveries.ts';
import { digestOf } from './messages.ts';
import type { Messages } from './messages.ts';
import { questionMessage } from '../../slack/blocks/question-message.ts';
import { showText } from './show-text.ts';
import type { Streaming } from './show-text.ts';
import type { Contents } from './slack-calls.ts';

interface Showing extends Pick<SlackDelivery, 'slackUser'>, Pick<SlackQuestions, 'wasSettledElsewhere'> {
  streaming: Streaming;
}

export async function showAnswer(
  messages: Messages,
  { parts, state }: Answer,
  { slackUser, streaming, wasSettledElsewhere }: Showing,
): Promise<void> {
  const contentsOf = async (question: ElicitationEvent) => {
    const isElsewhere = question.status !== 'pending' && (await wasSettledElsewhere(question.elicitationId));
    return questionMessage(question, { slackUser, isElsewhere });
  };
  for (const [index, part] of parts.entries()) {
    switch (part.kind) {
      case 'text': {
        const isFinal = state === 'ended' || index < parts.length - 1;
        await showText(messages, { ...part, isFinal }, streaming);
        break;
      }
      case 'question':
        await showMessage(messages, part, await contentsOf(part.question));
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
