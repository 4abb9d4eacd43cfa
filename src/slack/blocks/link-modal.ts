/** The window that only its person sees: what is asked, with the way to our page, where they are signed in. Pure. */
import type { ModalView } from '@slack/types';
import { plainText } from '../../elicitation/plain-text.ts';
import { escapeText } from '../text/mrkdwn.ts';

export interface LinkModal {
  asker: string;
  message: string;
  /** The whole address is shown, and opened by a button. */
  address: string;
}

export function linkModal({ asker, message, address }: LinkModal): ModalView {
  const words = plainText(message).slice(0, 1_500);
  const section = (text: string) => ({
    type: 'section' as const,
    text: { type: 'mrkdwn' as const, text, verbatim: true },
  });
  return {
    type: 'modal',
    title: { type: 'plain_text', text: 'A question for you' },
    close: { type: 'plain_text', text: 'Close' },
    blocks: [
      section(`*${escapeText(plainText(asker))}* asks: ${escapeText(words)}`),
      section(`You answer it on this page, signed in as yourself:\n\`${escapeText(address)}\``),
      {
        type: 'actions',
        elements: [
          {
            type: 'button',
            action_id: 'question_page',
            style: 'primary',
            url: address,
            text: { type: 'plain_text', text: 'Open the page' },
          },
        ],
      },
      {
        type: 'context',
        elements: [{ type: 'plain_text', text: 'Nothing is decided by closing this window.' }],
      },
    ],
  };
}
