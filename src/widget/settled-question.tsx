import type { RefObject } from 'react';
import type { ElicitationRequest } from '../contract/elicitation.ts';
import { askerTitle } from '../elicitation/asker.ts';
import { Icon } from './icon.tsx';
import type { IconName } from './icon.tsx';
import type { Words } from './words.ts';

interface Props {
  question: ElicitationRequest;
  words: Words;
  /** An answer from here has come after it was over. */
  isLate: boolean;
  askAgain: (() => void) | undefined;
  place: RefObject<HTMLParagraphElement | null>;
}

export function SettledQuestion({ question, words, isLate, askAgain, place }: Props) {
  const [icon, text] = outcome(question, isLate, words);
  return (
    <p className={`settled ${question.status}`} ref={place} tabIndex={-1}>
      <Icon name={icon} />
      <span dir="auto">
        {text}
        {question.status === 'expired' && askAgain && (
          <>
            {' '}
            <button type="button" className="link" onClick={askAgain}>
              {words.askAgain}
            </button>
          </>
        )}
      </span>
    </p>
  );
}

function outcome(question: ElicitationRequest, isLate: boolean, words: Words): [IconName, string] {
  const { status, context, because } = question;
  const { trigger } = context;
  const asker = askerTitle(context) ?? words.agent;
  const isApproval =
    question.mode === 'form' && Object.keys(Object(question.requestedSchema['properties'])).length === 0;
  const title = (text: string) => `${asker}: ${text}`;
  switch (status) {
    case 'accept':
      if (isApproval) return ['tick', title(words.approved)];
      return ['tick', trigger === 'credential_required' ? words.connected(asker) : words.answered(asker)];
    case 'decline':
      return ['dash', title(isApproval ? words.refused : words.declined)];
    case 'expired':
      if (because === 'server_gave_up') return ['clock', words.gaveUp(asker)];
      return ['clock', title(isLate ? words.tooLate : words.expired)];
    case 'cancel':
    case 'pending':
      return ['dash', title(words.closed)];
    default:
      return status satisfies never;
  }
}
