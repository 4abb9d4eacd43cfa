/** What a window says when there is nothing left to enter. Pure. */
import type { KnownBlock, ModalView } from '@slack/types';
import { escapeText } from '../text/mrkdwn.ts';
import { addressBlocks, titles } from './question-modal.ts';
import { literal, marked } from './texts.ts';

export function noticeModal(words: string, more: KnownBlock[] = [], title: string = titles.form): ModalView {
  return {
    type: 'modal',
    title: literal(title),
    close: literal('Close'),
    blocks: [marked(escapeText(words)), ...more],
  };
}

/** After consent to a link, and only then, the way there. */
export function onwardModal({ url, host }: { url: string; host: string }): ModalView {
  const blocks = addressBlocks('This is the page:', url, 'Continue');
  return noticeModal(
    `You agreed to open a page on ${host}. When you are done there, the agent goes on by itself.`,
    blocks,
    titles.link,
  );
}
